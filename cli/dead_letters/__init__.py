"""`gazette dlq`: what waits among the dead letters, what a redrive does, and the way back."""
