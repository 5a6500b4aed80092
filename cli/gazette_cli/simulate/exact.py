"""A population of known readers and events, used to compare a forecast with a measurement.

All other parts are the same as in a normal simulation. See docs/forecast.md.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from gazette.domain.scheduling.calendar import Recurrence, next_occurrence, slot_of

from gazette_cli.cost.actions import WRITES
from gazette_cli.simulate.engine.cohorts import DIGEST, Cohort
from gazette_cli.simulate.population import Occurrences

_HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """A reader with a daily digest, and the time of the digest in the reader's time zone."""

    name: str
    zone: str
    hour: int
    minute: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """An event of a reader, with the time in UTC at which the event was stored."""

    reader: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Week:
    """The readers, events and ticks of a measured week."""

    readers: Sequence[Reader]
    events: Sequence[Stored]

    # The times of the ticks, in order.
    ticks: Sequence[datetime]

    # The number of stored follows.
    follows: int = 0

    # The number of stored activities.
    activities: int = 0

    # The number of pointers to activities that are stored with parent entities.
    pointers: int = 0

    # The number of events that were sent as immediate email.
    at_once: int = 0

    @property
    def begin(self) -> datetime:
        """The time of the first event or tick."""
        return min([each.at for each in self.events[:1]] + [self.ticks[0]])

    @property
    def other_writes(self) -> Counter[str]:
        """The write units for profiles, follows and activities."""
        return Counter(
            {
                "profiles": int(WRITES["a new profile"]) * len(self.readers),
                "follows": int(WRITES["a follow"]) * self.follows,
                "activities": int(WRITES["an activity"]) * (self.activities + self.pointers),
            }
        )


@dataclass(slots=True)
class _Schedule:
    """The state of a reader's schedule."""

    recurrence: Recurrence

    # The due time, or None for an idle schedule.
    due_at: datetime | None = None

    # The number of waiting events.
    waiting: int = 0

    # True if an event has armed the schedule since the last digest.
    is_first: bool = False


@dataclass(slots=True)
class ExactPopulation:
    """The readers and schedules of a measured week."""

    week: Week

    # The instant from which the seconds in cohorts are counted.
    begin: datetime

    schedules: dict[str, _Schedule] = field(default_factory=dict)

    # The events after the next event, in order.
    later: Iterator[Stored] = field(init=False)

    # The next event, or None after the last one.
    ahead: Stored | None = None

    def __post_init__(self) -> None:
        for each in self.week.readers:
            recurrence = Recurrence(each.hour, each.minute, each.zone)
            self.schedules[each.name] = _Schedule(recurrence)
        self.later = iter(sorted(self.week.events, key=lambda each: each.at))
        self.ahead = next(self.later, None)

    def due_in(self, slot: datetime) -> Iterator[Occurrences]:
        """Store the events before a slot, and yield the schedules that are due in the slot."""
        self._store(slot)
        cohorts: dict[Cohort, Counter[str]] = {}
        for schedule in self.schedules.values():
            if schedule.due_at is None or slot_of(schedule.due_at) != slot:
                continue
            wanted_until = schedule.due_at - timedelta(minutes=schedule.recurrence.minute) + _HOUR
            cohort = Cohort(DIGEST, self._seconds(schedule.due_at), self._seconds(wanted_until))
            counts = cohorts.setdefault(cohort, Counter())
            counts["digests" if schedule.waiting else "quiet"] += 1
            counts["first"] += bool(schedule.waiting and schedule.is_first)
            if schedule.waiting:
                schedule.due_at = next_occurrence(schedule.recurrence, after=schedule.due_at)
            else:
                schedule.due_at = None
            schedule.waiting, schedule.is_first = 0, False
        for cohort, counts in cohorts.items():
            yield Occurrences(cohort, counts["digests"], counts["quiet"], counts["first"])

    def _store(self, until: datetime) -> None:
        """Store the events before an instant. The first event of an idle schedule arms the
        schedule.
        """
        while self.ahead and self.ahead.at < until:
            schedule = self.schedules[self.ahead.reader]
            if schedule.due_at is None:
                schedule.due_at = next_occurrence(schedule.recurrence, after=self.ahead.at)
                schedule.is_first = True
            schedule.waiting += 1
            self.ahead = next(self.later, None)

    def _seconds(self, instant: datetime) -> float:
        return (instant - self.begin).total_seconds()


def written(week: Week) -> str:
    """Convert a week to JSON for `read_week`."""
    return json.dumps(asdict(week), default=lambda at: at.isoformat(), indent=1)


def read_week(path: Path) -> Week:
    """Read a week from a file of the demo. Raises ValueError, KeyError, TypeError or OSError."""
    return week_in(json.loads(path.read_text()))


def week_in(found: Mapping[str, Any]) -> Week:
    """Convert decoded JSON, as returned by `written`, to a week. Raises ValueError, KeyError or
    TypeError.
    """
    return Week(
        **{
            **found,
            "readers": [Reader(**each) for each in found["readers"]],
            "events": [
                Stored(reader=each["reader"], at=datetime.fromisoformat(each["at"]))
                for each in found["events"]
            ],
            "ticks": [datetime.fromisoformat(each) for each in found["ticks"]],
        }
    )
