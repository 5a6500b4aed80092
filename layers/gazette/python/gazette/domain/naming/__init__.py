"""Names of people and things in an email."""
