"""The requests of services to the API."""
