"""The due times of digests: recurrences, time zones, clock changes. Pure."""
