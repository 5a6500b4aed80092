"""Checks that find problems with the settings of a stage."""
