"""`gazette rollback`."""
