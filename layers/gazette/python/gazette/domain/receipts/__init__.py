"""Receipts: what became of an event, and which emails contain it."""
