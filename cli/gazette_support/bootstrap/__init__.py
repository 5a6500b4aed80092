"""The dependencies of the commands, one module per group."""
