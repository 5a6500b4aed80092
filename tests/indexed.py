"""Our fakes with an index each: for many readers, where a call may cost no more than for one."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from gazette.domain.delivery.run import Run
from gazette.domain.model import Retracted, RunKey, Schedule, StoredEvent
from gazette.domain.ports.ledgers import ScheduleKey
from gazette.domain.scheduling.calendar import slot_of

from tests.fake_stores import FakeEvents, FakeRuns, FakeSchedules

Place = tuple[datetime, int]
"""A slot and a shard."""


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
    """Knows the runs of each schedule. Rows are created, never set."""

    keys_of: dict[tuple[str, str], list[RunKey]] = field(default_factory=lambda: defaultdict(list))

    def create(self, run: Run) -> Run:
        if run.key not in self.rows:
            self.keys_of[run.key.user_id, run.key.schedule].append(run.key)
        return super().create(run)

    def chain(self, key: RunKey, *, holding: datetime | None = None) -> Sequence[Run]:
        own = self.keys_of.get((key.user_id, key.schedule), ())
        runs = FakeRuns({each: self.rows[each] for each in own}, self.unreadable)
        return runs.chain(key, holding=holding)


@dataclass
class IndexedEvents(FakeEvents):
    """Knows the events of each user."""

    keys_of: dict[str, dict[tuple[str, str], None]] = field(
        default_factory=lambda: defaultdict(dict)
    )

    def _rows_of(self, user_id: str) -> Mapping[tuple[str, str], StoredEvent | Retracted]:
        return {key: self.rows[key] for key in self.keys_of.get(user_id, ()) if key in self.rows}

    def _keep(
        self, key: tuple[str, str], row: StoredEvent | Retracted, expires_at: datetime
    ) -> None:
        self.keys_of[key[0]][key] = None
        super()._keep(key, row, expires_at)
