"""The due times of digests: recurrences, time zones and clock changes. Pure."""
