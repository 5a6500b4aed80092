"""`gazette brake`: stop and resume sending."""
