"""The table `pace`: the rate limiter of each stream, and its circuit breaker."""
