"""Experiments of which the truth is known, reported as real ones are."""
