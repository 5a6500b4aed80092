"""Adapters for engagement, bounces, category statistics and suppressions, with one module per
table.
"""
