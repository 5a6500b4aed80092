"""The `gazette` command line for platform engineers and support."""
