"""`gazette suppression`: addresses that are not written to."""
