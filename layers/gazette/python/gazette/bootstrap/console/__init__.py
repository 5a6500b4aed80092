"""Composition roots of `support` and `support_redrive`, which serve the support page."""
