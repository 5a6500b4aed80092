"""Bundles of templates: their format, their storage, and the versions in a process."""
