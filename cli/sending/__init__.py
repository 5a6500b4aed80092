"""`gazette sending`: show whether email goes out, stop it, resume it."""
