"""A server on loopback that answers like AWS after a set time."""
