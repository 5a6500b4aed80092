"""The rules of digests and their delivery. Only the standard library is imported."""
