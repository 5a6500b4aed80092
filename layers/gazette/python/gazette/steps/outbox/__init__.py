"""The publication of events out."""
