"""Zones whose rules change, as a new version of tzdata changes them."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from io import BytesIO
from struct import pack
from zoneinfo import ZoneInfo


def zone_with(first: timedelta, *changes: tuple[datetime, timedelta]) -> ZoneInfo:
    """A zone with the offset `first`, and from the instant of each change on with another one.

    It is read from a TZif file of version 1 (RFC 8536).
    """
    seconds = [int(offset.total_seconds()) for offset in (first, *(each for _, each in changes))]
    return ZoneInfo.from_file(
        BytesIO(
            b"TZif"
            + bytes(16)
            + pack(">6l", 0, 0, 0, len(changes), len(seconds), 4)
            + b"".join(pack(">l", int(at.timestamp())) for at, _ in changes)
            + bytes(range(1, len(seconds)))
            + b"".join(pack(">lbB", offset, 0, 0) for offset in seconds)
            + b"LMT\0"
        )
    )


@dataclass
class Rules:
    """The zone data of a process: which zones it knows now, and their rules."""

    zones: dict[str, ZoneInfo] = field(default_factory=dict)

    def zone_of(self, name: str) -> ZoneInfo:
        """As `calendar.zone_of`: UTC for a zone that is not known."""
        return self.zones.get(name, ZoneInfo("UTC"))
