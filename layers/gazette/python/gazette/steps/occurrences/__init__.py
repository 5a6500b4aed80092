"""The start of a run for a schedule's occurrence."""
