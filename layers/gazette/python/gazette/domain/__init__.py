"""The rules for digests and their delivery. The modules import only the standard library."""
