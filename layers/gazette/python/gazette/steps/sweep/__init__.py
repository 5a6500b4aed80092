"""Automatic recovery of runs that were lost, abandoned or stay unknown."""
