"""`gazette experiment`: A/B tests of email variations."""
