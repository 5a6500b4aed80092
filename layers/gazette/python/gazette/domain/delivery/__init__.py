"""The life cycle of a run, and the rate limits of email. Pure."""
