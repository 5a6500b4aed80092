"""Queries to content sources. Digests show the sources' items in addition to events."""
