"""Our fakes with indexes: a call costs as little with many readers and rows as with few."""

from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Self, TypeVar

from gazette.domain.delivery.run import Run
from gazette.domain.model import Retracted, RunKey, Schedule, StoredEvent
from gazette.domain.ports.ledgers import ScheduleKey
from gazette.domain.scheduling.calendar import slot_of

from tests.fake_stores import FakeEvents, FakeRuns, FakeSchedules

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
P = TypeVar("P", int, tuple[datetime, str])

Place = tuple[datetime, int]
"""A slot and a shard."""


class Rows(ABC, dict[K, V]):
    """Rows with an index that each write updates."""

    @abstractmethod
    def _remember(self, key: K, row: V) -> None:
        """Add a row to the index."""

    @abstractmethod
    def _forget(self, key: K, row: V) -> None:
        """Remove a row from the index."""

    def __setitem__(self, key: K, row: V) -> None:
        if key in self:
            self._forget(key, self[key])
        super().__setitem__(key, row)
        self._remember(key, row)

    def __delitem__(self, key: K) -> None:
        self._forget(key, self[key])
        super().__delitem__(key)

    def setdefault(self, key: K, default: V) -> V:
        if key not in self:
            self[key] = default
        return self[key]

    def update(self, others: Mapping[K, V]) -> None:  # type: ignore[override]
        for key, row in others.items():
            self[key] = row

    def __ior__(self, others: Mapping[K, V]) -> Self:  # type: ignore[override, misc]
        self.update(others)
        return self


class RunRows(Rows[RunKey, Run]):
    """Runs with the sorted sequences of each schedule, and the keys of the open runs."""

    def __init__(self) -> None:
        super().__init__()
        self.sequences: dict[tuple[str, str], list[int]] = defaultdict(list)
        self.open: dict[RunKey, None] = {}

    def _remember(self, key: RunKey, row: Run) -> None:
        insort(self.sequences[key.user_id, key.schedule], key.sequence)
        if row.is_open:
            self.open[key] = None

    def _forget(self, key: RunKey, row: Run) -> None:
        _take_out(self.sequences[key.user_id, key.schedule], key.sequence)
        self.open.pop(key, None)


class EventRows(Rows[tuple[str, str], StoredEvent | Retracted]):
    """Events with the sorted times and ids of each schedule."""

    def __init__(self) -> None:
        super().__init__()
        self._places: dict[tuple[str, str], list[tuple[datetime, str]]] = defaultdict(list)

    def after(self, user_id: str, schedule: str, place: tuple[datetime, str]) -> list[StoredEvent]:
        """Return the events of a schedule after a time and id, in order."""
        places = self._places.get((user_id, schedule), [])
        rows = (self[user_id, event_id] for _, event_id in places[bisect_right(places, place) :])
        return [row for row in rows if isinstance(row, StoredEvent)]

    def _remember(self, key: tuple[str, str], row: StoredEvent | Retracted) -> None:
        if isinstance(row, StoredEvent):
            insort(self._places[key[0], row.schedule], (row.stored_at, key[1]))

    def _forget(self, key: tuple[str, str], row: StoredEvent | Retracted) -> None:
        if isinstance(row, StoredEvent):
            _take_out(self._places[key[0], row.schedule], (row.stored_at, key[1]))


def _take_out(places: list[P], place: P) -> None:
    del places[bisect_left(places, place)]


@dataclass
class IndexedSchedules(FakeSchedules):
    """Knows what is due by slot and shard. Rows are put, never set."""

    due_in: dict[Place, dict[tuple[str, str], None]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    place_of: dict[tuple[str, str], Place] = field(default_factory=dict)

    def put(self, schedule: Schedule, *, replacing: Schedule | None) -> bool:
        stored = super().put(schedule, replacing=replacing)
        if stored:
            key = (schedule.user_id, schedule.name)
            self.due_in[self.place_of.get(key, (schedule.next_due_at, -1))].pop(key, None)
            self.place_of[key] = slot_of(schedule.next_due_at), self.shard_of[key]
            self.due_in[self.place_of[key]][key] = None
        return stored

    def due(self, slot: datetime, shard: int) -> Iterator[Sequence[ScheduleKey]]:
        page: list[ScheduleKey] = []
        for key in sorted(self.due_in.get((slot, shard), ())):
            schedule = self.rows.get(key)
            if schedule and schedule.listed and self.place_of[key] == (slot, shard):
                page.append(key)
            if len(page) == self.page:
                yield page
                page = []
        if page:
            yield page


@dataclass
class IndexedRuns(FakeRuns):
    """Knows the runs of each schedule, and the open runs."""

    rows: RunRows = field(default_factory=RunRows)

    def _newest_first(self, key: RunKey) -> Iterable[Run]:
        sequences = self.rows.sequences.get((key.user_id, key.schedule), [])
        for place in range(bisect_right(sequences, key.sequence) - 1, -1, -1):
            yield self.rows[RunKey(key.user_id, key.schedule, sequences[place])]

    def _open(self) -> Sequence[Run]:
        return [self.rows[key] for key in self.rows.open]


@dataclass
class IndexedEvents(FakeEvents):
    """Knows the events of each schedule by time."""

    rows: EventRows = field(default_factory=EventRows)

    def _after(self, user_id: str, schedule: str, place: tuple[datetime, str]) -> list[StoredEvent]:
        return self.rows.after(user_id, schedule, place)
