"""`gazette overview`: the state of a stage on one screen."""
