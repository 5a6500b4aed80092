"""Shared code of the commands: stages, errors, descriptions and output."""
