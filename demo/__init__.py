"""A demo on an embedded engine, which counts real emails made from real input."""
