"""What content sources are asked, and what becomes of their answers."""
