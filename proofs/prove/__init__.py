"""A worker is killed at every call, and nothing is lost or sent twice: `make prove`."""
