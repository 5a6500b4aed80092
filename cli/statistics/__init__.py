"""`gazette statistics`: reports on emails for the terminal, as CSV and as HTML."""
