"""The DynamoDB units that each action consumes.

Tests measure the units on the real handlers, and compare them with docs/tables.md.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from gazette.steps.fanout.fanout import LONG_AGO, LOOKBACK

_WRITTEN, _READ = 1024, 4096
"""The size of a write unit and of a read unit, in bytes.

https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
"""


@dataclass(frozen=True, slots=True)
class Units:
    """The write units and read units that an action consumes."""

    written: float
    read: float = 0


WRITES: Mapping[str, float] = MappingProxyType(
    {
        "an event": 2,
        "an event for an immediate email": 4,
        "an event for a limited immediate email": 5,
        "a due schedule, in fan-out": 6,
        "the first event for an idle schedule": 2,
        "a due schedule without a waiting event": 4,
        "a digest, in generate": 5,
        "ten digests of one invocation": 41,
        "an immediate email, in generate": 4,
        "an immediate email that the sweep queues": 3,
        "an immediate email that waits for the end of quiet hours": 6,
        "a delivery event about the outcome of an email": 1,
        "a delivery event that an email was sent": 1,
        "a reader's activity, once a day": 1,
        "a visit (`entity.seen`) on a day with other activity": 1,
        "the first visit of a reader in 30 days, on a day without other activity": 3,
        "an event that is left out because its reader has seen its entity": 3,
        "each run that leaves out seen events": 1,
        "a mute, or the end of a mute": 1,
        "a fetch": 2,
        "a tick": 2,
        "a new profile": 3,
        "a follow": 2,
        "an activity": 3,
    }
)
"""Write units by operation. docs/tables.md uses the same names."""

LOOKS_OF_AN_EVENT = 3
"""The read units consumed by storing an event: two reads of the reader and one read of the
schedule.
"""

LOOKS_OF_A_RUN = 1
"""The read units consumed by processing a delivery event or a reader's activity."""

SLOTS = 1 + LOOKBACK + len(LONG_AGO)
"""The number of slots that each shard reads from the due index per tick: that of the tick, those
that it reads again, and those of long ago. Each read consumes at least half a read unit.
"""

PARTITIONS = 16
"""The number of partitions of the open index.

Per partition, a sweep makes two Queries and scans one segment of the schedules. Each of these reads
uses at least half a read unit. The start of a sweep reads the progress of the shards, which uses
one read unit.
"""


def event(row: float) -> Units:
    """Return the units consumed by storing an event and its entry in the local index. `row` is the
    size of the event's row in bytes.
    """
    return Units(WRITES["an event"] * math.ceil(row / _WRITTEN), LOOKS_OF_AN_EVENT)


def fetch(items: float, row: float) -> Units:
    """Return the units consumed by fetching and storing new items. `row` is the size of an item's
    row in bytes.

    A fetch reads the reader, the runs, the waiting events, and the schedule (twice). All items are
    routed together, which consumes as many reads as one event.
    """
    looks = 5 + min(items, 1) * LOOKS_OF_AN_EVENT
    return Units(WRITES["a fetch"] + items * event(row).written, looks)


def immediate_event(row: float) -> Units:
    """Return the units consumed by storing an event that starts an immediate email."""
    more = WRITES["an event for an immediate email"] - WRITES["an event"]
    return Units(event(row).written + more, LOOKS_OF_AN_EVENT)  # reads runs, not a schedule


def limited_event() -> Units:
    """Return the additional units consumed by an event that starts a limited immediate email.

    Ingest reads the runs of the thread, the event and the usage of the limit.
    """
    limited = WRITES["an event for a limited immediate email"]
    return Units(limited - WRITES["an event for an immediate email"], 3)


def due_schedule(*, quiet: float) -> Units:
    """Return the units consumed by processing a due schedule.

    Fan-out reads the schedule's row, the schedule's runs and one event. All due schedules share the
    read of the due index. `quiet` is the share of occurrences that follow an occurrence without
    events.
    """
    after = (
        WRITES["the first event for an idle schedule"]
        + WRITES["a due schedule without a waiting event"]
    )
    return Units(WRITES["a due schedule, in fan-out"] + quiet * after, 3 + quiet * 5)


def digest(events: float, row: float, *, together: float = 1, share_reads: float = 1) -> Units:
    """Return the units consumed by generating a digest with a given number of events.

    Generate reads the digest's runs, the reader (twice), the suppression of the address and a page
    of events. `together` is the number of digests of the same slot in an invocation. These digests
    share the write that reserves permits in the pace row. `share_reads` is the number of digests
    whose permits are so close that they share the read of the batch.
    """
    read = 4 + 1 / share_reads + max(1, math.ceil(events * row / _READ))
    return Units(WRITES["a digest, in generate"] - _permits_saved(together), read)


def immediate_email(row: float, *, together: float = 1) -> Units:
    """Return the units consumed by generating an immediate email with one event. Immediate emails
    do not belong to a batch.
    """
    read = 4 + max(1, math.ceil(row / _READ))
    return Units(WRITES["an immediate email, in generate"] - _permits_saved(together), read)


def quiet_wait(row: float) -> Units:
    """Return the additional units consumed by an immediate email that waits for the end of quiet
    hours.

    Generate reads the runs, the reader and a page of events before it finds that the email waits.
    """
    read = 2.5 + max(1, math.ceil(row / _READ))
    return Units(WRITES["an immediate email that waits for the end of quiet hours"], read)


def _permits_saved(together: float) -> float:
    """Return the write units saved per email if one write reserves permits for all emails of an
    invocation.
    """
    one, ten = WRITES["a digest, in generate"], WRITES["ten digests of one invocation"]
    permit = (10 * one - ten) / 9
    return permit - permit / together


def report(*, of_sending: bool, categories: float, sharing: float = 1) -> Units:
    """Return the units consumed by processing a delivery event.

    If `of_sending` is True, the event is a `sent` event, which adds to the counts of each category
    in the email. `categories` is the number of categories. `sharing` is the number of emails in an
    invocation that share a write.
    """
    counted = (
        categories * WRITES["a delivery event that an email was sent"] / sharing
        if of_sending
        else 0
    )
    return Units(WRITES["a delivery event about the outcome of an email"] + counted, LOOKS_OF_A_RUN)


def profile() -> Units:
    """Return the units consumed by a new profile with daily digests.

    Ingest reads the profile twice, the suppression of its address twice, and the waiting events.
    """
    return Units(WRITES["a new profile"], 5)


def follow() -> Units:
    """Return the units consumed by a new follow.

    Ingest reads the reader, and the activities on the entity.
    """
    return Units(WRITES["a follow"], 2)


def visit() -> Units:
    """Return the units consumed by a visit, in addition to the activity of the reader.

    Ingest reads the reader twice, and the runs of the entity.
    """
    return Units(WRITES["a visit (`entity.seen`) on a day with other activity"], 3)


def first_visit() -> Units:
    """Return the additional units consumed by a reader's first visit in 30 days."""
    first = WRITES["the first visit of a reader in 30 days, on a day without other activity"]
    return Units(first - visit().written - sign_of_life().written)


def seen_event() -> Units:
    """Return the units consumed by leaving out an event that its reader has seen."""
    return Units(WRITES["an event that is left out because its reader has seen its entity"])


def run_with_seen_events(events: float, row: float) -> Units:
    """Return the additional units consumed by a run that leaves out seen events.

    Generate raises the epoch of the run, and reads its page of events again. `events` is the number
    of its events.
    """
    return Units(
        WRITES["each run that leaves out seen events"], max(1, math.ceil(events * row / _READ))
    )


def mute() -> Units:
    """Return the units consumed by a mute in a message, in addition to the reader's activity.

    Ingest reads the reader three times, and the schedules.
    """
    return Units(WRITES["a mute, or the end of a mute"], 4)


def sign_of_life() -> Units:
    """Return the units consumed by a reader's first `subscriber.active` event of a day."""
    return Units(WRITES["a reader's activity, once a day"], LOOKS_OF_A_RUN)
