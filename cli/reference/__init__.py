"""docs/cli.md: what each command needs in AWS, an example of each, and the page itself."""
