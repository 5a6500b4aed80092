"""`gazette suppression`: addresses that do not get email."""
