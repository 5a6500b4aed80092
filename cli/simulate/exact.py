"""Readers and events one by one, where all of them are known: to hold a forecast against what was
measured (docs/forecast.md). The rest of the simulation is the same.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from gazette.domain.scheduling.calendar import Recurrence, next_occurrence, slot_of

from cli.cost.actions import WRITES
from cli.simulate.engine.cohorts import DIGEST, Cohort
from cli.simulate.population import Occurrences

_HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """A reader with a daily digest, and when it is due by their own clock."""

    name: str
    zone: str
    hour: int
    minute: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """An event of a reader, and the instant at which it was stored, in UTC."""

    reader: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Week:
    """What happened: all readers, all events, and the ticks of the clock, in order.

    Beside it what else was written: `follows`; `activities` that ingest stored, and `pointers` that
    it stored under their parents; `at_once`: events that were emails of their own.
    """

    readers: Sequence[Reader]
    events: Sequence[Stored]
    ticks: Sequence[datetime]
    follows: int = 0
    activities: int = 0
    pointers: int = 0
    at_once: int = 0

    @property
    def begin(self) -> datetime:
        """The first instant of which anything is known."""
        return min([each.at for each in self.events[:1]] + [self.ticks[0]])

    @property
    def beside(self) -> Counter[str]:
        """Write units of what is no digest."""
        return Counter(
            {
                "profiles": int(WRITES["a new profile"]) * len(self.readers),
                "follows": int(WRITES["a follow"]) * self.follows,
                "activities": int(WRITES["an activity"]) * (self.activities + self.pointers),
            }
        )


@dataclass(slots=True)
class _Schedule:
    """A schedule as the due index knows it. `waiting`: events that no digest has shown yet."""

    wanted: Recurrence
    due_at: datetime | None = None
    waiting: int = 0
    is_first: bool = False


@dataclass(slots=True)
class ExactPopulation:
    """The readers of a week. `begin`: where the seconds of cohorts begin."""

    week: Week
    begin: datetime
    schedules: dict[str, _Schedule] = field(default_factory=dict)
    left: Iterator[Stored] = field(init=False)
    ahead: Stored | None = None

    def __post_init__(self) -> None:
        for each in self.week.readers:
            wanted = Recurrence(each.hour, each.minute, each.zone)
            self.schedules[each.name] = _Schedule(wanted)
        self.left = iter(sorted(self.week.events, key=lambda each: each.at))
        self.ahead = next(self.left, None)

    def due_in(self, slot: datetime) -> Iterator[Occurrences]:
        """Let a slot come, and store what happened until its tick reaches it."""
        self._store(slot)
        found: dict[Cohort, Counter[str]] = {}
        for schedule in self.schedules.values():
            if schedule.due_at is None or slot_of(schedule.due_at) != slot:
                continue
            wanted_until = schedule.due_at - timedelta(minutes=schedule.wanted.minute) + _HOUR
            cohort = Cohort(DIGEST, self._seconds(schedule.due_at), self._seconds(wanted_until))
            counts = found.setdefault(cohort, Counter())
            counts["digests" if schedule.waiting else "quiet"] += 1
            counts["first"] += bool(schedule.waiting and schedule.is_first)
            if schedule.waiting:
                schedule.due_at = next_occurrence(schedule.wanted, after=schedule.due_at)
            else:
                schedule.due_at = None
            schedule.waiting, schedule.is_first = 0, False
        for cohort, counts in found.items():
            yield Occurrences(cohort, counts["digests"], counts["quiet"], counts["first"])

    def _store(self, until: datetime) -> None:
        """The first event for an idle schedule arms it."""
        while self.ahead and self.ahead.at < until:
            schedule = self.schedules[self.ahead.reader]
            if schedule.due_at is None:
                schedule.due_at = next_occurrence(schedule.wanted, after=self.ahead.at)
                schedule.is_first = True
            schedule.waiting += 1
            self.ahead = next(self.left, None)

    def _seconds(self, instant: datetime) -> float:
        return (instant - self.begin).total_seconds()


def written(week: Week) -> str:
    """A week as JSON, which `read_week` reads."""
    return json.dumps(asdict(week), default=lambda at: at.isoformat(), indent=1)


def read_week(path: Path) -> Week:
    """A week from a file that the demo wrote. Raises ValueError, KeyError, TypeError or OSError."""
    return week_in(json.loads(path.read_text()))


def week_in(found: Mapping[str, Any]) -> Week:
    """A week from what `written` wrote, decoded. Raises ValueError, KeyError or TypeError."""
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
