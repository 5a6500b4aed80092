"""The answers of the API for services."""
