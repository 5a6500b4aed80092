"""Adapters for the `control` table, with one module for each kind of row."""
