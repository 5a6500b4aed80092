"""`gazette links`: the keys that sign the links in emails."""
