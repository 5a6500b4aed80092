"""A demo on an embedded engine, which produces real emails from real input and counts them."""
