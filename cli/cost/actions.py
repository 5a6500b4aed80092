"""The DynamoDB units of each action, which tests measure on the real handlers.

docs/tables.md describes the operations. A test compares the two.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

_WRITTEN, _READ = 1024, 4096
"""The size of a write unit and a read unit, in bytes.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html"""


@dataclass(frozen=True, slots=True)
class Units:
    """The write and read units of an action."""

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
        "… about the outcome of an email": 1,
        "… that it was sent": 1,
        "a reader's activity, once a day": 1,
        "a fetch": 2,
        "a tick": 2,
        "a new profile": 3,
        "a follow": 2,
        "an activity": 3,
    }
)
"""Write units, by the operations of docs/tables.md."""

LOOKS_OF_AN_EVENT = 3
"""The read units of an event: the reader before and after it is stored, then the schedule."""

LOOKS_OF_A_RUN = 1
"""The read units of a delivery event, and of a reader's activity."""

SLOTS = 7
"""The slots of the due index that a shard reads at each tick, at half a read unit or more each."""

PARTITIONS = 16
"""The partitions of the open runs. A sweep makes two Queries for each, at half a read unit or more,
and a Scan with the same number of segments of the schedules."""


def event(row: float) -> Units:
    """Return the units of an event: the row, of `row` bytes, and its entry in the local index."""
    return Units(WRITES["an event"] * math.ceil(row / _WRITTEN), LOOKS_OF_AN_EVENT)


def fetch(items: float, row: float) -> Units:
    """Return the units of a fetch of new items, with rows of `row` bytes.

    A fetch reads the schedule twice, the reader, the runs and the waiting events. Its items are
    routed together, so they need the reads of one event.
    """
    looks = 5 + min(items, 1) * LOOKS_OF_AN_EVENT
    return Units(WRITES["a fetch"] + items * event(row).written, looks)


def immediate_event(row: float) -> Units:
    """Return the units of an event that starts an immediate email."""
    more = WRITES["an event for an immediate email"] - WRITES["an event"]
    return Units(event(row).written + more, LOOKS_OF_AN_EVENT)  # reads its runs, not its schedule


def due_schedule(*, quiet: float) -> Units:
    """Return the units of a due schedule. `quiet`: the share of occurrences after one without news.

    It reads the due index together with others, its row, its runs and one event.
    """
    after = WRITES["… the first for an idle schedule"] + WRITES["… for which no event waits"]
    return Units(WRITES["a due schedule, in fan-out"] + quiet * after, 3 + quiet * 5)


def digest(events: float, row: float, *, together: int = 1) -> Units:
    """Return the units of a digest with `events` events.

    `together`: the digests of the same slot in an invocation. Each digest reads its runs, its
    reader twice, the suppression of its address and a page of events. The digests of an invocation
    share the read of the batch and the write of the pace row with their permits.
    """
    read = 4 + 1 / together + max(1, math.ceil(events * row / _READ))
    return Units(WRITES["a digest, in generate"] - _permits_saved(together), read)


def immediate_email(row: float, *, together: int = 1) -> Units:
    """Return the units of an immediate email with one event. It does not read a batch."""
    read = 4 + max(1, math.ceil(row / _READ))
    return Units(WRITES["an immediate email, in generate"] - _permits_saved(together), read)


def _permits_saved(together: int) -> float:
    """Return the write units that an email saves, because one write has all permits."""
    one, ten = WRITES["a digest, in generate"], WRITES["… ten of one invocation"]
    permit = (10 * one - ten) / 9
    return permit - permit / together


def report(*, of_sending: bool, categories: float, sharing: float = 1) -> Units:
    """Return the units of a delivery event. `sent` events are counted for each category shown.

    `sharing`: the emails of an invocation that share a write.
    """
    counted = categories * WRITES["… that it was sent"] / sharing if of_sending else 0
    return Units(WRITES["… about the outcome of an email"] + counted, LOOKS_OF_A_RUN)


def sign_of_life() -> Units:
    """Return the units of the first subscriber.active of a reader's day."""
    return Units(WRITES["a reader's activity, once a day"], LOOKS_OF_A_RUN)
