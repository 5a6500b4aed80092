"""`gazette events-out`: publish events again, and tell the present state of a reader."""
