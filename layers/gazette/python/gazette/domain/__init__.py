"""The rules of digests and their delivery. Imports the standard library only."""
