"""The use cases of operators that only the `gazette` command runs. No function imports them."""
