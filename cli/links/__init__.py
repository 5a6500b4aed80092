"""`gazette links`: the keys that sign the readers' links."""
