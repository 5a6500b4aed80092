"""Events in DynamoDB: one row per event. Windows are read from a local secondary index."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from pynamodb.expressions.update import Action
from pynamodb.transactions import TransactWrite

from gazette.adapters.aws.clients import Patience
from gazette.adapters.dynamodb.client import (
    LONG_READ,
    ConditionFailed,
    bind,
    decoded,
    delete_rows,
    each_decoded,
    put_or_current,
    read_each,
    read_row,
    read_rows,
    transaction,
    translated,
    written,
)
from gazette.adapters.dynamodb.event_rows import (
    CAP_KEY,
    CAPPED,
    absent,
    body_of,
    brief_in,
    end_of,
    event_or_trace_in,
    in_place,
    in_place_with_bodies,
    is_mark,
    is_pointer_to,
    no_longer_than,
    stored_key,
    trace_in,
)
from gazette.adapters.dynamodb.happenings.rewriting import rewrite
from gazette.adapters.dynamodb.runs import raise_epoch, run_sort_key
from gazette.adapters.dynamodb.schedules import raise_revision
from gazette.adapters.dynamodb.tables import EventRow, RunRow
from gazette.adapters.dynamodb.values import MICROSECOND
from gazette.domain.errors import Unavailable, UnreadableRow
from gazette.domain.happening.rewriting import Rewrite
from gazette.domain.model import Event, Retracted, StoredEvent, Window
from gazette.domain.ports.clock import Clock
from gazette.domain.ports.stores import MOST_IN_A_TRANSACTION, EventToStore, Guard
from gazette.domain.scheduling.calendar import Recurrence
from gazette.domain.scheduling.lifetime import kept_until, lasts_until, needed_until
from gazette.domain.window.briefs import StoredBrief

_ATTEMPTS = 3
_ERASED = 500
_END_OF_TIME = datetime.max.replace(tzinfo=UTC)


class DynamoEvents:
    """Implementation of the `Events` port backed by the `events` table.

    `timeout` limits one write attempt, in seconds, and must be shorter than the settle lag. The
    client does not retry writes, because each attempt needs a new time stamp. It retries reads.
    `retention` is the minimum lifetime of an event.
    """

    def __init__(
        self,
        table_name: str,
        *,
        retention: timedelta,
        timeout: float,
        clock: Clock,
    ) -> None:
        bind(EventRow, table_name)
        once = Patience(connect=timeout / 3, read=timeout * 2 / 3, attempts=1)
        self._writes = bind(EventRow, table_name, once)
        self._retention = retention
        self._clock = clock

    def store(
        self,
        event: Event,
        schedule: str,
        recurrence: Recurrence | None = None,
        *,
        is_capped: bool = False,
    ) -> tuple[bool, StoredEvent | Retracted]:
        """Store an event with one conditional PutItem, in up to three attempts."""
        new = EventToStore(event, schedule, recurrence, is_capped)
        for _ in range(_ATTEMPTS - 1):
            try:
                return self._put(new)
            except Unavailable:
                continue
        return self._put(new)

    def _put(self, new: EventToStore) -> tuple[bool, StoredEvent | Retracted]:
        now = self._clock()
        stored = self._new(new, now)
        current = put_or_current(event_row(stored, self._writes), absent(now), repeat=False)
        if current is None:
            return True, stored
        return False, decoded(current, event_or_trace_in)

    def store_together(self, new: Sequence[EventToStore]) -> Sequence[StoredEvent] | None:
        """Store events with one TransactWriteItems."""
        now = self._clock()
        all_stored = [self._new(each, at) for at, each in zip(_instants(now), new, strict=False)]
        try:
            with transaction(self._writes) as writes:
                for stored in all_stored:
                    writes.save(event_row(stored), condition=absent(now))
        except ConditionFailed:
            return None
        return all_stored

    def _new(self, new: EventToStore, at: datetime) -> StoredEvent:
        until = lasts_until(new.recurrence, at, least=self._retention)
        return StoredEvent(new.event, new.schedule, at, until, is_capped=new.is_capped)

    def get(self, user_id: str, event_id: str) -> StoredEvent | Retracted | None:
        """Read an event with one strongly consistent GetItem."""
        return self._unexpired(read_row(EventRow, user_id, event_id))

    def _unexpired(self, row: EventRow | None) -> StoredEvent | Retracted | None:
        if row is None:
            return None
        stored = decoded(row, event_or_trace_in)
        return stored if end_of(row) > self._clock() else None

    def get_many(
        self, user_id: str, event_ids: Collection[str]
    ) -> Mapping[str, StoredEvent | Retracted | UnreadableRow]:
        """Read events with one strongly consistent BatchGetItem per hundred."""
        rows = list(read_each(EventRow, [(user_id, event_id) for event_id in event_ids]))
        now = self._clock()
        return {
            row.event_id: stored
            for row, stored in zip(rows, each_decoded(rows, event_or_trace_in), strict=True)
            if isinstance(stored, UnreadableRow) or end_of(row) > now
        }

    def amend(self, stored: StoredEvent, event: Event) -> bool:
        """Update an event with one conditional UpdateItem."""
        return written(
            self._writes(event.user_id, event.id).update,
            actions=[EventRow.body.set(body_of(event))],
            condition=in_place_with_bodies(stored) & (EventRow.body == body_of(stored.event)),
        )

    def rewrite(self, change: Rewrite, guard: Guard) -> tuple[bool, StoredEvent | None]:
        """Write the row of a happening with one TransactWriteItems, or alone with one write."""
        now = self._clock()
        if guard.not_after and now > guard.not_after:
            return False, None
        return rewrite(
            change,
            model=self._writes,
            now=now,
            retention=self._retention,
            add_guard=partial(_add, guard),
            is_alone=guard.is_alone,
        )

    def move(
        self, stored: StoredEvent, schedule: str, guard: Guard, recurrence: Recurrence | None = None
    ) -> StoredEvent | None:
        """Move an event with one conditional UpdateItem.

        If the guard has more conditions, a transaction is used.
        """
        now = self._clock()
        if guard.not_after and now > guard.not_after:
            return None
        row = self._writes(stored.event.user_id, stored.event.id)
        until = max(stored.lasts_until, needed_until(recurrence, now) or now)
        actions = _moving(stored, schedule, now, until)
        condition = in_place_with_bodies(stored) & no_longer_than(until)
        try:
            if guard.is_alone:
                with translated():
                    row.update(actions=actions, condition=condition)
            else:
                with transaction(self._writes) as writes:
                    writes.update(row, actions=actions, condition=condition)
                    _add(guard, writes)
        except ConditionFailed:
            return None
        return _moved(stored, schedule, now, until)

    def move_together(
        self,
        all_stored: Sequence[StoredEvent],
        schedule: str,
        guard: Guard,
        recurrence: Recurrence | None = None,
    ) -> Sequence[StoredEvent] | None:
        """Move events with one TransactWriteItems."""
        now = self._clock()
        if guard.not_after and now > guard.not_after:
            return None
        moved: list[StoredEvent] = []
        try:
            with transaction(self._writes) as writes:
                for at, stored in zip(_instants(now), all_stored, strict=False):
                    until = max(stored.lasts_until, needed_until(recurrence, now) or now)
                    moved.append(_moved(stored, schedule, at, until))
                    writes.update(
                        self._writes(stored.event.user_id, stored.event.id),
                        actions=_moving(stored, schedule, at, until),
                        condition=in_place_with_bodies(stored) & no_longer_than(until),
                    )
                _add(guard, writes)
        except ConditionFailed:
            return None
        return moved

    def cap(self, stored: StoredEvent) -> bool:
        """Mark an event with one conditional UpdateItem."""
        return written(
            self._writes(stored.event.user_id, stored.event.id).update,
            actions=[EventRow.why.set(CAPPED)],
            condition=in_place(stored),
        )

    def extend(self, stored: StoredEvent, until: datetime) -> bool:
        """Extend the lifetime of an event with one conditional UpdateItem."""
        return written(
            self._writes(stored.event.user_id, stored.event.id).update,
            actions=_lifetime_actions(until, stored.schedule),
            condition=in_place(stored) & no_longer_than(until),
        )

    def extend_together(self, all_stored: Sequence[StoredEvent], until: datetime) -> bool:
        """Extend the lifetimes of events with one TransactWriteItems."""
        try:
            with transaction(self._writes) as writes:
                for stored in all_stored:
                    writes.update(
                        self._writes(stored.event.user_id, stored.event.id),
                        actions=_lifetime_actions(until, stored.schedule),
                        condition=in_place(stored) & no_longer_than(until),
                    )
        except ConditionFailed:
            return False
        return True

    def remove(self, stored: StoredEvent, guard: Guard) -> bool:
        """Remove an event with one conditional DeleteItem.

        If the guard has more conditions, a transaction is used.
        """
        row = self._writes(stored.event.user_id, stored.event.id)
        if guard.is_alone:
            return written(row.delete, in_place_with_bodies(stored))
        return self.remove_together([stored], guard)

    def remove_together(self, all_stored: Sequence[StoredEvent], guard: Guard) -> bool:
        """Remove events with one TransactWriteItems."""
        try:
            with transaction(self._writes) as writes:
                for stored in all_stored:
                    row = self._writes(stored.event.user_id, stored.event.id)
                    writes.delete(row, condition=in_place_with_bodies(stored))
                _add(guard, writes)
        except ConditionFailed:
            return False
        return True

    def retract(
        self, user_id: str, event_id: str, *, early: bool
    ) -> Retracted | StoredEvent | None:
        """Replace an event with a retraction marker. Costs one GetItem and one conditional PutItem
        per attempt, for up to three attempts.
        """
        for _ in range(_ATTEMPTS):
            current = read_row(EventRow, user_id, event_id)
            stored = self._unexpired(current)
            if isinstance(stored, Retracted) and stored.is_pointer:
                if retracted := self._retract_pointer(user_id, stored):
                    return retracted
                continue
            if isinstance(stored, Retracted) and not stored.own_id:
                return stored
            if isinstance(stored, Retracted):
                if marked := self._retract_marked(user_id, stored):
                    return marked
                continue
            if stored is None and not early:
                return None
            if stored and not stored.is_plain:
                return stored
            now = self._clock()
            row = self._writes(
                user_id,
                event_id,
                was=stored.schedule if stored else None,
                was_stored=current.stored if current else None,
                retracted_at=now,
                expires_at=now + self._retention,
            )
            condition = in_place_with_bodies(stored) if stored else absent(now)
            if written(row.save, condition):
                return trace_in(row)
        raise Unavailable(f"The event {event_id!r} of {user_id} kept changing; try again.")

    def _retract_marked(self, user_id: str, mark: Retracted) -> Retracted | None:
        """Let a marker also reject the body without an own id, with one conditional UpdateItem.

        Every other retracted body has a marker at its own id. Returns None if the row has changed.
        """
        is_done = written(
            self._writes(user_id, mark.id).update,
            actions=[EventRow.own_id.remove()],
            condition=EventRow.own_id == mark.own_id,
        )
        return replace(mark, own_id="") if is_done else None

    def _retract_pointer(self, user_id: str, pointer: Retracted) -> Retracted | None:
        """Store the time of a retraction in a pointer, with one conditional UpdateItem.

        Returns None if the row has changed, for example because its event was left out.
        """
        is_done = written(
            self._writes(user_id, pointer.id).update,
            actions=[EventRow.retracted_at.set(self._clock())],
            condition=is_pointer_to(pointer.part_of),
        )
        return replace(pointer, is_pointer=False) if is_done else None

    def stored_under(
        self, user_id: str, schedule: str, *, after: datetime
    ) -> Iterator[StoredEvent | UnreadableRow]:
        """Read the events of a schedule with one strongly consistent Query per megabyte."""
        with translated():
            now = self._clock()
            rows = _stored_in(EventRow, user_id, schedule, Window(after, _END_OF_TIME))
            for stored in _kept(rows, now):
                if isinstance(stored, UnreadableRow) or not stored.has_expired(now):
                    yield stored

    def erase(self, user_id: str, until: datetime | None, *, after: str = "") -> str:
        """Delete events with one strongly consistent Query per 500 events and one BatchWriteItem
        per 25 events.
        """
        with translated():
            matches = EventRow.query(
                user_id,
                EventRow.event_id > after if after else None,
                consistent_read=True,
                limit=_ERASED,
            )
            rows = list(matches)
        delete_rows(
            self._writes(row.user_id, row.event_id)
            for row in rows
            if not until or _occurred_by(until, row)
        )
        return rows[-1].event_id if len(rows) == _ERASED else ""


class DynamoEventReader:
    """Implementation of the `EventReader` and `EventHistory` ports backed by the `events` table."""

    def __init__(self, table_name: str, *, clock: Clock) -> None:
        self._rows = bind(EventRow, table_name, LONG_READ)
        self._clock = clock

    def read(self, user_id: str, schedule: str, window: Window) -> Iterator[StoredEvent]:
        """Read the events of a window with one strongly consistent Query per megabyte.

        An empty window costs no call. Rows whose TTL has passed are skipped even if DynamoDB has
        not deleted them, because the run that sent the events may no longer be stored.
        """
        if window.is_empty:
            return
        now = self._clock()
        with translated():
            for row in _stored_in(self._rows, user_id, schedule, window):
                stored = decoded(row, event_or_trace_in)
                if row.expires_at > now and isinstance(stored, StoredEvent):
                    yield stored

    def skim(self, user_id: str, schedule: str, window: Window) -> Iterator[StoredBrief]:
        """Read the briefs of a window with one strongly consistent Query per megabyte of events.

        An event is decoded only on request.
        """
        if window.is_empty:
            return
        now, rows = self._clock(), _stored_in(self._rows, user_id, schedule, window)
        undecoded: Any = rows
        undecoded._map_fn = None
        with translated():
            for raw in undecoded:
                if brief := brief_in(raw, now):
                    yield brief

    def load(self, user_id: str, event_ids: Collection[str]) -> Mapping[str, StoredEvent]:
        """Load events by id with one strongly consistent BatchGetItem per hundred."""
        now, events = self._clock(), {}
        for row in read_rows([(self._rows, (user_id, each)) for each in event_ids]):
            if isinstance(row, Unavailable):
                raise row
            if isinstance(row, EventRow) and row.expires_at > now:
                event = decoded(row, event_or_trace_in)
                if isinstance(event, StoredEvent):
                    events[event.event.id] = event
        return events

    def holds(
        self, user_id: str, schedule: str, *, after: datetime, until: datetime | None = None
    ) -> bool:
        """Return True if the window contains an event.

        Makes one strongly consistent Query for one event. One more Query follows for each event
        whose TTL has passed.
        """
        now, window = self._clock(), Window(after, until or _END_OF_TIME)
        if window.is_empty:
            return False
        with translated():
            rows = _stored_in(self._rows, user_id, schedule, window, page_size=1)
            return any(True for _ in _kept(rows, now))

    def of_user(self, user_id: str) -> Iterator[StoredEvent | UnreadableRow]:
        """Read a user's events, except retracted ones, with one strongly consistent Query per
        megabyte.
        """
        with translated():
            rows = self._rows.stored_index.query(user_id, consistent_read=True)
            yield from _kept(rows, self._clock())


def _kept(rows: Iterable[EventRow], now: datetime) -> Iterator[StoredEvent | UnreadableRow]:
    """Yield the events whose TTL has not passed, and all unreadable rows."""
    for row in rows:
        for stored in each_decoded([row], event_or_trace_in):
            if isinstance(stored, UnreadableRow) or (
                isinstance(stored, StoredEvent) and row.expires_at > now
            ):
                yield stored


def _occurred_by(until: datetime, row: EventRow) -> bool:
    """Return True if the event occurred, or the reader saw the entity of a mark, at or before
    `until`.

    The usage of the limit of immediate emails and unreadable rows count as occurred, so that an
    erasure also deletes them.
    """
    if row.event_id == CAP_KEY:
        return True
    if is_mark(row):
        return row.seen_at is None or row.seen_at <= until
    try:
        stored = decoded(row, event_or_trace_in)
    except UnreadableRow:
        return True
    return isinstance(stored, StoredEvent) and stored.event.counts_at <= until


def event_row(stored: StoredEvent, model: type[EventRow] = EventRow) -> EventRow:
    """Return the row to write when an event is first stored."""
    return model(
        user_id=stored.event.user_id,
        event_id=stored.event.id,
        stored=stored_key(stored.schedule, stored.stored_at),
        body=body_of(stored.event),
        why=CAPPED if stored.is_capped else None,
        lasts_until=stored.lasts_until,
        expires_at=kept_until(stored.lasts_until, stored.schedule),
    )


def _instants(now: datetime) -> Iterator[datetime]:
    """Return ascending storage times for the events of a transaction, a microsecond apart.

    The last storage time is `now`, because a storage time must not be later than the clock.
    """
    first = now - MOST_IN_A_TRANSACTION * MICROSECOND
    return (first + number * MICROSECOND for number in range(1, MOST_IN_A_TRANSACTION + 1))


def _moved(stored: StoredEvent, schedule: str, at: datetime, until: datetime) -> StoredEvent:
    """Return an event under a different schedule, without the reason for which it was left out."""
    return replace(
        stored,
        schedule=schedule,
        stored_at=at,
        lasts_until=until,
        seen_at=None,
        withdrawn_at=None,
    )


def _moving(stored: StoredEvent, schedule: str, at: datetime, until: datetime) -> list[Action]:
    """Return the actions that store an event under a different schedule.

    An event that was left out, and can be sent again, loses the reason. An event that is in a
    digest because of the limit of immediate emails keeps this reason.
    """
    reason: list[Action] = [EventRow.seen_at.remove()] if stored.seen_at else []
    if stored.withdrawn_at:
        reason.append(EventRow.withdrawn_at.remove())
    if stored.is_capped:
        reason.append(EventRow.why.set(CAPPED))
    place = EventRow.stored.set(stored_key(schedule, at))
    return [place, *_lifetime_actions(until, schedule), *reason]


def _lifetime_actions(until: datetime, schedule: str) -> list[Action]:
    return [
        EventRow.lasts_until.set(until),
        EventRow.expires_at.set(kept_until(until, schedule)),
    ]


def _stored_in(
    model: type[EventRow],
    user_id: str,
    schedule: str,
    window: Window,
    *,
    page_size: int | None = None,
) -> Iterable[EventRow]:
    """Query the rows that were stored after the beginning of a window, up to and including its end.

    BETWEEN includes both ends; the `!` excludes the first.
    """
    rows: Iterable[EventRow] = model.stored_index.query(
        user_id,
        EventRow.stored.between(
            f"{stored_key(schedule, window.since)}!", stored_key(schedule, window.until)
        ),
        consistent_read=True,
        page_size=page_size,
    )
    return rows


def _add(guard: Guard, writes: TransactWrite) -> None:
    for run in guard.open_runs:
        raise_epoch(run, writes)
    for schedule in guard.schedules:
        raise_revision(schedule, writes)
    for key in guard.not_started:
        writes.condition_check(
            RunRow,
            key.user_id,
            run_sort_key(key),
            condition=RunRow.user_id.does_not_exist(),
        )
