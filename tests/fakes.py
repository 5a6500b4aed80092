"""Our own stand-ins behind the ports. tests/contract holds each against the real adapter."""

import html
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from gazette.domain.calendar import slot_of
from gazette.domain.compose import Digest
from gazette.domain.identity import shard_of
from gazette.domain.model import (
    Edition,
    Event,
    Mail,
    RunKey,
    Schedule,
    Subscriber,
    SubscriberStatus,
    Window,
)
from gazette.domain.ports import Clock, Links, QueuedRun, Shard
from gazette.domain.run import Reason, Run, Status
from gazette.domain.signals import Accepted, SendOutcome


@dataclass
class FakeSubscribers:
    """The port `Subscribers` in memory."""

    rows: dict[str, Subscriber] = field(default_factory=dict)

    def get(self, user_id: str) -> Subscriber | None:
        return self.rows.get(user_id)

    def save(self, subscriber: Subscriber) -> Subscriber:
        current = self.rows.get(subscriber.user_id)
        if current and current.changed_at > subscriber.changed_at:
            return current
        if current:
            subscriber = replace(subscriber, status=current.status)
        self.rows[subscriber.user_id] = subscriber
        return subscriber

    def set_status(self, user_id: str, status: SubscriberStatus) -> bool:
        current = self.rows.get(user_id)
        if current is None:
            return False
        self.rows[user_id] = replace(current, status=status)
        return True


@dataclass
class FakeSchedules:
    """The port `Schedules` in memory; `withdrawn` are out of the due index."""

    shards: int = 1
    page: int = 100
    rows: dict[tuple[str, str], Schedule] = field(default_factory=dict)
    withdrawn: set[tuple[str, str]] = field(default_factory=set)

    def get(self, user_id: str, name: str) -> Schedule | None:
        return self.rows.get((user_id, name))

    def put(self, schedule: Schedule, *, replacing: Schedule | None) -> bool:
        key = (schedule.user_id, schedule.name)
        if _fixed(self.rows.get(key)) != _fixed(replacing):
            return False
        self.rows[key] = schedule
        self.withdrawn.discard(key)
        return True

    def due(self, slot: datetime, shard: int) -> Iterator[Sequence[Schedule]]:
        due = [
            schedule
            for key, schedule in sorted(self.rows.items())
            if key not in self.withdrawn
            and slot_of(schedule.next_due_at) == slot
            and shard_of(schedule.user_id, self.shards) == shard
        ]
        for start in range(0, len(due), self.page):
            yield due[start : start + self.page]

    def advance(self, schedule: Schedule, next_due_at: datetime) -> bool:
        advanced = replace(schedule, next_due_at=next_due_at, sequence=schedule.sequence + 1)
        return self.put(advanced, replacing=schedule)

    def withdraw(self, user_id: str, name: str) -> None:
        key = (user_id, name)
        if key in self.rows:
            self.rows[key] = replace(self.rows[key], revision=self.rows[key].revision + 1)
            self.withdrawn.add(key)


@dataclass
class FakeEvents:
    """The ports `EventWriter` and `EventReader` in memory."""

    clock: Clock
    rows: dict[tuple[str, str], tuple[str, datetime, Event]] = field(default_factory=dict)

    def store(self, event: Event, schedule: str) -> bool:
        key = (event.user_id, event.id)
        if key in self.rows:
            return False
        self.rows[key] = (schedule, self.clock(), event)
        return True

    def read(self, user_id: str, schedule: str, window: Window) -> Iterator[Event]:
        found = [
            (stored_at, event)
            for (owner, _), (name, stored_at, event) in self.rows.items()
            if owner == user_id and name == schedule and window.since < stored_at <= window.until
        ]
        return (event for _, event in sorted(found, key=lambda pair: pair[0]))


@dataclass
class FakeRuns:
    """The port `Runs` in memory."""

    rows: dict[RunKey, Run] = field(default_factory=dict)

    def create(self, run: Run) -> Run:
        return self.rows.setdefault(run.key, run)

    def chain(self, key: RunKey) -> Sequence[Run]:
        found: list[Run] = []
        older = [
            run
            for run in self.rows.values()
            if (run.key.user_id, run.key.schedule) == (key.user_id, key.schedule)
            and run.key.sequence <= key.sequence
        ]
        for run in sorted(older, key=lambda run: run.key.sequence, reverse=True):
            found.append(run)
            if run.status is Status.SENT and run.key != key:
                break
        return found

    def swap(self, before: Run, after: Run) -> Run:
        if after.key not in self.rows:
            raise LookupError("There is no such run.")
        current = self.rows[after.key]
        if _held(current) == _held(before):
            self.rows[after.key] = after
            return after
        return current


@dataclass
class FakeGenerateQueue:
    """The port `GenerateQueue`."""

    sent: list[QueuedRun] = field(default_factory=list)
    calls: int = 0

    def send(self, runs: Sequence[QueuedRun]) -> None:
        if not 1 <= len(runs) <= 10:
            raise ValueError(f"SQS takes 1 to 10 messages a call, not {len(runs)}")
        self.calls += 1
        self.sent.extend(runs)


@dataclass
class FakeShardQueue:
    """The port `ShardQueue`."""

    sent: list[Shard] = field(default_factory=list)

    def send(self, shards: Iterable[Shard]) -> None:
        self.sent.extend(shards)


@dataclass
class FakeQuarantine:
    """The port `Quarantine`."""

    kept: list[tuple[str, str]] = field(default_factory=list)

    def keep(self, body: str, reason: str) -> None:
        self.kept.append((body, reason))


@dataclass
class FakeRenderer:
    """The port `Renderer`: names every group with its count."""

    def render(self, digest: Digest, subscriber: Subscriber, links: Links) -> Edition:
        lines = [f"{group.latest.entity.id}: {group.count}" for group in digest.groups]
        text = "\n".join([subscriber.name, *lines, links.unsubscribe])
        return Edition(f"{digest.events} updates", html.escape(text), text)


@dataclass
class FakeMailer:
    """The port `Mailer`: keeps what it accepted, or answers what the script says."""

    accepted: list[tuple[Mail, int]] = field(default_factory=list)
    script: deque[SendOutcome] = field(default_factory=deque)
    calls: int = 0

    def send(self, mail: Mail, attempt: int) -> SendOutcome:
        self.calls += 1
        if self.script:
            return self.script.popleft()
        self.accepted.append((mail, attempt))
        return Accepted(attempt, f"message{len(self.accepted)}")


def _held(run: Run) -> tuple[Status, Reason, int, int]:
    return run.status, run.reason, run.attempt, run.epoch


def _fixed(schedule: Schedule | None) -> tuple[datetime, int, int] | None:
    if schedule is None:
        return None
    return schedule.next_due_at, schedule.sequence, schedule.revision
