"""The real clock."""

from datetime import UTC, datetime


def now() -> datetime:
    """Return the present instant, in UTC."""
    return datetime.now(UTC)
