"""Automatic recovery of runs that were lost or abandoned, or whose outcome stays unknown."""
