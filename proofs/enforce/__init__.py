"""Least privilege: policies allow every call that is made, and nothing that nobody uses."""
