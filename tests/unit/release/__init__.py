"""Tests of `make release`."""
