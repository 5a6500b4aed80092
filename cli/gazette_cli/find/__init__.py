"""`gazette find`: find the reader and the run of an email."""
