"""Experiments with a known effect, reported as real ones are."""
