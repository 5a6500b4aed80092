"""Bundles of templates: their format, where they are stored, and what a process has of them."""
