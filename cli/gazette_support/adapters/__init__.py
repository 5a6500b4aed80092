"""Adapters that only commands use."""
