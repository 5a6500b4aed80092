"""Give the schedules of readers the content sources that their stage and their choices ask for."""

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
"""Readers whose schedules, three each, one request reads."""


class Readers(Protocol):
    """Every reader of a stage."""

    def each(self) -> Iterator[Reader | UnreadableRow]:
        """Yield what is known of each user id, in no order. Eventually consistent."""


class Armed(StrEnum):
    """What became of the schedules of a reader.

    `ARMED`: they have the sources that they should have. `RIGHT`: they had them. `INACTIVE`: the
    reader gets no digests; their next sign of life sees to it. `UNREADABLE`: a row could not be
    read. `CHANGING`: they kept changing; repeat the command.
    """

    ARMED = "armed"
    RIGHT = "right"
    INACTIVE = "inactive"
    UNREADABLE = "unreadable"
    CHANGING = "changing"


def arm_sources(
    readers: Readers, *, context: ScheduleContext, dry_run: bool = False
) -> Counter[Armed]:
    """Set the schedules whose sources are not those of the stage and the reader's choices.

    A schedule that asks a source and is idle is armed. Every write is made only as the row was
    read, so this is safe to repeat, and beside anything else. `dry_run`: count them only.
    """
    done: Counter[Armed] = Counter()
    for some in _batches(readers.each(), done):
        for reader in _concerned(some, done, context):
            done[Armed.ARMED if dry_run else _arm(reader, context)] += 1
    return done


def _batches(
    readers: Iterator[Reader | UnreadableRow], done: Counter[Armed]
) -> Iterator[Sequence[Subscriber]]:
    """Active readers, as many as one request may ask for; the others are counted."""
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
    """Those of the readers whose schedules are not as they should be; the others are counted."""
    keys = [(reader.user_id, digest.value) for reader in some for digest in DIGESTS]
    rows = context.schedules.get_many(keys) if keys else ()
    unreadable = {row.key[0] for row in rows if isinstance(row, UnreadableRow)}
    found: dict[ScheduleKey, Schedule] = {(row.user_id, row.name): row for row in readable(rows)}
    concerned: list[Subscriber] = []
    for reader in some:
        if reader.user_id in unreadable:
            done[Armed.UNREADABLE] += 1
        elif any(_is_wrong(reader, digest, found, context) for digest in DIGESTS):
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
    wanted = sources_of(reader, digest, context=context)
    row = found.get((reader.user_id, digest.value))
    if row is None:
        return bool(wanted)
    return row.sources != wanted or (bool(wanted) and row.is_idle)


def _arm(reader: Subscriber, context: ScheduleContext) -> Armed:
    """Set the schedules of a reader; again if the profile has changed meanwhile."""
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
