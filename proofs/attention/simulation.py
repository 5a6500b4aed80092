"""The real steps on fakes, while time passes: messages become visible, digests come due, and the
sweep runs.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from heapq import heappop, heappush
from itertools import count
from unittest.mock import patch

from gazette.domain.commands import ChangeSubscriber
from gazette.domain.delivery.arrangement import WEIGHTS
from gazette.domain.errors import NotYet, Unavailable
from gazette.domain.model import Event, RunKey, StoredEvent
from gazette.domain.outcome import Outcome
from gazette.domain.scheduling import growing
from gazette.domain.scheduling.calendar import SLOT, slot_of, zone_of
from gazette.domain.scheduling.kinds import ScheduleKind, kind_of
from gazette.domain.scheduling.quiet import QuietHours
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.window.worth import Worth

from proofs.attention.acts import BEGIN, BUSY, CALM, Act, Feature, Kind
from tests.builders import SettableClock, a_subscriber, an_event
from tests.indexed import IndexedEvents, IndexedRuns, RunRows
from tests.world import World

WORTH = Worth(score=4.0, longest_wait=timedelta(days=3), weights=WEIGHTS)
"""The minimum for daily digests: four likes, or three days."""

QUIET = QuietHours.of("22:00-07:00")
"""The quiet hours, in the readers' time zone."""

ZONE = zone_of("Europe/Berlin")

AFTERWARDS = timedelta(days=5)
"""The time after the last act in which each waiting event must be sent. It exceeds the longest wait
of WORTH and the day until the next digest."""

_MAX_LATENESS = timedelta(hours=6)
"""The lateness after which a digest is not sent. It is the default of a stage."""

_SWEEP_EVERY = timedelta(minutes=5)
_A_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True)
class Email:
    """An email that the provider accepted."""

    at: datetime
    key: RunKey
    event_ids: tuple[str, ...]
    """The events in the window of the run, as stored when the email was sent."""

    counts: Counter[str]
    """The number of events that the text of the email shows, by entity."""


@dataclass
class Record:
    """The events, the acts and the emails."""

    features: frozenset[Feature]
    acts: Sequence[Act]
    events: dict[str, Event] = field(default_factory=dict)
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    emails: list[Email] = field(default_factory=list)
    waiting_when_muted: set[str] = field(default_factory=set)
    """The events about the muted thread that were waiting when the reader muted it."""

    rows: dict[str, StoredEvent] = field(default_factory=dict)
    """The rows of the events at the end."""


def simulate(features: frozenset[Feature], acts: Sequence[Act]) -> Record:
    """Return the record of these acts with these features, after all emails are sent.

    No setting turns rarer emails off. Without this feature, the function that selects the schedules
    whose collecting time grows is patched.
    """
    simulation = _Simulation(Record(features, acts))
    with ExitStack() as stack:
        if Feature.RARER not in features:
            stack.enter_context(patch.object(growing, "collecting_grows", lambda _: False))
        simulation.run()
    return simulation.record


class _Simulation:
    def __init__(self, record: Record) -> None:
        self.record = record
        self._end = max((act.at for act in record.acts), default=BEGIN) + AFTERWARDS
        self._runs = RunRows()
        self._left = len(record.acts)
        """The number of acts and messages that are still to come."""

        self._world = World(
            SettableClock(BEGIN - timedelta(hours=1)),
            max_lateness=_MAX_LATENESS,
            worth=WORTH if Feature.MINIMUM in record.features else None,
            quiet_hours=QUIET if Feature.QUIET in record.features else None,
            defaults=(("like", Frequency.DAILY),),
            runs=IndexedRuns(self._runs),
            kind_of_events=IndexedEvents,
        )
        self._numbers = count()
        self._next: list[tuple[datetime, int, Callable[[], None]]] = []

    def run(self) -> None:
        """Let time pass until no email is to come, or until the end."""
        world = self._world
        for user_id in (BUSY, CALM):
            reader = a_subscriber(
                user_id,
                changed_at=world.clock(),
                email=f"{user_id}@example.com",
                comment=Frequency.IMMEDIATE,
                mention=Frequency.IMMEDIATE,
            )
            world.say(ChangeSubscriber(replace(reader, time_zone=ZONE.key)))
        for number, act in enumerate(self.record.acts):
            self._plan(act.at, partial(self._do, act, f"e{number}"))
        self._plan(BEGIN, self._sweep)
        self._plan(BEGIN + _A_MINUTE, self._tick)
        while self._next[0][0] <= self._end and self._has_work():
            at, _, action = heappop(self._next)
            world.clock.now = max(world.clock.now, at)
            action()
            sent, world.generate_queue.sent = world.generate_queue.sent, []
            for message in sent:
                self._queue(message.key, message.delay)
        for (_, event_id), row in world.events.rows.items():
            if isinstance(row, StoredEvent):
                self.record.rows[event_id] = row

    def _has_work(self) -> bool:
        """Return True if an act, a message or an email is still to come."""
        return self._left > 0 or bool(self._runs.open or self._world.schedules.listed)

    def _plan(self, at: datetime, action: Callable[[], None]) -> None:
        heappush(self._next, (at, next(self._numbers), action))

    def _queue(self, key: RunKey, delay: timedelta) -> None:
        self._left += 1
        self._plan(self._world.clock() + delay, partial(self._deliver, key))

    def _do(self, act: Act, event_id: str) -> None:
        world, entity = self._world, f"post#{act.thing}"
        self._left -= 1
        if act.kind is Kind.VISIT:
            world.see(entity, user_id=act.user_id)
        elif act.kind is Kind.MUTE:
            self.record.waiting_when_muted = self._waiting(act.user_id, entity)
            world.mute(entity, user_id=act.user_id)
        else:
            # Repeated likes of one actor would count once.
            event = an_event(
                event_id,
                user_id=act.user_id,
                category=act.category,
                entity_id=act.thing,
                actor=f"Actor {event_id}",
                occurred_at=act.at,
            )
            self.record.events[event_id] = event
            (self.record.outcomes[event_id],) = world.create(event)

    def _waiting(self, user_id: str, entity: str) -> set[str]:
        sent = {event_id for email in self.record.emails for event_id in email.event_ids}
        return {
            row.event.id
            for (owner, event_id), row in self._world.events.rows.items()
            if owner == user_id
            and isinstance(row, StoredEvent)
            and row.event.entity.key == entity
            and kind_of(row.schedule) is not ScheduleKind.UNSENT
            and event_id not in sent
        }

    def _sweep(self) -> None:
        if self._runs.open:
            self._world.sweep(BUSY, CALM)
        self._plan(self._world.clock() + _SWEEP_EVERY, self._sweep)

    def _tick(self) -> None:
        self._world.fan_out(slot_of(self._world.clock()))
        self._plan(self._world.clock() + SLOT, self._tick)

    def _deliver(self, key: RunKey) -> None:
        world = self._world
        before = len(world.mailer.accepted)
        self._left -= 1
        try:
            world.generate(key)
        except (NotYet, Unavailable):
            self._queue(key, _A_MINUTE)
        for mail, _ in world.mailer.accepted[before:]:
            ids = self._in_window(key)
            self.record.emails.append(Email(world.clock(), key, ids, _counts(mail.edition.text)))

    def _in_window(self, key: RunKey) -> tuple[str, ...]:
        window, events = self._world.runs.rows[key].window, self._world.events
        assert window
        assert isinstance(events, IndexedEvents)
        return tuple(
            row.event.id
            for row in events.rows.after(key.user_id, key.schedule, (window.since, ""))
            if window.holds(row.stored_at)
        )


def _counts(text: str) -> Counter[str]:
    """Return the numbers that `FakeRenderer` wrote."""
    counts: Counter[str] = Counter()
    for line in text.split("\n")[1:-2]:
        entity_id, _, number = line.partition(": ")
        counts[entity_id] += int(number)
    return counts
