"""When a digest is due: recurrences, time zones, clock changes. Pure."""
