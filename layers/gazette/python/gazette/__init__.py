"""Gazette: digest emails on your own AWS account."""
