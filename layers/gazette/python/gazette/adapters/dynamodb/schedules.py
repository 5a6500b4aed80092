"""Schedules in DynamoDB, with a sparse index of due schedules."""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from itertools import islice

from pynamodb.expressions.condition import Condition
from pynamodb.transactions import TransactWrite

from gazette.adapters.dynamodb.client import (
    bind,
    decoded,
    each_decoded,
    put_or_current,
    read_each,
    read_row,
    translated,
    written,
)
from gazette.adapters.dynamodb.tables import ScheduleRow
from gazette.adapters.dynamodb.values import (
    DATE,
    DAYS,
    SAME,
    WORDS,
    Codec,
    Codecs,
    attributes_of,
    fields_in,
)
from gazette.domain.errors import UnreadableRow
from gazette.domain.identity import shard_of
from gazette.domain.model import Schedule, ScheduleState
from gazette.domain.ports.ledgers import ScheduleKey
from gazette.domain.scheduling.calendar import Recurrence, slot_id, slot_of

_PAGE = 100


class DynamoSchedules:
    """Implementation of the `Schedules` port backed by the `schedules` table.

    `shards` is the number of shards that fan-out reads.
    """

    def __init__(self, table_name: str, *, shards: int) -> None:
        bind(ScheduleRow, table_name)
        self._shards = shards

    def get(self, user_id: str, name: str) -> Schedule | None:
        """Read a schedule with one strongly consistent GetItem."""
        row = read_row(ScheduleRow, user_id, name)
        return decoded(row, _schedule) if row else None

    def get_many(self, keys: Collection[ScheduleKey]) -> Sequence[Schedule | UnreadableRow]:
        """Read schedules with one strongly consistent BatchGetItem per hundred."""
        return list(each_decoded(read_each(ScheduleRow, keys), _schedule))

    def of_user(self, user_id: str) -> Sequence[Schedule]:
        """Read a user's schedules with one strongly consistent Query."""
        with translated():
            rows = list(ScheduleRow.query(user_id, consistent_read=True))
        return [decoded(row, _schedule) for row in rows]

    def put(self, schedule: Schedule, *, replacing: Schedule | None) -> bool:
        """Write a schedule with one conditional PutItem."""
        condition = (
            ScheduleRow.user_id.does_not_exist()
            if replacing is None
            else schedule_as_read(replacing)
        )
        try:
            return put_or_current(self._row(schedule), condition) is None
        except LookupError:
            return False

    def due(self, slot: datetime, shard: int) -> Iterator[Sequence[ScheduleKey]]:
        """Read the due schedules of a shard with one Query of the index per hundred schedules."""
        with translated():
            rows = ScheduleRow.due_index.query(_due(slot, shard), page_size=_PAGE)
            while keys := [(row.user_id, row.name) for row in islice(rows, _PAGE)]:
                yield keys

    def count_due(self, slot: datetime, shard: int) -> int:
        """Count the due schedules of a shard with one Query of the index per megabyte."""
        with translated():
            return ScheduleRow.due_index.count(_due(slot, shard))

    def idle(self, segment: int, segments: int) -> Iterator[Schedule | UnreadableRow]:
        """Read the idle schedules in one segment of a parallel scan.

        Costs one Scan per megabyte, which is about four thousand schedules of any state.
        """
        with translated():
            rows = ScheduleRow.scan(
                ScheduleRow.state == ScheduleState.IDLE.value,
                segment=segment,
                total_segments=segments,
            )
            yield from each_decoded(rows, _schedule)

    def withdraw(self, schedule: Schedule) -> bool:
        """Remove a schedule from the due index with one conditional UpdateItem."""
        return written(
            ScheduleRow(schedule.user_id, schedule.name).update,
            actions=[
                ScheduleRow.due.remove(),
                ScheduleRow.state.set(ScheduleState.WITHDRAWN.value),
                ScheduleRow.revision.add(1),
            ],
            condition=schedule_as_read(schedule),
        )

    def remove(self, schedule: Schedule) -> bool:
        """Delete a schedule with one conditional DeleteItem."""
        return written(
            ScheduleRow(schedule.user_id, schedule.name).delete, schedule_as_read(schedule)
        )

    def _row(self, schedule: Schedule) -> ScheduleRow:
        shard = shard_of(schedule.user_id, self._shards)
        return ScheduleRow(
            due=_due(slot_of(schedule.next_due_at), shard) if schedule.listed else None,
            **attributes_of(schedule, _FIELDS, ScheduleRow),
            **attributes_of(schedule.recurrence, _RECURRENCE, ScheduleRow),
        )


_RECURRENCE: Codecs = {
    **dict.fromkeys(("hour", "minute", "time_zone"), SAME),
    "days": DAYS,
    "paused_until": DATE,
}

_FIELDS: Codecs = {
    **dict.fromkeys(("user_id", "name", "next_due_at", "sequence", "revision"), SAME),
    **dict.fromkeys(("changed_at", "last_due_at", "active_until"), SAME),
    **dict.fromkeys(("fetched_at", "fetched_for", "shown"), SAME),
    "state": Codec(str, ScheduleState),
    "sources": WORDS,
}


def _due(slot: datetime, shard: int) -> str:
    return f"{slot_id(slot)}#{shard:03d}"


def schedule_as_read(schedule: Schedule) -> Condition:
    """Return the condition that the next occurrence, sequence, revision and date of `schedule` have
    not changed.
    """
    unchanged: Condition = (
        (ScheduleRow.next_due_at == schedule.next_due_at)
        & (ScheduleRow.sequence == schedule.sequence)
        & (ScheduleRow.revision == schedule.revision)
        & (ScheduleRow.changed_at == schedule.changed_at)
    )
    return unchanged


def raise_revision(schedule: Schedule, writes: TransactWrite) -> None:
    """Increment the revision in the transaction `writes`, so that writes based on earlier reads
    fail.
    """
    writes.update(
        ScheduleRow(schedule.user_id, schedule.name),
        actions=[ScheduleRow.revision.add(1)],
        condition=schedule_as_read(schedule),
    )


def _schedule(row: ScheduleRow) -> Schedule:
    recurrence = Recurrence(**fields_in(row, _RECURRENCE))
    return Schedule(recurrence=recurrence, **fields_in(row, _FIELDS))
