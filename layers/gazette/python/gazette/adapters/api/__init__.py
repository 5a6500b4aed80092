"""The HTTP API for services: its routes, models and errors."""
