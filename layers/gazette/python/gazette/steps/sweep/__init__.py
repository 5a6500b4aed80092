"""Automatic recovery: runs that were lost, left or stay unknown."""
