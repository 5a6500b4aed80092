"""`gazette event`: check and preview events in files."""
