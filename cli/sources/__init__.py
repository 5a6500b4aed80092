"""The commands about content sources."""
