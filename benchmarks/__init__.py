"""Benchmarks that produce the figures in the documentation. Each is run by one command."""
