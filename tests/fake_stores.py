"""Fakes of the ports to our tables. tests/contract runs the same tests on the real adapters."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import Any
from zlib import crc32

from gazette.adapters.dynamodb.runs import run_sort_key
from gazette.domain.delivery.batch import Batch, BatchRun
from gazette.domain.delivery.circuit_breaker import OpenBreaker, opened_by_hand, tripped
from gazette.domain.delivery.pace import (
    NoPermit,
    Outlook,
    Pace,
    PacePlan,
    PaceReading,
    Permit,
    Quota,
    longest_wait_in,
    outlook,
    read,
    take,
    with_quota,
)
from gazette.domain.delivery.run import BEGINNING, Reason, Run, Status
from gazette.domain.errors import Unavailable, UnreadableRow
from gazette.domain.feedback.delivery_events import Engagement, EngagementEvent, Mark
from gazette.domain.feedback.reputation import CategoryCounts, CategoryHold
from gazette.domain.happening.rewriting import Pointing, Rewrite
from gazette.domain.identity import latest_run, run_id, shard_of
from gazette.domain.model import (
    Event,
    Retracted,
    RunKey,
    Schedule,
    ScheduleState,
    StoredEvent,
    Window,
)
from gazette.domain.ports.clock import Clock
from gazette.domain.ports.ledgers import ScheduleKey
from gazette.domain.ports.stores import EventToStore, Guard
from gazette.domain.receipts.receipt import Found, FoundEvent
from gazette.domain.scheduling.calendar import Recurrence, slot_of
from gazette.domain.scheduling.cap import Usage
from gazette.domain.scheduling.chain import back_to_end
from gazette.domain.scheduling.kinds import Unsent, immediate_schedule, urgent_schedule
from gazette.domain.scheduling.lifetime import (
    kept_until,
    lasts_until,
    longest_kept,
    needed_until,
    seen_for,
)
from gazette.domain.stored import readable, require_readable
from gazette.domain.subscribers.following import Activity, Follow
from gazette.domain.subscribers.subscriber import (
    EarlyChoices,
    Erased,
    Reader,
    Subscriber,
    SubscriberStatus,
)
from gazette.domain.subscribers.suppression import Cause, SoftBounce, Suppression
from gazette.domain.window.briefs import StoredBrief, stored_brief_of
from gazette.domain.window.seen import Seen, SeenMark
from gazette.domain.withdrawing.withdrawals import WithdrawalList, Withdrawals

from gazette_support.domain.replay import Part, was_sent_since
from tests.builders import RETENTION, SettableClock

NO_TIME = timedelta(0)

PARTITIONS = 16
"""Of the open runs."""


def unreadable_row(table: str, *key: str) -> UnreadableRow:
    """The error of a fake for a row in its `unreadable`."""
    return UnreadableRow(table, key, "it was made so")


def _of_run(key: RunKey) -> UnreadableRow:
    return unreadable_row("runs", key.user_id, f"{key.schedule}#{key.sequence:010d}")


@dataclass
class FakeSubscribers:
    """The port `Subscribers` in memory."""

    rows: dict[str, Subscriber | Erased] = field(default_factory=dict)
    active: dict[str, date] = field(default_factory=dict)
    seen: dict[str, date] = field(default_factory=dict)
    waiting: dict[str, EarlyChoices] = field(default_factory=dict)
    unreadable: set[str] = field(default_factory=set)

    def get(self, user_id: str) -> Reader:
        if user_id in self.unreadable:
            raise unreadable_row("subscribers", user_id)
        row = self.rows.get(user_id)
        active_on, seen_until = self.active.get(user_id), self.seen.get(user_id)
        if isinstance(row, Subscriber) and (row.active_on, row.seen_until) != (
            active_on,
            seen_until,
        ):
            return replace(row, active_on=active_on, seen_until=seen_until)
        return row

    def get_many(self, user_ids: Collection[str]) -> Mapping[str, Reader]:
        return {user_id: self.get(user_id) for user_id in user_ids}

    def early(self, user_id: str) -> EarlyChoices | None:
        return self.waiting.get(user_id)

    def put_early(self, early: EarlyChoices, *, replacing: EarlyChoices | None) -> bool:
        if early.user_id in self.rows or self.waiting.get(early.user_id) != replacing:
            return False
        self.waiting[early.user_id] = early
        return True

    def put(self, subscriber: Subscriber, *, replacing: Reader | EarlyChoices) -> bool:
        current = self.rows.get(subscriber.user_id)
        early = self.waiting.get(subscriber.user_id)
        if _revision(current or early) != _revision(replacing):
            return False
        known = current if isinstance(current, Subscriber) else None
        routes_since = known.routes_since if known else None
        if isinstance(replacing, Subscriber) and subscriber.mutes != replacing.mutes:
            since = subscriber.routes_since
            if routes_since and (since is None or since < routes_since):
                return False
            routes_since = since
        self.waiting.pop(subscriber.user_id, None)
        erased_at = subscriber.erased_at or (current.erased_at if current else None)
        self.rows[subscriber.user_id] = replace(
            subscriber,
            routed_for=known.routed_for if known else "",
            routes_since=routes_since,
            erased_at=erased_at,
            active_on=None,
            seen_until=None,
        )
        return True

    def set_status(self, user_id: str, status: SubscriberStatus) -> bool:
        """No method of the port: a status out of the blue, as a worker leaves it who dies then."""
        current = self.rows.get(user_id)
        if not isinstance(current, Subscriber):
            return False
        self.rows[user_id] = replace(current, status=status, revision=current.revision + 1)
        return True

    def mark_active(self, user_id: str, on: date) -> None:
        if not isinstance(self.rows.get(user_id), Erased):
            self.active[user_id] = max(on, self.active.get(user_id, on))

    def mark_seen(self, user_id: str, until: date) -> None:
        if not isinstance(self.rows.get(user_id), Erased):
            self.seen[user_id] = max(until, self.seen.get(user_id, until))

    def set_dormant(self, subscriber: Subscriber) -> bool:
        current = self.get(subscriber.user_id)
        if _revision(current) != _revision(subscriber):
            return False
        if self.active.get(subscriber.user_id) != subscriber.active_on:
            return False
        return self.set_status(subscriber.user_id, SubscriberStatus.DORMANT)

    def mark_routed(
        self, subscriber: Subscriber, routed_for: str, *, since: datetime | None = None
    ) -> None:
        current = self.rows.get(subscriber.user_id)
        if isinstance(current, Subscriber) and _revision(current) == _revision(subscriber):
            latest = since or current.routes_since
            if since and current.routes_since and current.routes_since > since:
                return
            self.rows[subscriber.user_id] = replace(
                current, routed_for=routed_for, routes_since=latest
            )

    def mark_rerouted(self, user_id: str, since: datetime) -> None:
        current = self.rows.get(user_id)
        if isinstance(current, Subscriber):
            latest = max(since, current.routes_since or since)
            self.rows[user_id] = replace(current, routes_since=latest)

    def erase(self, user_id: str, at: datetime) -> bool:
        current = self.rows.get(user_id)
        if isinstance(current, Subscriber) and current.changed_at > at:
            return False
        if current and current.erased_at and current.erased_at > at:
            return False
        self.rows[user_id] = Erased(user_id, at)
        self.active.pop(user_id, None)
        self.seen.pop(user_id, None)
        self.waiting.pop(user_id, None)
        return True


@dataclass
class FakeFollows:
    """The port `Follows` in memory."""

    rows: dict[tuple[str, str], Follow] = field(default_factory=dict)
    unreadable: set[tuple[str, str]] = field(default_factory=set)

    def get(self, entity: str, user_id: str) -> Follow | None:
        if (entity, user_id) in self.unreadable:
            raise unreadable_row("follows", entity, user_id)
        return self.rows.get((entity, user_id))

    def get_many(self, keys: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], Follow]:
        for key in self.unreadable.intersection(keys):
            raise unreadable_row("follows", *key)
        return {key: self.rows[key] for key in keys if key in self.rows}

    def put(self, follow: Follow, *, replacing: Follow | None) -> bool:
        key = (follow.entity, follow.user_id)
        if self.rows.get(key) != replacing:
            return False
        self.rows[key] = follow
        return True

    def page(
        self, entity: str, *, after: str, through: str = "", limit: int
    ) -> Sequence[Follow | UnreadableRow]:
        found = [
            unreadable_row("follows", key, user_id) if (key, user_id) in self.unreadable else follow
            for (key, user_id), follow in sorted(self.rows.items())
            if key == entity and user_id > after and (not through or user_id <= through)
        ]
        return found[:limit]

    def count_followers(self, entity: str) -> tuple[int, bool]:
        active = [each for each in self.rows.values() if each.latest.following]
        return sum(each.entity == entity for each in active), True

    def followed_by(
        self, user_id: str, *, after: str = "", at_most: int | None = None
    ) -> Iterator[str]:
        followed = sorted(entity for entity, owner in self.rows if owner == user_id)
        return iter([entity for entity in followed if entity > after][:at_most])

    def forget(self, user_id: str, entities: Collection[str]) -> None:
        for entity in entities:
            self.rows.pop((entity, user_id), None)
            self.unreadable.discard((entity, user_id))

    def remove(self, follow: Follow) -> bool:
        if self.rows.get((follow.entity, follow.user_id)) != follow:
            return False
        del self.rows[follow.entity, follow.user_id]
        return True


@dataclass
class FakeActivities:
    """The port `Activities` in memory."""

    rows: dict[tuple[str, str], Activity | Retracted] = field(default_factory=dict)
    unreadable: set[tuple[str, str]] = field(default_factory=set)

    def get(self, entity: str, activity_id: str) -> Activity | Retracted | None:
        if (entity, activity_id) in self.unreadable:
            raise unreadable_row("activities", entity, activity_id)
        return self.rows.get((entity, activity_id))

    def create(self, activity: Activity) -> tuple[bool, Activity | Retracted]:
        key = (activity.entity.key, activity.id)
        return key not in self.rows, self.rows.setdefault(key, activity)

    def replace(self, before: Activity, after: Activity) -> bool:
        key = (after.entity.key, after.id)
        current = self.rows.get(key)
        if not isinstance(current, Activity) or not current.has_content_of(before):
            return False
        self.rows[key] = after
        return True

    def retract(self, entity: str, activity_id: str) -> Activity | Retracted:
        current = self.rows.get((entity, activity_id), Retracted(activity_id))
        if isinstance(current, Activity) and not current.retracted:
            current = replace(current, retracted=True, walked=frozenset())
        self.rows[entity, activity_id] = current
        return current

    def mark_walked(self, activity: Activity, side: str) -> bool:
        key = (activity.entity.key, activity.id)
        current = self.rows.get(key)
        if not isinstance(current, Activity) or not current.has_content_of(activity):
            return False
        self.rows[key] = replace(current, walked=current.walked | {side})
        return True

    def get_many(
        self, keys: Collection[tuple[str, str]]
    ) -> Mapping[tuple[str, str], Activity | Retracted | UnreadableRow]:
        return {
            key: unreadable_row("activities", *key) if key in self.unreadable else self.rows[key]
            for key in keys
            if key in self.rows
        }

    def since(self, side: str, instant: datetime) -> Iterator[Activity | UnreadableRow]:
        return iter(
            [
                unreadable_row("activities", *key) if key in self.unreadable else activity
                for key, activity in self.rows.items()
                if isinstance(activity, Activity) and activity.concerns_since(side, instant)
            ]
        )


@dataclass
class FakeSuppressions:
    """The port `Suppressions` in memory; `since`, `by` and `last` are kept beside the causes."""

    clock: Clock = field(default_factory=SettableClock)
    rows: dict[str, Cause] = field(default_factory=dict)
    since: dict[str, datetime] = field(default_factory=dict)
    by: dict[str, set[str]] = field(default_factory=dict)
    last: dict[str, datetime] = field(default_factory=dict)
    unreadable: set[str] = field(default_factory=set)

    def add(self, address_hash: str, cause: Cause, since: datetime | None = None) -> bool:
        at, there = since or self.clock(), self.rows.get(address_hash)
        if cause is Cause.UNSUBSCRIBED:
            self.last[address_hash] = max(at, self.last.get(address_hash, at))
        if there is not None and there not in cause.lesser:
            return False
        self.rows[address_hash] = cause
        self.since[address_hash] = at
        return True

    def unsubscribe(self, address_hash: str, user_id: str, at: datetime | None = None) -> None:
        self.add(address_hash, Cause.UNSUBSCRIBED, at)
        self.by.setdefault(address_hash, set()).add(user_id)

    def resubscribe(
        self, address_hash: str, user_id: str, *, before: datetime | None = None
    ) -> None:
        found = self.get(address_hash) if before else None
        if before and found and found.last_left_at >= before:
            return
        others = self.by.pop(address_hash, set()) - {user_id}
        if others:
            self.by[address_hash] = others
        else:
            self.lift(address_hash, Cause.UNSUBSCRIBED)

    def holds(self, address_hash: str, *, critical: bool = False) -> bool:
        cause = self.rows.get(address_hash)
        return cause is not None and not (critical and cause == Cause.UNSUBSCRIBED)

    def get(self, address_hash: str) -> Suppression | None:
        if address_hash in self.unreadable:
            raise unreadable_row("suppressions", address_hash)
        cause = self.rows.get(address_hash)
        if cause is None:
            return None
        return Suppression(
            address_hash,
            cause,
            self.since[address_hash],
            self.last.get(address_hash),
            frozenset(self.by.get(address_hash, ())),
        )

    def lift(self, address_hash: str, cause: Cause) -> None:
        if self.rows.get(address_hash) != cause:
            return
        if cause is not Cause.UNSUBSCRIBED and self.by.get(address_hash):
            self.rows[address_hash] = Cause.UNSUBSCRIBED
            return
        del self.rows[address_hash]
        self.by.pop(address_hash, None)
        self.last.pop(address_hash, None)

    def each(self) -> Iterator[Suppression | UnreadableRow]:
        for address_hash in list(self.rows):
            try:
                found = self.get(address_hash)
            except UnreadableRow as row:
                yield row
            else:
                if found:
                    yield found


@dataclass
class FakeBounces:
    """The port `Bounces` in memory."""

    rows: dict[str, set[SoftBounce]] = field(default_factory=dict)

    def remember(self, address_hash: str, bounce: SoftBounce) -> Collection[SoftBounce]:
        there = self.rows.setdefault(address_hash, set())
        there.add(bounce)
        return list(there)

    def forget(self, address_hash: str) -> None:
        self.rows.pop(address_hash, None)


@dataclass
class FakeSchedules:
    """The port `Schedules` in memory; `shard_of` is where each was last put."""

    shards: int = 1
    page: int = 100
    rows: dict[tuple[str, str], Schedule] = field(default_factory=dict)
    shard_of: dict[tuple[str, str], int] = field(default_factory=dict)
    unreadable: set[tuple[str, str]] = field(default_factory=set)

    @property
    def withdrawn(self) -> set[tuple[str, str]]:
        """The schedules of readers who are not visited."""
        state = ScheduleState.WITHDRAWN
        return {key for key, schedule in self.rows.items() if schedule.state is state}

    @property
    def listed(self) -> set[tuple[str, str]]:
        """The schedules in the due index."""
        return {key for key, schedule in self.rows.items() if schedule.listed}

    def get(self, user_id: str, name: str) -> Schedule | None:
        if (user_id, name) in self.unreadable:
            raise unreadable_row("schedules", user_id, name)
        return self.rows.get((user_id, name))

    def of_user(self, user_id: str) -> Sequence[Schedule]:
        found = (self.get(*key) for key in sorted(self.rows) if key[0] == user_id)
        return [schedule for schedule in found if schedule]

    def put(self, schedule: Schedule, *, replacing: Schedule | None) -> bool:
        key = (schedule.user_id, schedule.name)
        if _fixed(self.rows.get(key)) != _fixed(replacing):
            return False
        self.rows[key] = schedule
        self.shard_of[key] = shard_of(schedule.user_id, self.shards)
        return True

    def get_many(self, keys: Collection[ScheduleKey]) -> Sequence[Schedule | UnreadableRow]:
        return [self._as_read(self.rows[key]) for key in sorted(keys) if key in self.rows]

    def due(self, slot: datetime, shard: int) -> Iterator[Sequence[ScheduleKey]]:
        due = [
            key
            for key, schedule in sorted(self.rows.items())
            if schedule.listed
            and slot_of(schedule.next_due_at) == slot
            and self.shard_of.get(key, shard) == shard
        ]
        for start in range(0, len(due), self.page):
            yield due[start : start + self.page]

    def idle(self, segment: int, segments: int) -> Iterator[Schedule | UnreadableRow]:
        for key, schedule in sorted(self.rows.items()):
            if crc32(repr(key).encode()) % segments == segment:
                found = self._as_read(schedule)
                if isinstance(found, UnreadableRow) or found.is_idle:
                    yield found

    def _as_read(self, schedule: Schedule) -> Schedule | UnreadableRow:
        key = (schedule.user_id, schedule.name)
        return unreadable_row("schedules", *key) if key in self.unreadable else schedule

    def count_due(self, slot: datetime, shard: int) -> int:
        return sum(map(len, self.due(slot, shard)))

    def withdraw(self, schedule: Schedule) -> bool:
        key = (schedule.user_id, schedule.name)
        if _fixed(self.rows.get(key)) != _fixed(schedule):
            return False
        self.rows[key] = self.rows[key].withdrawn()
        return True

    def remove(self, schedule: Schedule) -> bool:
        key = (schedule.user_id, schedule.name)
        if _fixed(self.rows.get(key)) != _fixed(schedule):
            return False
        del self.rows[key]
        return True


@dataclass
class FakeRuns:
    """The port `Runs` in memory."""

    rows: dict[RunKey, Run] = field(default_factory=dict)
    unreadable: set[RunKey] = field(default_factory=set)

    def create(self, run: Run) -> Run:
        return self.get(run.key) or self.rows.setdefault(run.key, run)

    def get(self, key: RunKey) -> Run | None:
        if key in self.unreadable:
            raise _of_run(key)
        return self.rows.get(key)

    def get_many(self, keys: Collection[RunKey]) -> Mapping[RunKey, Run | UnreadableRow]:
        return {
            key: _of_run(key) if key in self.unreadable else self.rows[key]
            for key in keys
            if key in self.unreadable or key in self.rows
        }

    def chain(self, key: RunKey, *, holding: datetime | None = None) -> Sequence[Run]:
        def readable_runs() -> Iterator[Run]:
            for run in self._newest_first(key):
                if run.key in self.unreadable:
                    raise _of_run(run.key)
                yield run

        return back_to_end(readable_runs(), of=key, holding=holding)

    def _newest_first(self, key: RunKey) -> Iterable[Run]:
        """Return the run and the earlier runs of its schedule."""
        older = [
            run
            for run in self.rows.values()
            if (run.key.user_id, run.key.schedule) == (key.user_id, key.schedule)
            and run.key.sequence <= key.sequence
        ]
        return sorted(older, key=lambda run: run.key.sequence, reverse=True)

    def of_thread(self, user_id: str, entity: str) -> Sequence[Run]:
        names = urgent_schedule(entity), immediate_schedule(entity)
        return [run for name in names for run in self.chain(latest_run(user_id, name))]

    def first_sent(self, behind: RunKey, *, until: datetime) -> Run | None:
        of_schedule = (behind.user_id, behind.schedule)
        for key in sorted(self.rows, key=lambda each: each.sequence):
            if (key.user_id, key.schedule) != of_schedule or key.sequence <= behind.sequence:
                continue
            if key in self.unreadable:
                raise _of_run(key)
            if self.rows[key].was_sent_up_to(until):
                return self.rows[key]
        return None

    def of_user(self, user_id: str) -> Iterator[Run | UnreadableRow]:
        found = (run for run in self.rows.values() if run.key.user_id == user_id)
        return iter([self._as_read(run) for run in found])

    def _as_read(self, run: Run) -> Run | UnreadableRow:
        return _of_run(run.key) if run.key in self.unreadable else run

    def page(
        self, user_id: str, *, schedule: str = "", before: str = "", limit: int
    ) -> tuple[Sequence[Run], str]:
        rows = {
            run_sort_key(key): self._as_read(run)
            for key, run in self.rows.items()
            if key.user_id == user_id and schedule in {"", key.schedule}
        }
        places = [each for each in sorted(rows, reverse=True) if not before or each < before]
        runs = [rows[each] for each in places[:limit]]
        return list(readable(runs)), places[limit - 1] if len(places) > limit else ""

    def of_batch(self, slot: datetime) -> Iterator[BatchRun | UnreadableRow]:
        """Of what the index holds, nothing can be missing but the number of the run."""
        return (_batch_run(run) for run in list(self.rows.values()) if run.slot == slot)

    def swap_together(self, pairs: Sequence[tuple[Run, Run]]) -> bool:
        _within_a_transaction(len(pairs))
        _, first = pairs[0]
        if not all(_is_as_read(self.rows.get(pair[0].key), *pair) for pair in pairs):
            current = self.rows.get(first.key)
            return current is not None and current.is_claimed_like(first)
        self.rows |= {after.key: after for _, after in pairs}
        return True

    def overdue(self, partition: int, at: datetime) -> Iterator[Run | UnreadableRow]:
        found = [
            run
            for run in self._open()
            if run.check_at <= at and shard_of(run.key.user_id, PARTITIONS) == partition
        ]
        return map(self._as_read, sorted(found, key=lambda run: run.check_at))

    def open_runs(self, partition: int) -> Iterator[tuple[RunKey, datetime]]:
        for run in self._open():
            if shard_of(run.key.user_id, PARTITIONS) == partition:
                yield run.key, run.due_at

    def _open(self) -> Sequence[Run]:
        return [run for run in self.rows.values() if run.is_open]

    def swap(self, before: Run, after: Run) -> Run:
        if after.key not in self.rows:
            raise LookupError("There is no such run.")
        if after.key in self.unreadable:
            raise _of_run(after.key)
        current = self.rows[after.key]
        if _is_as_read(current, before, after):
            self.rows[after.key] = after
            return after
        return current


@dataclass
class FakeSentRuns:
    """The port `SentRuns` over the runs of a fake. `asked`: the parts that were read, in order."""

    runs: FakeRuns
    asked: list[int] = field(default_factory=list)

    def sent_since(self, since: datetime, *, part: int, parts: int) -> Part:
        self.asked.append(part)
        found = [
            _of_run(run.key) if run.key in self.runs.unreadable else run
            for run in self.runs.rows.values()
            if crc32(run.key.user_id.encode()) % parts == part and was_sent_since(run, since)
        ]
        return Part(found, 0.5)


@dataclass
class FakeEngagements:
    """The ports `Engagements` and `EmailOutcomes` in memory."""

    rows: dict[RunKey, Engagement] = field(default_factory=dict)
    unreadable: set[RunKey] = field(default_factory=set)

    def record(self, run: Run, event: EngagementEvent, at: datetime) -> bool:
        row = self.rows.get(run.key)
        first = dict(row.first) if row else {}
        is_news = event not in first
        first[event] = min(at, first.get(event, at))
        self.rows[run.key] = Engagement(
            run.key, slot_of(run.due_at), run.locale, run.variant, run.categories, first
        )
        return is_news

    def of_runs(self, runs: Sequence[Run]) -> Mapping[RunKey, Engagement]:
        keys = {run.key for run in runs} - self.unreadable
        return {key: self.rows[key] for key in keys & self.rows.keys()}

    def of_slot(self, slot: datetime) -> Iterator[Engagement | UnreadableRow]:
        for row in self.rows.values():
            if row.slot == slot:
                is_read = row.key not in self.unreadable
                yield row if is_read else unreadable_row("engagement", run_id(row.key))


@dataclass
class FakeCategoryStats:
    """The port `CategoryStats` in memory."""

    rows: dict[tuple[str, datetime], Counter[Mark]] = field(default_factory=dict)

    def add(self, category: str, mark: Mark, sent_at: datetime) -> None:
        key = (category, sent_at.replace(minute=0, second=0, microsecond=0))
        if mark is Mark.SENT or key in self.rows:
            self.rows.setdefault(key, Counter())[mark] += 1

    def flush(self) -> None:
        """It counts at once."""

    def since(self, category: str, instant: datetime) -> CategoryCounts:
        hour = instant.replace(minute=0, second=0, microsecond=0)
        total: Counter[Mark] = Counter()
        for (name, begun), row in self.rows.items():
            if name == category and begun >= hour:
                total.update(row)
        return CategoryCounts(**{mark.value: total[mark] for mark in Mark})

    def forget(self, category: str) -> None:
        self.rows = {key: row for key, row in self.rows.items() if key[0] != category}


@dataclass
class FakeCategoryHolds:
    """The port `CategoryHolds` in memory; `names` is `HeldCategories`."""

    rows: dict[str, CategoryHold] = field(default_factory=dict)

    def active(self) -> Sequence[CategoryHold]:
        return [self.rows[name] for name in sorted(self.rows)]

    def add(self, hold: CategoryHold) -> bool:
        return self.rows.setdefault(hold.category, hold) is hold

    def release(self, category: str) -> bool:
        return self.rows.pop(category, None) is not None

    def names(self) -> Collection[str]:
        return set(self.rows)


@dataclass
class FakeWithdrawals:
    """The port `WithdrawalStore` in memory; `current` is `CurrentWithdrawals`."""

    stored: WithdrawalList = field(default_factory=WithdrawalList)

    def read(self) -> WithdrawalList:
        return self.stored

    def change(self, after: WithdrawalList) -> bool:
        if after.revision != self.stored.revision + 1:
            return False
        self.stored = after
        return True

    def current(self) -> Withdrawals:
        return self.stored.withdrawals


@dataclass
class FakeBatches:
    """The port `Batches` in memory."""

    clock: Clock
    rows: dict[datetime, Batch] = field(default_factory=dict)
    done: dict[int, datetime] = field(default_factory=dict)
    shards: dict[int, datetime] = field(default_factory=dict)
    behind: set[tuple[int, datetime]] = field(default_factory=set)

    def begin(self, slot: datetime) -> Batch:
        batch = self.get(slot)
        self.rows[slot] = replace(batch, started_at=batch.started_at or self.clock())
        return self.rows[slot]

    def cancel(self, slot: datetime) -> Batch:
        batch = self.get(slot)
        self.rows[slot] = replace(batch, cancelled_at=batch.cancelled_at or self.clock())
        return self.rows[slot]

    def get(self, slot: datetime) -> Batch:
        return self.rows.get(slot, Batch(slot))

    def latest(self, number: int) -> Sequence[Batch]:
        return [self.rows[slot] for slot in sorted(self.rows, reverse=True)[:number]]

    def announce(self, shards: int) -> None:
        self.shards.setdefault(shards, slot_of(self.clock()))

    def announced(self) -> Mapping[int, datetime]:
        return dict(self.shards)

    def checkpoints(self) -> Mapping[int, datetime]:
        return dict(self.done)

    def save_checkpoint(self, shard: int, slot: datetime) -> None:
        self.done[shard] = max(self.done.get(shard, slot), slot)

    def leave_behind(self, shard: int, slot: datetime) -> None:
        self.behind.add((shard, slot))

    def left_behind(self) -> Collection[tuple[int, datetime]]:
        return sorted(self.behind)

    def catch_up(self, shard: int, slot: datetime) -> None:
        self.behind.discard((shard, slot))


@dataclass
class FakePaceRow:
    """The row that rate limiters share; the port `QuotaStore`."""

    pace: Pace = field(default_factory=Pace)

    def set_quota(self, quota: Quota, at: datetime) -> None:
        self.pace = with_quota(self.pace, quota, at)


@dataclass
class FakeRateLimiter:
    """The ports `RateLimiter`, `PaceGauge` and `CircuitBreaker` in memory; `row` may be shared."""

    plan: PacePlan
    row: FakePaceRow = field(default_factory=FakePaceRow)

    def reserve(
        self, now: datetime, latest: datetime, *, critical: bool = False
    ) -> Permit | NoPermit:
        wanted = take(self.row.pace, self.plan, now=now, latest=latest, critical=critical)
        if isinstance(wanted, NoPermit):
            return wanted
        self.row.pace = wanted.from_(self.row.pace)
        return wanted.permits_from(wanted.at)[0]

    def outlook(self, now: datetime) -> Outlook:
        return outlook(self.row.pace, self.plan, now)

    def read(self, now: datetime) -> PaceReading:
        return read(self.row.pace, self.plan, now)

    def forecast(self, now: datetime, *, critical: bool = False) -> Permit | NoPermit:
        latest = now + longest_wait_in(self.row.pace, self.plan)
        wanted = take(self.row.pace, self.plan, now=now, latest=latest, critical=critical)
        return wanted if isinstance(wanted, NoPermit) else wanted.permits_from(wanted.at)[0]

    def trip(self, why: str, now: datetime, *, at_least: timedelta = NO_TIME) -> OpenBreaker:
        return self._set(tripped(self.row.pace.breaker, why, now, at_least=at_least))

    def trip_if_closed(self, why: str, now: datetime) -> None:
        if self.row.pace.breaker is None:
            self.trip(why, now)

    def reset(self) -> None:
        breaker = self.row.pace.breaker
        if breaker and not breaker.by_hand:
            self.close_by_hand()

    def open_by_hand(self, why: str, now: datetime) -> OpenBreaker:
        return self._set(opened_by_hand(why, now))

    def close_by_hand(self) -> None:
        self.row.pace = replace(self.row.pace, breaker=None)

    def _set(self, breaker: OpenBreaker) -> OpenBreaker:
        self.row.pace = replace(self.row.pace, breaker=breaker)
        return breaker


@dataclass
class FakeEvents:
    """The ports `Events`, `EventReader`, `DeferredEvents`, `EventHistory` and `EventTraces` in
    memory. `marks` are those of `FakeSeenMarks`, and `usage` that of `FakeImmediateUsage`, because
    an erasure deletes them too.

    `runs` and `schedules` are its guards'. What DynamoDB should delete, it has deleted at once.
    What is stamped is written a moment later: `around` may let time pass before, and others go on.
    """

    clock: Clock
    runs: FakeRuns = field(default_factory=FakeRuns)
    schedules: FakeSchedules = field(default_factory=FakeSchedules)
    rows: dict[tuple[str, str], StoredEvent | Retracted] = field(default_factory=dict)
    expires_at: dict[tuple[str, str], datetime] = field(default_factory=dict)
    reasons: dict[tuple[str, str], str] = field(default_factory=dict)
    refused: dict[tuple[str, str], datetime] = field(default_factory=dict)
    traces: dict[tuple[str, str], FoundEvent] = field(default_factory=dict)
    unreadable: set[tuple[str, str]] = field(default_factory=set)
    marks: dict[tuple[str, str], datetime] = field(default_factory=dict)
    usage: dict[str, Usage] = field(default_factory=dict)
    around: Callable[[str, Callable[[], Any]], Any] = lambda _, call: call()

    def store(
        self,
        event: Event,
        schedule: str,
        wanted: Recurrence | None = None,
        *,
        is_capped: bool = False,
    ) -> tuple[bool, StoredEvent | Retracted]:
        stored = _new(EventToStore(event, schedule, wanted, is_capped), self.clock())
        written: tuple[bool, StoredEvent | Retracted] = self.around(
            "events.write", lambda: self._put(stored)
        )
        return written

    def _put(self, stored: StoredEvent) -> tuple[bool, StoredEvent | Retracted]:
        key = (stored.event.user_id, stored.event.id)
        found = self.get(*key)
        if found:
            return False, found
        self._keep(key, stored, kept_until(stored.lasts_until, stored.schedule))
        return True, stored

    def store_together(self, placed: Sequence[EventToStore]) -> Sequence[StoredEvent] | None:
        now = self.clock()
        all_stored = [_new(each, at) for at, each in zip(_stamps(now), placed, strict=False)]
        written: Sequence[StoredEvent] | None = self.around(
            "events.write", lambda: self._put_together(all_stored)
        )
        return written

    def _put_together(self, all_stored: Sequence[StoredEvent]) -> Sequence[StoredEvent] | None:
        _within_a_transaction(len(all_stored), (stored.event for stored in all_stored))
        keys = [(stored.event.user_id, stored.event.id) for stored in all_stored]
        if any(self.get(*key) for key in keys):
            return None
        for key, stored in zip(keys, all_stored, strict=True):
            self._keep(key, stored, kept_until(stored.lasts_until, stored.schedule))
        return all_stored

    def get_many(
        self, user_id: str, event_ids: Collection[str]
    ) -> Mapping[str, StoredEvent | Retracted | UnreadableRow]:
        found: dict[str, StoredEvent | Retracted | UnreadableRow] = {}
        for event_id in event_ids:
            try:
                row = self.get(user_id, event_id)
            except UnreadableRow as unreadable:
                found[event_id] = unreadable
            else:
                if row:
                    found[event_id] = row
        return found

    def get(self, user_id: str, event_id: str) -> StoredEvent | Retracted | None:
        key = (user_id, event_id)
        if key in self.unreadable & self.rows.keys():
            raise unreadable_row("events", *key)
        row = self.rows.get(key)
        if isinstance(row, StoredEvent) and row.has_expired(self.clock()):
            return None
        return row if self._is_kept(key) else None

    def amend(self, stored: StoredEvent, event: Event) -> bool:
        key = (event.user_id, event.id)
        current = self.rows.get(key)
        if not isinstance(current, StoredEvent) or not _in_place(current, stored):
            return False
        if current.event != stored.event:
            return False
        self.rows[key] = replace(current, event=event)
        return True

    def move(
        self, stored: StoredEvent, schedule: str, guard: Guard, wanted: Recurrence | None = None
    ) -> StoredEvent | None:
        now = self.clock()
        until = max(stored.lasts_until, needed_until(wanted, now) or now)
        if guard.not_after and now > guard.not_after:
            return None
        moved: StoredEvent | None = self.around(
            "events.write",
            lambda: self._move(stored, _moved(stored, schedule, now, until), guard),
        )
        return moved

    def _move(self, stored: StoredEvent, to: StoredEvent, guard: Guard) -> StoredEvent | None:
        key = (stored.event.user_id, stored.event.id)
        _within_a_transaction(1 + guard.items)
        if not _in_place(self.rows.get(key), stored) or not self._holds(guard):
            return None
        current = self.rows[key]
        if not isinstance(current, StoredEvent) or current.lasts_until > to.lasts_until:
            return None
        self._do(guard)
        kept = replace(to, event=current.event, is_capped=current.is_capped or to.is_capped)
        self._keep(key, kept, kept_until(to.lasts_until, to.schedule))
        return to

    def move_together(
        self,
        all_stored: Sequence[StoredEvent],
        schedule: str,
        guard: Guard,
        wanted: Recurrence | None = None,
    ) -> Sequence[StoredEvent] | None:
        now = self.clock()
        if guard.not_after and now > guard.not_after:
            return None
        until = needed_until(wanted, now) or now
        moves = [
            (stored, _moved(stored, schedule, at, max(stored.lasts_until, until)))
            for at, stored in zip(_stamps(now), all_stored, strict=False)
        ]
        moved: Sequence[StoredEvent] | None = self.around(
            "events.write", lambda: self._move_together(moves, guard)
        )
        return moved

    def _move_together(
        self, moves: Sequence[tuple[StoredEvent, StoredEvent]], guard: Guard
    ) -> Sequence[StoredEvent] | None:
        _within_a_transaction(len(moves) + guard.items)
        if not all(self._may_move(*each) for each in moves) or not self._holds(guard):
            return None
        for stored, to in moves:
            self._move(stored, to, Guard())
        self._do(guard)
        return [to for _, to in moves]

    def _may_move(self, stored: StoredEvent, to: StoredEvent) -> bool:
        current = self.rows.get((stored.event.user_id, stored.event.id))
        return (
            isinstance(current, StoredEvent)
            and _in_place(current, stored)
            and current.lasts_until <= to.lasts_until
        )

    def extend_together(self, all_stored: Sequence[StoredEvent], until: datetime) -> bool:
        _within_a_transaction(len(all_stored))
        wanted = [(stored, replace(stored, lasts_until=until)) for stored in all_stored]
        return all(self._may_move(*each) for each in wanted) and all(
            self.extend(stored, until) for stored in all_stored
        )

    def cap(self, stored: StoredEvent) -> bool:
        key = (stored.event.user_id, stored.event.id)
        current = self.rows.get(key)
        if not isinstance(current, StoredEvent) or not _in_place(current, stored):
            return False
        self.rows[key] = replace(current, is_capped=True)
        return True

    def extend(self, stored: StoredEvent, until: datetime) -> bool:
        key = (stored.event.user_id, stored.event.id)
        current = self.rows.get(key)
        if not isinstance(current, StoredEvent) or not _in_place(current, stored):
            return False
        if current.lasts_until > until:
            return False
        self._keep(key, replace(current, lasts_until=until), kept_until(until, stored.schedule))
        return True

    def _holds(self, guard: Guard) -> bool:
        if any(_held(self.runs.rows[run.key]) != _held(run) for run in guard.open_runs):
            return False
        if any(key in self.runs.rows for key in guard.not_started):
            return False
        return all(
            _fixed(self.schedules.get(schedule.user_id, schedule.name)) == _fixed(schedule)
            for schedule in guard.schedules
        )

    def _do(self, guard: Guard) -> None:
        for run in guard.open_runs:
            self.runs.rows[run.key] = replace(self.runs.rows[run.key], epoch=run.epoch + 1)
        for schedule in guard.schedules:
            key = (schedule.user_id, schedule.name)
            current = self.schedules.rows[key]
            self.schedules.rows[key] = replace(current, revision=schedule.revision + 1)

    def remove(self, stored: StoredEvent, guard: Guard) -> bool:
        key = (stored.event.user_id, stored.event.id)
        _within_a_transaction(1 + guard.items)
        if not _in_place(self.rows.get(key), stored) or not self._holds(guard):
            return False
        self._do(guard)
        del self.rows[key]
        return True

    def remove_together(self, all_stored: Sequence[StoredEvent], guard: Guard) -> bool:
        _within_a_transaction(len(all_stored) + guard.items)
        keys = [(stored.event.user_id, stored.event.id) for stored in all_stored]
        in_place = (
            _in_place(self.rows.get(key), stored)
            for key, stored in zip(keys, all_stored, strict=True)
        )
        if not all(in_place) or not self._holds(guard):
            return False
        self._do(guard)
        for key in keys:
            del self.rows[key]
        return True

    def rewrite(self, change: Rewrite, guard: Guard) -> tuple[bool, StoredEvent | None]:
        now = self.clock()
        if guard.not_after and now > guard.not_after:
            return False, None
        stored = change.result(now, least=RETENTION)
        written: tuple[bool, StoredEvent | None] = self.around(
            "events.write", lambda: self._rewrite(change, stored, now, guard)
        )
        return written

    def _rewrite(
        self, change: Rewrite, stored: StoredEvent | None, now: datetime, guard: Guard
    ) -> tuple[bool, StoredEvent | None]:
        key, pointing = (change.user_id, change.event_id), change.pointing
        _within_a_transaction(bool(pointing) + change.writes_row + guard.items)
        if change.writes_row and not self._is_as_read(key, change.before):
            return False, None
        pointer_key = (change.user_id, pointing.own_id) if pointing else key
        if pointing and not self._may_point(pointer_key, pointing, change.event_id):
            return False, None
        left_out = list(change.rows_left_out(now))
        pointers = [self.get(change.user_id, row.event.id) for row, _ in left_out]
        if not all(_is_pointer_to(row, change.event_id) for row in pointers):
            return False, None
        if not self._holds(guard):
            return False, None
        self._do(guard)
        if pointing:
            pointer = Retracted(pointing.own_id, part_of=change.event_id, is_pointer=True)
            self._keep(pointer_key, pointer, now + longest_kept(RETENTION))
        for row, why in left_out:
            own_key = (change.user_id, row.event.id)
            self._keep(own_key, row, kept_until(row.lasts_until, row.schedule))
            if why:
                self.reasons[own_key] = why
        if not change.writes_row:
            return True, stored
        if stored:
            self._keep(key, stored, kept_until(stored.lasts_until, stored.schedule))
            if stored.refuses_own:
                self.refused.setdefault(key, change.refused_at(now))
        elif not change.becomes_mark:
            del self.rows[key]
        elif isinstance(change.before, StoredEvent):
            self._mark(key, change.before, now, change.mark_own_id, is_in_no_email=change.moves)
        return True, stored

    def _mark(
        self,
        key: tuple[str, str],
        was: StoredEvent | None,
        now: datetime,
        own_id: str = "",
        *,
        is_over: bool = False,
        is_in_no_email: bool = False,
    ) -> Retracted:
        schedule, stored_at = (was.schedule, was.stored_at) if was else ("", None)
        trace = Retracted(
            key[1],
            "" if is_over else schedule,
            stored_at,
            own_id,
            is_in_no_email=is_in_no_email,
            retracted_at=now,
        )
        self.traces[key] = FoundEvent(
            trace, was_schedule=schedule, was_stored_at=stored_at, retracted_at=now
        )
        self._keep(key, trace, now + RETENTION)
        return trace

    def _is_as_read(self, key: tuple[str, str], before: StoredEvent | Retracted | None) -> bool:
        current = self.get(*key)
        if isinstance(before, StoredEvent) and isinstance(current, StoredEvent):
            return _in_place(current, before) and current.event == before.event
        return current == before

    def _may_point(self, key: tuple[str, str], pointing: Pointing, part_of: str) -> bool:
        current = self.get(*key)
        if isinstance(pointing.before, StoredEvent):
            return _in_place(current, pointing.before)
        if pointing.before is None:
            return current is None
        return _is_pointer_to(current, part_of)

    def retract(
        self, user_id: str, event_id: str, *, early: bool
    ) -> Retracted | StoredEvent | None:
        found = self.get(user_id, event_id)
        if isinstance(found, Retracted):
            if found.is_pointer:
                found = replace(found, is_pointer=False)
                self.rows[user_id, event_id] = found
                self.traces[user_id, event_id] = FoundEvent(found, retracted_at=self.clock())
            elif found.own_id:
                found = replace(found, own_id="")
                self.rows[user_id, event_id] = found
                trace = self.traces[user_id, event_id]
                self.traces[user_id, event_id] = replace(trace, row=found)
            return found
        if found is None and not early:
            return None
        if found and not found.is_plain:
            return found
        key, now = (user_id, event_id), self.clock()
        was = self.rows.get(key) if self._is_kept(key) else None
        stored = was if isinstance(was, StoredEvent) else None
        return self._mark(key, stored, now, is_over=found is None)

    def find(self, user_id: str, event_id: str) -> FoundEvent | None:
        key = (user_id, event_id)
        if not self._is_kept(key):
            return None
        row = self.rows[key]
        if isinstance(row, Retracted):
            return self.traces.get(key, FoundEvent(row, was_schedule=row.schedule))
        require_readable([self._as_read(row)])
        refused_at = self.refused.get(key) if row.refuses_own else None
        return FoundEvent(row, why=self.reasons.get(key, ""), retracted_at=refused_at)

    def find_many(self, keys: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], Found]:
        found: dict[tuple[str, str], Found] = {}
        for key in keys:
            try:
                one = self.find(*key)
            except UnreadableRow as unreadable:
                found[key] = unreadable
            else:
                if one:
                    found[key] = one
        return found

    def stored_under(
        self, user_id: str, schedule: str, *, after: datetime
    ) -> Iterator[StoredEvent | UnreadableRow]:
        now = self.clock()
        for stored in self._kept(user_id, schedule, after):
            found = self._as_read(stored)
            if isinstance(found, UnreadableRow) or not found.has_expired(now):
                yield found

    def _kept(
        self, user_id: str, schedule: str, after: datetime, after_id: str = "\U0010ffff"
    ) -> list[StoredEvent]:
        """By stamp and id, so that the next page begins between two events of one instant."""
        found = self._after(user_id, schedule, (after, after_id))
        return [stored for stored in found if self._is_kept((user_id, stored.event.id))]

    def _after(self, user_id: str, schedule: str, place: tuple[datetime, str]) -> list[StoredEvent]:
        found = [
            stored
            for (owner, _), stored in self.rows.items()
            if owner == user_id
            and isinstance(stored, StoredEvent)
            and stored.schedule == schedule
            and (stored.stored_at, stored.event.id) > place
        ]
        return sorted(found, key=lambda stored: (stored.stored_at, stored.event.id))

    def _is_kept(self, key: tuple[str, str]) -> bool:
        return key in self.rows and self.expires_at[key] > self.clock()

    def _as_read(self, stored: StoredEvent) -> StoredEvent | UnreadableRow:
        key = (stored.event.user_id, stored.event.id)
        return unreadable_row("events", *key) if key in self.unreadable else stored

    def leave_out(self, stored: StoredEvent, *, for_good: bool = False) -> bool:
        key = (stored.event.user_id, stored.event.id)
        current = self.rows.get(key)
        if not isinstance(current, StoredEvent) or not _in_place(current, stored):
            return False
        if current.event != stored.event:
            return False
        place = Unsent.GIVEN_UP if for_good else Unsent.EXCLUDED
        self.rows[key] = replace(stored, schedule=place, stored_at=self.clock(), is_capped=False)
        return True

    def erase(self, user_id: str, until: datetime | None, *, after: str = "") -> str:
        if not after:
            for key, seen_at in list(self.marks.items()):
                if key[0] == user_id and (not until or seen_at <= until):
                    del self.marks[key]
            self.usage.pop(user_id, None)
        some = sorted(key for key in self.rows if key[0] == user_id and key[1] > after)[:_ERASED]
        for key in some:
            row = self.rows[key]
            if not until or (isinstance(row, StoredEvent) and row.event.counts_at <= until):
                del self.rows[key]
        return some[-1][1] if len(some) == _ERASED else ""

    def read(self, user_id: str, schedule: str, window: Window) -> Iterator[StoredEvent]:
        page = 0
        kept = iter(self._kept(user_id, schedule, window.since))
        while (stored := next(kept, None)) and stored.stored_at <= window.until:
            require_readable([self._as_read(stored)])
            yield stored
            page += _bytes_of(stored.event)
            if page > _PAGE:
                page = 0
                self.around("events.page", lambda: None)
                kept = iter(self._kept(user_id, schedule, stored.stored_at, stored.event.id))

    def exclude(self, event: Event, run: Run, why: str, *, for_good: bool = False) -> Run | None:
        key = (event.user_id, event.id)
        current = self.rows.get(key)
        if not isinstance(current, StoredEvent) or current.schedule != run.key.schedule:
            return None
        if current.event != event or current.others:
            return None
        place = Unsent.GIVEN_UP if for_good else Unsent.EXCLUDED
        after = self._take_out([(replace(current, is_capped=False), place)], run)
        if after:
            self.reasons[key] = why
        return after

    def expire(
        self, events: Sequence[StoredEvent], run: Run, *, for_good: Collection[str] = ()
    ) -> Run | None:
        _within_a_transaction(1 + len(events))
        current = [found for each in events if (found := self._still_over(each))]
        if len(current) < len(events):
            return None
        return self._take_out(
            [
                (each, Unsent.GIVEN_UP if each.event.id in for_good else Unsent.EXPIRED)
                for each in current
            ],
            run,
        )

    def withdraw(
        self, events: Sequence[StoredEvent], run: Run, *, for_good: Collection[str] = ()
    ) -> Run | None:
        _within_a_transaction(1 + len(events))
        removed: list[tuple[StoredEvent, Unsent]] = []
        for each in events:
            current = self.rows.get((each.event.user_id, each.event.id))
            if not isinstance(current, StoredEvent) or not _in_place(current, each):
                return None
            if current.event != each.event:
                return None
            place = Unsent.GIVEN_UP if each.event.id in for_good else Unsent.EXCLUDED
            without = replace(current, withdrawn_at=each.withdrawn_at, is_capped=False)
            removed.append((without, place))
        return self._take_out(removed, run)

    def _still_over(self, stored: StoredEvent) -> StoredEvent | None:
        current = self.rows.get((stored.event.user_id, stored.event.id))
        if not isinstance(current, StoredEvent) or not _in_place(current, stored):
            return None
        now = self.clock()
        has_lapsed = stored.event.has_lapsed(now) and current.event == stored.event
        return current if current.has_expired(now) or has_lapsed else None

    def _take_out(self, events: Sequence[tuple[StoredEvent, Unsent]], run: Run) -> Run | None:
        guard = Guard(open_runs=(run,))
        if not self._holds(guard):
            return None
        self._do(guard)
        for current, place in events:
            key = (current.event.user_id, current.event.id)
            self.rows[key] = replace(current, schedule=place, stored_at=self.clock())
        self.runs.rows[run.key] = replace(self.runs.rows[run.key], removed=run.removed)
        return self.runs.rows[run.key]

    def defer(self, event_ids: Sequence[str], run: Run) -> Run | None:
        for start in range(0, len(event_ids), 49):
            some = event_ids[start : start + 49]
            current = [self.rows.get((run.key.user_id, each)) for each in some]
            stored = [row for row in current if isinstance(row, StoredEvent)]
            _within_a_transaction(1 + len(some), [row.event for row in stored])
            if any(row.schedule != run.key.schedule for row in stored) or len(stored) < len(some):
                return None
            guard = Guard(open_runs=(run,))
            if not self._holds(guard):
                return None
            self._do(guard)
            for row in stored:
                key = (row.event.user_id, row.event.id)
                self.rows[key] = replace(row, stored_at=self.clock())
            run = self.runs.rows[run.key]
        return run

    def skim(self, user_id: str, schedule: str, window: Window) -> Iterator[StoredBrief]:
        return map(stored_brief_of, self.read(user_id, schedule, window))

    def load(self, user_id: str, event_ids: Collection[str]) -> Mapping[str, StoredEvent]:
        found = {}
        for each in event_ids:
            key = (user_id, each)
            row = self.rows.get(key)
            if isinstance(row, StoredEvent) and self._is_kept(key):
                require_readable([self._as_read(row)])
                found[each] = row
        return found

    def holds(
        self, user_id: str, schedule: str, *, after: datetime, until: datetime | None = None
    ) -> bool:
        kept = self._kept(user_id, schedule, after)
        return any(until is None or stored.stored_at <= until for stored in kept)

    def of_user(self, user_id: str) -> Iterator[StoredEvent | UnreadableRow]:
        schedules = {row.schedule for row in self.rows.values() if isinstance(row, StoredEvent)}
        for schedule in sorted(schedules):
            yield from map(self._as_read, self._kept(user_id, schedule, BEGINNING))

    def _keep(
        self, key: tuple[str, str], row: StoredEvent | Retracted, expires_at: datetime
    ) -> None:
        if isinstance(row, StoredEvent) and _bytes_of(row.event) > _ROW:
            raise Unavailable(f"DynamoDB takes {_ROW} bytes in one row.")
        self.rows[key] = row
        self.expires_at[key] = expires_at


_ERASED = 500
"""Events that one call of `erase` looks at."""

_ROW = 400 * 1024
_TRANSACTION = 4 * 1024 * 1024
_PAGE = 1024 * 1024
"""Bytes that DynamoDB takes in one row and one transaction, and returns in one page.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html"""


def _within_a_transaction(items: int, events: Iterable[Event] = ()) -> None:
    """https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html"""
    if items > 100:
        raise Unavailable(f"DynamoDB takes 100 items in one transaction, not {items}.")
    if sum(map(_bytes_of, events)) > _TRANSACTION:
        raise Unavailable(f"DynamoDB takes {_TRANSACTION} bytes in one transaction.")


def _bytes_of(event: Event) -> int:
    """Roughly: the texts of an event, and what is around them."""
    entity, actor = event.entity, event.actor.name if event.actor else ""
    texts = (event.id, event.excerpt, entity.title, entity.url, actor, event.data)
    return 300 + sum(len(text.encode()) for text in texts)


def _new(new: EventToStore, at: datetime) -> StoredEvent:
    """The row of a new event."""
    until = lasts_until(new.recurrence, at, least=RETENTION)
    return StoredEvent(new.event, new.schedule, at, until, is_capped=new.is_capped)


def _moved(stored: StoredEvent, schedule: str, at: datetime, until: datetime) -> StoredEvent:
    return replace(
        stored,
        schedule=schedule,
        stored_at=at,
        lasts_until=until,
        seen_at=None,
        withdrawn_at=None,
    )


def _stamps(now: datetime) -> Iterator[datetime]:
    """Of events that are written together: in their order, the hundredth is `now`."""
    return (now - timedelta(microseconds=100 - number) for number in range(1, 101))


def _revision(reader: Reader | EarlyChoices) -> object:
    return (reader.revision, reader.erased_at) if isinstance(reader, Subscriber) else reader


def _in_place(row: StoredEvent | Retracted | None, stored: StoredEvent) -> bool:
    """With the bodies, as `in_place_with_bodies` of the adapter."""
    return isinstance(row, StoredEvent) and _place(row) == _place(stored)


def _is_pointer_to(row: StoredEvent | Retracted | None, event_id: str) -> bool:
    return isinstance(row, Retracted) and row.is_pointer and row.part_of == event_id


def _place(row: StoredEvent) -> tuple[str, datetime, int]:
    return row.schedule, row.stored_at, row.revision


def _batch_run(run: Run) -> BatchRun:
    if run.status in {Status.PENDING, Status.SENDING}:
        return BatchRun(run.key, Status.PENDING, Reason.DUE)
    return BatchRun(run.key, run.status, run.reason)


def _held(run: Run | None) -> tuple[Status, Reason, int, int] | None:
    return (run.status, run.reason, run.attempt, run.epoch) if run else None


def _is_as_read(current: Run | None, before: Run, after: Run) -> bool:
    """Whether a write of `after` holds; one that only looks covers no more than `_held`."""
    if current is None or before == after:
        return _held(current) == _held(before)
    return _covered(current) == _covered(before)


def _covered(run: Run) -> tuple[object, ...]:
    return _held(run), run.check_at, run.asked_at


def _fixed(schedule: Schedule | None) -> tuple[datetime, int, int, datetime] | None:
    if schedule is None:
        return None
    return schedule.next_due_at, schedule.sequence, schedule.revision, schedule.changed_at


@dataclass
class FakeImmediateUsage:
    """The port `ImmediateUsage` in memory."""

    events: FakeEvents

    def get(self, user_id: str) -> Usage | None:
        return self.events.usage.get(user_id)

    def put(self, user_id: str, usage: Usage, *, replacing: Usage | None) -> bool:
        if self.get(user_id) != replacing:
            return False
        self.events.usage[user_id] = usage
        return True


@dataclass
class FakeSeenMarks:
    """The ports `SeenMarks` and `SeenReader` in memory."""

    events: FakeEvents
    kept_for: timedelta = field(default_factory=lambda: seen_for(RETENTION))

    def put(self, mark: SeenMark) -> None:
        key = (mark.user_id, mark.entity)
        self.events.marks[key] = max(mark.seen_at, self.events.marks.get(key, mark.seen_at))

    def remove(self, mark: SeenMark) -> None:
        key = (mark.user_id, mark.entity)
        if key in self.events.marks and self.events.marks[key] <= mark.seen_at:
            del self.events.marks[key]

    def of(self, user_id: str, entities: Collection[str]) -> Seen:
        marks = self.events.marks
        return {each: marks[user_id, each] for each in entities if (user_id, each) in marks}
