"""The `gazette init` command, and the files of a new project in `scaffold`."""
