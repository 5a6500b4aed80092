"""The table `pace`: the rate limiter and the circuit breaker of each stream."""
