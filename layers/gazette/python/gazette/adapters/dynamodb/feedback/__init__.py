"""Engagement, bounces, category statistics and suppressions: one module per table."""
