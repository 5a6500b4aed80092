"""Content sources, which are queried for a reader and a period.

The source `events` reads the table; `recommendations` queries an HTTP service of the adopter.
"""
