"""Random details, valid and invalid, through the real handler."""
