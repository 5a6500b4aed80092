"""The rules of the support page."""
