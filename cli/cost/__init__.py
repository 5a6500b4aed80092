"""`gazette cost`: estimate the cost of a stage."""
