"""The HTTP API for readers, the domain of the links, and the front in front of both."""
