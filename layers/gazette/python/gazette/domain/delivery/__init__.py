"""The life of a run from pending to its end, and the rate limit of emails. Pure."""
