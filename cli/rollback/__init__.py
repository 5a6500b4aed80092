"""`gazette rollback`: return all functions to an earlier deployment."""
