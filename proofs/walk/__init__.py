"""One event's way through the real handlers, and docs/architecture.md held against it."""
