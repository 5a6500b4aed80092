"""Which schedules ask content sources, for which occurrence, and how long before it. Pure."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil

from gazette.domain.content import CATEGORY_OF, EVENTS, asked_among, is_fresh
from gazette.domain.model import DAILY, Schedule
from gazette.domain.scheduling.calendar import SLOT
from gazette.domain.subscribers.frequency import Frequencies, Frequency, frequency_for, in_digest
from gazette.domain.templates.settings import SourcePolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentSources:
    """The content sources of a stage, in the order in which an email shows them."""

    sources: tuple[str, ...]

    def sources_for(
        self, digest: Frequency, *, chosen: Frequencies, defaults: Frequencies
    ) -> tuple[str, ...]:
        """The sources of a reader's digest, in order; empty if it shows events alone.

        The frequency of a source's category says which digest asks it. `never`: none does.
        """
        named = tuple(
            source
            for source in self.sources
            if source == EVENTS or _digest_of(source, chosen, defaults) is digest
        )
        return named if set(named) - {EVENTS} else ()

    def asked_by(self, schedule: Schedule) -> tuple[str, ...]:
        """The sources that a schedule asks, of those that the stage still has."""
        return tuple(name for name in asked_among(schedule.sources) if name in self.sources)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentPlan(ContentSources):
    """When they are asked.

    `lead`: over so many slots before a digest its sources are asked; 0: when it is due.
    `fresh_for`: how old an answer may be at the hour.
    """

    lead: int
    fresh_for: timedelta

    def is_fetched(self, schedule: Schedule, due_at: datetime) -> bool:
        """Whether the items for the occurrence at `due_at` are stored, and fresh enough for it."""
        return is_fresh(
            fetched_at=schedule.fetched_at,
            fetched_for=schedule.fetched_for,
            due_at=due_at,
            now=due_at,
            fresh_for=self.fresh_for,
        )


def _digest_of(source: str, chosen: Frequencies, defaults: Frequencies) -> Frequency:
    frequency = frequency_for(CATEGORY_OF[source], chosen=chosen, defaults=defaults)
    return in_digest(frequency)


_MARGIN = 12
"""The last twelfth of how late a digest may be is left to send it in."""


def waits_until(
    schedule: str,
    due_at: datetime,
    *,
    asked_at: datetime,
    policy: SourcePolicy,
    patience: timedelta,
    max_lateness: timedelta,
) -> datetime:
    """Up to when a digest waits for the items of its sources, which were asked at `asked_at`.

    A daily digest is skipped beyond `max_lateness`; a rarer one is not, so what it waits counts
    from when its sources were asked.
    """
    begun = due_at if schedule == DAILY else max(due_at, asked_at)
    latest = begun + max_lateness - max_lateness / _MARGIN
    return latest if policy is SourcePolicy.WAIT else min(asked_at + patience, latest)


_FLAT = 1.25
"""At most so many times the mean is asked for in one slot, where the readers are many."""


@dataclass(frozen=True, slots=True)
class LookAhead:
    """Which readers of a shard are asked for in one slot of the due index that is still to come.

    `slot`: of the index. `parts`: which of the `of` parts into which its readers are divided.
    """

    slot: datetime
    parts: frozenset[int]
    of: int

    def holds(self, user_id: str) -> bool:
        """Whether the reader is one of them. Parts never change, and are even over many readers.

        The hash is independent of that of the shards, so that this holds within each shard too.
        """
        drawn = hashlib.sha256(f"ahead {user_id}".encode()).digest()
        return int.from_bytes(drawn[:4]) % self.of in self.parts


def ahead_of(slot: datetime, shard: int, *, shards: int, lead: int) -> Iterator[LookAhead]:
    """What a shard looks at in the tick of `slot`, so that each of its readers is seen once.

    The readers who are due in one slot are seen evenly over the `lead` slots before it. Each shard
    looks at some of those slots only, one for each part of its readers, so an entry of the index is
    read as often as there are parts: about lead / shards times, and not lead times.
    """
    if not lead:
        return
    of = _parts(lead, shards)
    at: dict[int, set[int]] = {}
    for part in range(of):
        at.setdefault((shard + part * shards) % lead, set()).add(part)
    for before, parts in sorted(at.items()):
        yield LookAhead(slot + (1 + before) * SLOT, frozenset(parts), of)


def _parts(lead: int, shards: int) -> int:
    """The fewest parts with which no slot has more than `_FLAT` times the mean."""
    of = ceil(lead / shards)
    while ceil(of * shards / lead) * lead > _FLAT * of * shards:
        of += 1
    return of
