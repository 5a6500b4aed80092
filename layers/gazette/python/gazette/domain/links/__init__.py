"""Signed links, and which links are safe to show. Pure."""
