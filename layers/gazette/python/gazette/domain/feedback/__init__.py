"""What became of emails, counted and judged. Pure."""
