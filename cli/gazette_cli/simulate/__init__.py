"""`gazette simulate`: simulate a day of a stage."""
