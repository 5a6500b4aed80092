"""The dependencies of the commands of `gazette`, one module per group. No function imports it."""
