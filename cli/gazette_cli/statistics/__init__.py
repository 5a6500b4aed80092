"""`gazette statistics`: email reports on the terminal, as CSV and as HTML."""
