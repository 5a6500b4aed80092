"""The real clock."""

from datetime import UTC, datetime


def now() -> datetime:
    """The instant now, in UTC."""
    return datetime.now(UTC)
