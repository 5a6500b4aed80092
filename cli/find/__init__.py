"""`gazette find`: whose an email is, by whatever somebody has of it."""
