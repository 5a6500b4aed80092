"""A loopback server that responds like AWS, after a configured latency."""
