"""`gazette explain`: explain why a reader did or did not get an email."""
