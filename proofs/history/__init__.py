"""Measurements of each use case for readers with different histories: calls, units and memory."""
