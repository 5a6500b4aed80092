"""Time zones by name."""

from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


def zone_of(name: str) -> ZoneInfo:
    """The zone; UTC where this installation knows none of that name.

    The contract refuses such names, so one comes from zone data that was newer. A reader's hour is
    then wrong for as long as that lasts, which is better than nothing at any hour.
    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo("UTC")
