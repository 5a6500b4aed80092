"""The names of people and things in an email."""
