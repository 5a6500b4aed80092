"""Reports: what became of emails, for the terminal, as CSV, and as a page."""
