"""What the commands of `gazette` read and write, one module per group. No function imports it."""
