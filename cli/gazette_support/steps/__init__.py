"""The use cases, one module per group of commands."""
