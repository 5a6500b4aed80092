"""Building blocks of the stacks."""
