"""`gazette restore`: bring a table back to what a copy of it holds."""
