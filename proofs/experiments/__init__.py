"""Experiments with a known effect, reported like real ones."""
