"""A run from pending to settled, and how fast emails go out. Pure."""
