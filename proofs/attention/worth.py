"""The demo's week with and without a minimum for daily digests, through the real delivery.

The events are those of `make demo WEEK=1`, and each reader gets a daily digest at eight. Deliveries
run on fakes. After the week, digests continue until no event waits.
"""

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta

from gazette.domain.delivery.arrangement import WEIGHTS
from gazette.domain.delivery.run import Run, Status
from gazette.domain.model import DAILY, Actor, Entity, Event, RunKey, StoredEvent
from gazette.domain.scheduling.calendar import next_occurrence
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.window.worth import Worth

from demo import campus, invented
from tests.builders import SettableClock, a_subscriber
from tests.world import World

_FIRST_DAY = date(2026, 11, 16)
_SOON = timedelta(minutes=1)
_MINIMUMS: tuple[tuple[float, int] | None, ...] = (None, (1, 3), (2, 3), (4, 3), (6, 3))
"""The scores and days to compare."""


@dataclass
class Digests:
    """The digests of all readers. `waits` lists the wait of each event from its occurrence."""

    sent: int = 0
    with_one: int = 0
    skipped: int = 0
    waits: list[timedelta] = field(default_factory=list)
    lost: int = 0
    twice: int = 0

    def __str__(self) -> str:
        waits = sorted(self.waits)
        return (
            f"digests={self.sent} with_one_event={self.with_one / self.sent:.1%} "
            f"skipped={self.skipped} median_wait_h={_hours(waits[len(waits) // 2])} "
            f"longest_wait_h={_hours(waits[-1])} lost={self.lost} twice={self.twice}"
        )


def week() -> Mapping[str, Sequence[Event]]:
    """Return the events of the demo's week by reader, in the order of time."""
    events: dict[str, list[Event]] = {}
    for each in invented.happened(campus.messages()):
        event = _event(each)
        events.setdefault(event.user_id, []).append(event)
    return {user_id: sorted(mine, key=_at) for user_id, mine in events.items()}


def digests(events: Mapping[str, Sequence[Event]], minimum: tuple[float, int] | None) -> Digests:
    """Send the digests of every reader."""
    total = Digests()
    worth = (
        Worth(score=minimum[0], longest_wait=timedelta(days=minimum[1]), weights=WEIGHTS)
        if minimum
        else None
    )
    for user_id, mine in events.items():
        _send(user_id, mine, worth, total)
    return total


def _at(event: Event) -> datetime:
    return event.occurred_at


def _event(each: invented.Happened) -> Event:
    message, thing = each.message, each.thing
    entity = Entity(thing.kind, thing.id, thing.title, thing.url)
    source = message.source
    return Event(
        user_id=campus.user_id(message.target),
        id=f"message{message.row}",
        category=each.category,
        entity=entity,
        actor=Actor(campus.user_id(source), campus.name(source)) if each.has_actor else None,
        occurred_at=campus.midnight(_FIRST_DAY)
        + timedelta(days=message.day, minutes=message.minute_of_day),
        excerpt=each.excerpt,
        via=(entity.key,) if each.is_followed else (),
    )


def _send(user_id: str, events: Sequence[Event], worth: Worth | None, total: Digests) -> None:
    clock = SettableClock(events[0].occurred_at)
    world = World(clock, worth=worth, max_lateness=timedelta(hours=6))
    zone = campus.zone(int(user_id.removeprefix("student")))
    reader = replace(a_subscriber(user_id, changed_at=clock()), time_zone=zone)
    world.subscribers.put(reader, replacing=None)
    recurrence = reader.recurrence(Frequency.DAILY)
    shown: Counter[str] = Counter()
    waiting: dict[str, Event] = {}
    coming = list(events)
    due_at, sequence = next_occurrence(recurrence, after=clock()), 1
    while coming or waiting:
        while coming and coming[0].occurred_at < due_at - _SOON:
            event = coming.pop(0)
            clock.now = max(clock.now, event.occurred_at)
            world.events.store(event, DAILY)
            waiting[event.id] = event
        clock.now = due_at
        if waiting:
            key = RunKey(user_id, DAILY, sequence)
            world.runs.create(Run(key, due_at, due_at + timedelta(hours=1)))
            run = world.generate(key)
            sequence += 1
            if run and run.status is Status.SENT:
                total.sent += 1
                total.with_one += len(waiting) == 1
                total.waits += [due_at - each.occurred_at for each in waiting.values()]
                shown.update(_shown(world, run))
                waiting = {}
            else:
                total.skipped += 1
        due_at = next_occurrence(recurrence, after=due_at)
    total.lost += sum(shown[each.id] == 0 for each in events)
    total.twice += sum(shown[each.id] > 1 for each in events)


def _shown(world: World, run: Run) -> list[str]:
    """Return the ids of the events in the window of a sent run."""
    ids = [
        stored.event.id
        for stored in world.events.rows.values()
        if isinstance(stored, StoredEvent) and run.window and run.window.holds(stored.stored_at)
    ]
    if run.events != len(ids):
        raise AssertionError(f"The email of {run.key} has {run.events} events, not {len(ids)}.")
    return ids


def _hours(wait: timedelta) -> str:
    return f"{wait / timedelta(hours=1):.1f}"


def compared() -> Iterator[str]:
    """Yield a line for each minimum."""
    events = week()
    for minimum in _MINIMUMS:
        name = f"score={minimum[0]:g} days={minimum[1]}" if minimum else "off"
        yield f"worth: {name} {digests(events, minimum)}"


if __name__ == "__main__":
    for line in compared():
        sys.stdout.write(f"{line}\n")
