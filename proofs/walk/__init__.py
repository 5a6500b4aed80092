"""A walk of one event through the real handlers, compared with docs/architecture.md."""
