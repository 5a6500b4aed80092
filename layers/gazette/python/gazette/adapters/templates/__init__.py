"""Bundles of templates: their format, their storage, and the versions loaded in a process."""
