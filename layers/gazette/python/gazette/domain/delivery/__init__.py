"""The life cycle of a run, and the rate limits for email. Pure."""
