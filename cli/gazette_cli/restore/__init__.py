"""`gazette restore`: restore a table from a copy."""
