"""The rows of happenings in the `events` table."""
