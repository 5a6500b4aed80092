"""`gazette suppression`: addresses that get no email."""
