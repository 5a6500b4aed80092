"""A world with one reader's past. The real steps write the profile and the schedule. Other rows
are written directly.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

from gazette.domain.commands import ChangeSubscriber
from gazette.domain.identity import address_hash
from gazette.domain.model import DAILY, ScheduleState
from gazette.domain.scheduling.lifetime import kept_until, seen_for
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.domain.subscribers.suppression import Cause

from proofs.history.past import AT_ONCE, CRITICAL, EMAIL, READER, SOME, Past
from proofs.history.stores import HistoryRuns
from tests.builders import NOW, RETENTION, SettableClock, a_subscriber
from tests.indexed import IndexedEvents
from tests.world import World

_REGISTERED = NOW - timedelta(days=40)
DUE = NOW.replace(minute=0)
"""The due time of the reader's daily digest, 08:00 in Berlin."""

Write = Callable[[Past], None]
"""A function that writes all rows of a past."""


def on_fakes(past: Past) -> World:
    """Return a world on our fakes."""
    world = World(
        SettableClock(_REGISTERED),
        critical=frozenset({CRITICAL}),
        runs=HistoryRuns(),
        kind_of_events=IndexedEvents,
    )
    events = world.events

    def write(found: Past) -> None:
        world.runs.rows.update({run.key: run for run in found.runs})
        for each in found.events:
            key = (each.event.user_id, each.event.id)
            events.rows[key] = each
            events.expires_at[key] = kept_until(each.lasts_until, each.schedule)
        world.follows.rows.update({(one.entity, one.user_id): one for one in found.follows})
        world.activities.rows.update({(one.entity.key, one.id): one for one in found.activities})
        events.marks.update({(mark.user_id, mark.entity): mark.seen_at for mark in found.marks})

    furnish(world, past, write)
    return world


def furnish(world: World, past: Past, write: Write) -> None:
    """Register the reader at an early date, then write the past and set the clock to `NOW`."""
    world.clock.now = _REGISTERED
    chosen: dict[str, Any] = {SOME: Frequency.DAILY, AT_ONCE: Frequency.IMMEDIATE}
    world.say(ChangeSubscriber(a_subscriber(READER, changed_at=_REGISTERED, email=EMAIL, **chosen)))
    write(past)
    _set_schedule(world, past)
    if past.marks:
        world.subscribers.mark_seen(READER, (NOW + seen_for(RETENTION)).date())
    if past.bounced:
        world.suppressions.add(address_hash(EMAIL), Cause.BOUNCED)
    reader = world.subscribers.get(READER)
    assert isinstance(reader, Subscriber)
    if past.status is not reader.status:
        stopped = replace(reader, status=past.status, revision=reader.revision + 1)
        world.subscribers.put(stopped, replacing=reader)
    world.clock.now = NOW


def _set_schedule(world: World, past: Past) -> None:
    """Store the schedule as it is after its last digest, due today or tomorrow."""
    there = world.schedules.get(READER, DAILY)
    assert there is not None
    days = timedelta(days=0 if past.is_due else 1)
    now = replace(
        there,
        state=ScheduleState.ARMED if past.is_armed else ScheduleState.IDLE,
        sequence=past.sequence,
        next_due_at=DUE + days,
        last_due_at=DUE + days - timedelta(days=1),
        revision=there.revision + 1,
    )
    world.schedules.put(now, replacing=there)
