"""`gazette sending`: show, stop and resume sending."""
