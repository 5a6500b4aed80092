"""A server on loopback that answers as AWS does, and takes a set time for it."""
