"""Update the content sources of readers' schedules for the stage and the readers' choices."""

from collections import Counter
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Protocol

from gazette.domain.errors import NotYet, UnreadableRow
from gazette.domain.model import Schedule
from gazette.domain.ports.ledgers import ScheduleKey
from gazette.domain.stored import readable
from gazette.domain.subscribers.frequency import DIGESTS, Frequency
from gazette.domain.subscribers.subscriber import Reader, Subscriber
from gazette.steps.conflicts import ATTEMPTS
from gazette.steps.context import ScheduleContext
from gazette.steps.subscribers.schedules import (
    is_active,
    set_schedules,
    sources_of,
    withdraw_if_left,
)

_AT_ONCE = 33
"""The number of readers whose schedules are read in one request. Each reader has three schedules.
"""


class Readers(Protocol):
    """All readers of a stage."""

    def each(self) -> Iterator[Reader | UnreadableRow]:
        """Yield the reader for each user id, in any order. Eventually consistent."""


class Armed(StrEnum):
    """The result of updating a reader's schedules."""

    ARMED = "armed"
    """The schedules were updated."""

    RIGHT = "right"
    """The schedules were already up to date."""

    INACTIVE = "inactive"
    """The reader gets no digests. The schedules are updated at the reader's next activity."""

    UNREADABLE = "unreadable"
    """A row could not be read."""

    CHANGING = "changing"
    """The schedules kept changing. Repeat the command."""


def arm_sources(
    readers: Readers, *, context: ScheduleContext, dry_run: bool = False
) -> Counter[Armed]:
    """Update the schedules whose sources do not match the stage and the reader's choices.

    An idle schedule that queries a source is armed. Every write is conditional on the row that was
    read, so this function is safe to repeat, and to run concurrently with other processes.
    `dry_run` only counts the schedules.
    """
    counts: Counter[Armed] = Counter()
    for some in _batches(readers.each(), counts):
        for reader in _concerned(some, counts, context):
            counts[Armed.ARMED if dry_run else _arm(reader, context)] += 1
    return counts


def _batches(
    readers: Iterator[Reader | UnreadableRow], done: Counter[Armed]
) -> Iterator[Sequence[Subscriber]]:
    """Yield active readers in groups that fit into one request. Count the remaining readers."""
    some: list[Subscriber] = []
    for reader in readers:
        if isinstance(reader, UnreadableRow):
            done[Armed.UNREADABLE] += 1
        elif is_active(reader):
            some.append(reader)
        elif isinstance(reader, Subscriber):
            done[Armed.INACTIVE] += 1
        if len(some) == _AT_ONCE:
            yield some
            some = []
    yield some


def _concerned(
    some: Sequence[Subscriber], done: Counter[Armed], context: ScheduleContext
) -> list[Subscriber]:
    """Return the readers whose schedules must be updated. Count the remaining readers."""
    keys = [(reader.user_id, digest.value) for reader in some for digest in DIGESTS]
    rows = context.schedules.get_many(keys) if keys else ()
    unreadable = {row.key[0] for row in rows if isinstance(row, UnreadableRow)}
    schedules: dict[ScheduleKey, Schedule] = {
        (row.user_id, row.name): row for row in readable(rows)
    }
    concerned: list[Subscriber] = []
    for reader in some:
        if reader.user_id in unreadable:
            done[Armed.UNREADABLE] += 1
        elif any(_is_wrong(reader, digest, schedules, context) for digest in DIGESTS):
            concerned.append(reader)
        else:
            done[Armed.RIGHT] += 1
    return concerned


def _is_wrong(
    reader: Subscriber,
    digest: Frequency,
    found: dict[ScheduleKey, Schedule],
    context: ScheduleContext,
) -> bool:
    sources = sources_of(reader, digest, context=context)
    row = found.get((reader.user_id, digest.value))
    if row is None:
        return bool(sources)
    return row.sources != sources or (bool(sources) and row.is_idle)


def _arm(reader: Subscriber, context: ScheduleContext) -> Armed:
    """Update the schedules of a reader. Retry if the profile has changed in between."""
    try:
        for _ in ATTEMPTS:
            set_schedules(reader, context=context)
            latest = withdraw_if_left(reader.user_id, context=context)
            if not is_active(latest):
                return Armed.INACTIVE
            if latest.is_unchanged_since(reader):
                return Armed.ARMED
            reader = latest
    except UnreadableRow:
        return Armed.UNREADABLE
    except NotYet:
        pass
    return Armed.CHANGING
