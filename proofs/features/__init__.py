"""All features together, in any order, while workers die: `make features`."""
