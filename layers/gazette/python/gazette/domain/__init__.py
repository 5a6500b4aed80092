"""What a digest is and how its delivery proceeds. Standard library only."""
