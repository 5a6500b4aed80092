"""What each action reads and writes, in units of DynamoDB: tests measure it on the real handlers.

docs/tables.md says what the units are of; a test compares the two.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

_WRITTEN, _READ = 1024, 4096
"""Bytes of a unit.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html"""


@dataclass(frozen=True, slots=True)
class Units:
    """Write and read units of one action."""

    written: float
    read: float = 0


WRITES: Mapping[str, float] = MappingProxyType(
    {
        "an event": 2,
        "an event for an immediate email": 4,
        "a due schedule, in fan-out": 6,
        "… the first for an idle schedule": 2,
        "… for which no event waits": 4,
        "a digest, in generate": 5,
        "… ten of one invocation": 41,
        "an immediate email, in generate": 4,
        "… of what became of an email": 1,
        "… that it was sent": 1,
        "a sign of life, once a day": 1,
        "a fetch": 2,
        "a tick": 2,
        "a new profile": 3,
        "a follow": 2,
        "an activity": 3,
    }
)
"""Write units by the operations of docs/tables.md."""

LOOKS_OF_AN_EVENT = 3
"""Read units: the reader before and after it is stored, and the schedule after."""

LOOKS_OF_A_RUN = 1
"""Read units of a delivery event, and of a sign of life."""

SLOTS = 7
"""Slots of which a shard reads the due index at each tick, at half a read unit or more."""

PARTITIONS = 16
"""Partitions of the open runs, with two Queries each at each sweep, at half a read unit or more;
and a Scan of as many segments of the schedules."""


def event(row: float) -> Units:
    """An event whose row has so many bytes: the row and its entry in the local index."""
    return Units(WRITES["an event"] * math.ceil(row / _WRITTEN), LOOKS_OF_AN_EVENT)


def fetch(items: float, row: float) -> Units:
    """A fetch of so many new items, whose rows have so many bytes.

    It reads the schedule twice, the reader, the runs and what waits; items are routed together, and
    read as much as one event.
    """
    looks = 5 + min(items, 1) * LOOKS_OF_AN_EVENT
    return Units(WRITES["a fetch"] + items * event(row).written, looks)


def immediate_event(row: float) -> Units:
    """An event that starts an immediate email."""
    more = WRITES["an event for an immediate email"] - WRITES["an event"]
    return Units(event(row).written + more, LOOKS_OF_AN_EVENT)  # its runs, not its schedule


def due_schedule(*, quiet: float) -> Units:
    """A schedule that comes due; `quiet`: the share of occurrences after a day without news.

    It reads its place in the due index with others, its row, its runs and one event.
    """
    after = WRITES["… the first for an idle schedule"] + WRITES["… for which no event waits"]
    return Units(WRITES["a due schedule, in fan-out"] + quiet * after, 3 + quiet * 5)


def digest(events: float, row: float, *, together: int = 1) -> Units:
    """A digest of so many events, `together` in an invocation and due in one slot.

    Each reads its runs, its reader twice, the suppression of its address and a page of events; all
    of them one batch, and one write of the pace row has their permits.
    """
    read = 4 + 1 / together + max(1, math.ceil(events * row / _READ))
    return Units(WRITES["a digest, in generate"] - _permits_saved(together), read)


def immediate_email(row: float, *, together: int = 1) -> Units:
    """An immediate email of one event: as a digest, without a batch."""
    read = 4 + max(1, math.ceil(row / _READ))
    return Units(WRITES["an immediate email, in generate"] - _permits_saved(together), read)


def _permits_saved(together: int) -> float:
    """Write units of each of so many emails of an invocation, because one write has all permits."""
    one, ten = WRITES["a digest, in generate"], WRITES["… ten of one invocation"]
    permit = (10 * one - ten) / 9
    return permit - permit / together


def report(*, of_sending: bool, categories: float, sharing: float = 1) -> Units:
    """A delivery event; that an email was sent counts for each category that it showed.

    `sharing`: how many emails of an invocation are counted by the same write.
    """
    counted = categories * WRITES["… that it was sent"] / sharing if of_sending else 0
    return Units(WRITES["… of what became of an email"] + counted, LOOKS_OF_A_RUN)


def sign_of_life() -> Units:
    """A subscriber.active that is the first of its day."""
    return Units(WRITES["a sign of life, once a day"], LOOKS_OF_A_RUN)
