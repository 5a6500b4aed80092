"""Adapters for the `pace` table, which stores each stream's rate limiter and circuit breaker."""
