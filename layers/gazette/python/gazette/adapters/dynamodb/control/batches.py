"""Batches in DynamoDB, and the progress of fan-out in each shard."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta

from pynamodb.expressions.update import Action

from gazette.adapters.dynamodb.client import (
    RowReader,
    bind,
    decoded,
    read_row,
    translated,
    written,
)
from gazette.adapters.dynamodb.tables import ControlRow
from gazette.domain.delivery.batch import Batch
from gazette.domain.ports.clock import Clock
from gazette.domain.scheduling.calendar import slot_id, slot_of

_BATCH = "batch"
_CHECKPOINT = "checkpoint"
_SHARDS = "shards"
_BEHIND = "behind"
_DIGITS = 3


class DynamoBatches:
    """Implementation of the `Batches` port backed by the `control` table.

    Batches are stored as long as their runs.
    """

    def __init__(
        self,
        table_name: str,
        *,
        retention: timedelta,
        clock: Clock,
        read: RowReader = read_row,
    ) -> None:
        bind(ControlRow, table_name)
        self._read = read
        self._retention = retention
        self._clock = clock

    def begin(self, slot: datetime) -> Batch:
        """Record that the batch has begun, with one UpdateItem."""
        return self._remember(
            slot, ControlRow.started_at.set(ControlRow.started_at | self._clock())
        )

    def cancel(self, slot: datetime) -> Batch:
        """Record that the batch is cancelled, with one UpdateItem."""
        return self._remember(
            slot, ControlRow.cancelled_at.set(ControlRow.cancelled_at | self._clock())
        )

    def get(self, slot: datetime) -> Batch:
        """Read the batch with one strongly consistent GetItem, or as part of a BatchGetItem."""
        row = self._read(ControlRow, _BATCH, slot_id(slot))
        return decoded(row, _batch, needs=("slot",)) if row else Batch(slot)

    def latest(self, number: int) -> Sequence[Batch]:
        """Read the latest batches with one Query."""
        with translated():
            rows = list(ControlRow.query(_BATCH, scan_index_forward=False, limit=number))
        return [decoded(row, _batch, needs=("slot",)) for row in rows]

    def announce(self, shards: int) -> None:
        """Record the number of shards with one UpdateItem."""
        since = ControlRow.since.set(ControlRow.since | slot_of(self._clock()))
        with translated():
            ControlRow(_SHARDS, f"{shards:03d}").update(actions=[since])

    def announced(self) -> Mapping[int, datetime]:
        """Read all numbers of shards that were recorded, with one strongly consistent Query."""
        return {int(row.id): row.since for row in self._numbered(_SHARDS) if row.since}

    def checkpoints(self) -> Mapping[int, datetime]:
        """Read the checkpoints of all shards with one strongly consistent Query."""
        return {int(row.id): row.slot for row in self._numbered(_CHECKPOINT) if row.slot}

    def save_checkpoint(self, shard: int, slot: datetime) -> None:
        """Advance the checkpoint of a shard with one conditional UpdateItem."""
        written(
            ControlRow(_CHECKPOINT, f"{shard:03d}").update,
            actions=[ControlRow.slot.set(slot)],
            condition=ControlRow.slot.does_not_exist() | (ControlRow.slot < slot),
        )

    def leave_behind(self, shard: int, slot: datetime) -> None:
        """Record, with one UpdateItem, that a slot has an unreadable row."""
        with translated():
            ControlRow(_BEHIND, _behind(shard, slot)).update(actions=[ControlRow.slot.set(slot)])

    def left_behind(self) -> Collection[tuple[int, datetime]]:
        """Read the slots with an unreadable row, with one strongly consistent Query."""
        with translated():
            rows = list(ControlRow.query(_BEHIND, consistent_read=True))
        shards = ((row.id.partition("#")[0], row.slot) for row in rows)
        return [(int(shard), slot) for shard, slot in shards if slot and _is_shard(shard)]

    def catch_up(self, shard: int, slot: datetime) -> None:
        """Delete, with one DeleteItem, the record that a slot has an unreadable row."""
        with translated():
            ControlRow(_BEHIND, _behind(shard, slot)).delete()

    @staticmethod
    def _numbered(kind: str) -> Sequence[ControlRow]:
        """Read rows that have numeric ids, with one strongly consistent Query. Skip rows with an
        invalid id.

        If the checkpoint of a shard is unknown, fan-out reads the shard from the beginning.
        """
        with translated():
            rows = list(ControlRow.query(kind, consistent_read=True))
        return [row for row in rows if _is_shard(row.id)]

    def _remember(self, slot: datetime, action: Action) -> Batch:
        row = ControlRow(_BATCH, slot_id(slot))
        with translated():
            row.update(
                actions=[
                    action,
                    ControlRow.slot.set(slot),
                    ControlRow.expires_at.set(self._clock() + self._retention),
                ]
            )
        return decoded(row, _batch, needs=("slot",))


def _behind(shard: int, slot: datetime) -> str:
    return f"{shard:03d}#{slot_id(slot)}"


def _is_shard(text: str) -> bool:
    """Return True if the id is a valid shard number in the format that `save_checkpoint` writes."""
    return len(text) == _DIGITS and text.isascii() and text.isdecimal()


def _batch(row: ControlRow) -> Batch:
    return Batch(row.slot, row.started_at, row.cancelled_at)
