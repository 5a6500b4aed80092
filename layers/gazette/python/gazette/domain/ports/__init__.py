"""The ports: protocols for everything that the steps need from other services."""
