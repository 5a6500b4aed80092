"""The rules that decide which schedules query content sources, and at which times. Pure."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil

from gazette.domain.content.items import CATEGORY_OF, EVENTS, asked_among
from gazette.domain.model import DAILY, Schedule
from gazette.domain.scheduling.calendar import SLOT
from gazette.domain.subscribers.frequency import Frequencies, Frequency, frequency_for, in_digest
from gazette.domain.templates.settings import SourcePolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentSources:
    """The content sources of a stage, in display order."""

    sources: tuple[str, ...]

    def sources_for(
        self, digest: Frequency, *, chosen: Frequencies, defaults: Frequencies
    ) -> tuple[str, ...]:
        """Return the content sources of a reader's digest, in order; empty if the digest shows only
        events.

        The frequency of a source's category decides which digest queries the source. If the
        frequency is `never`, no digest queries the source.
        """
        named = tuple(
            source
            for source in self.sources
            if source == EVENTS or _digest_of(source, chosen, defaults) is digest
        )
        return named if set(named) - {EVENTS} else ()

    def asked_by(self, schedule: Schedule) -> tuple[str, ...]:
        """Return the schedule's content sources that the stage still uses."""
        return tuple(name for name in asked_among(schedule.sources) if name in self.sources)


def is_fresh(
    *,
    fetched_at: datetime | None,
    fetched_for: datetime | None,
    due_at: datetime,
    now: datetime,
    fresh_for: timedelta,
) -> bool:
    """Return True if the fetched items are fresh enough for the digest that is due at `due_at`.

    No new query is then needed. `fetched_for` is the due time of the digest that the items were
    fetched for, and `fresh_for` is their maximum age.
    """
    if fetched_at is None or fetched_for is None:
        return False
    return fetched_for >= due_at and now - fetched_at <= fresh_for


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentPlan(ContentSources):
    """The times at which content sources are queried."""

    lead: int
    """The number of slots before a digest over which queries are spread; 0 to query when a digest
    is due."""

    fresh_for: timedelta
    """The maximum age of a response when the digest is due."""

    def is_fetched(self, schedule: Schedule, due_at: datetime) -> bool:
        """Return True if the items for the occurrence at `due_at` are stored and fresh enough."""
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
"""The share of a digest's maximum lateness that is reserved for sending: a twelfth."""


def waits_until(
    schedule: str,
    due_at: datetime,
    *,
    asked_at: datetime,
    policy: SourcePolicy,
    patience: timedelta,
    max_lateness: timedelta,
) -> datetime:
    """Return the time up to which a digest waits for content sources queried at `asked_at`.

    A daily digest is skipped after `max_lateness`. A less frequent digest is never skipped, so its
    wait is measured from the time of the query.
    """
    start = due_at if schedule == DAILY else max(due_at, asked_at)
    latest = start + max_lateness - max_lateness / _MARGIN
    return latest if policy is SourcePolicy.WAIT else min(asked_at + patience, latest)


_FLAT = 1.25
"""The maximum number of queries in one slot, as a multiple of the mean over all slots.

The limit assumes that there are many readers.
"""


@dataclass(frozen=True, slots=True)
class LookAhead:
    """A group of a shard's readers whose content sources are queried now for digests that are due
    in a future slot."""

    slot: datetime
    """The future slot of the due index."""

    parts: frozenset[int]
    """The numbers of the parts whose readers belong to this group."""

    of: int
    """The number of parts into which the readers are divided."""

    def holds(self, user_id: str) -> bool:
        """Return True if the reader belongs to this group.

        Parts never change and are equally large. The hash is independent of the hash of the shards,
        so that the parts are equally large within each shard too.
        """
        digest = hashlib.sha256(f"ahead {user_id}".encode()).digest()
        return int.from_bytes(digest[:4]) % self.of in self.parts


def ahead_of(slot: datetime, shard: int, *, shards: int, lead: int) -> Iterator[LookAhead]:
    """Yield the future slots that a shard reads in the tick of `slot`, each with a group of
    readers.

    Over all ticks, each reader is included once. The readers who are due in one slot are spread
    evenly over the `lead` slots before it. Each shard reads only some of those slots, one for each
    part of its readers. An entry of the index is therefore read once for each part, which is about
    lead / shards times instead of lead times.
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
    """Return the lowest number of parts at which no slot has more than `_FLAT` times the mean
    number of queries."""
    of = ceil(lead / shards)
    while ceil(of * shards / lead) * lead > _FLAT * of * shards:
        of += 1
    return of
