"""A seed of `make release`."""
