"""`gazette preview`: an email as it will look, before anybody gets it."""
