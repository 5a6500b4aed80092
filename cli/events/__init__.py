"""`gazette event`: events in files, before they go on the bus."""
