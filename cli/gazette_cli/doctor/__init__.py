"""`gazette doctor`: checks of a stage."""
