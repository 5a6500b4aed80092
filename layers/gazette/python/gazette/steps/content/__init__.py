"""Queries to content sources, whose items are shown in digests in addition to events."""
