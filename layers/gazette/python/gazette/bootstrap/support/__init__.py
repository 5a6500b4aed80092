"""The dependencies of the `gazette` commands, one module per group. No function imports them."""
