"""`gazette sending`: show the state of sending, and stop or resume it."""
