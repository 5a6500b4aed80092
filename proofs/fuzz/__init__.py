"""Details that nobody would put, through the real handler."""
