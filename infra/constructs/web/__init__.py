"""What readers reach: the HTTP API, the domain of the links, and the front before it."""
