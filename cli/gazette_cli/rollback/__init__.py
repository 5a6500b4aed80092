"""`gazette rollback`: roll back all functions to an earlier deployment."""
