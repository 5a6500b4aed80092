"""`gazette experiment`: A/B variations."""
