"""`gazette sources`: show, stop and resume requests to content sources."""
