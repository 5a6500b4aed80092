"""Runs in DynamoDB: one row per run. All writes are conditional."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from pynamodb.expressions.condition import Condition
from pynamodb.transactions import TransactWrite

from gazette.adapters.dynamodb.client import (
    ConditionFailed,
    bind,
    decoded,
    each_decoded,
    put_or_current,
    read_each,
    read_row,
    transaction,
    translated,
)
from gazette.adapters.dynamodb.tables import RunRow
from gazette.adapters.dynamodb.values import in_years, wholes
from gazette.domain.delivery.batch import BatchRun, batch_run
from gazette.domain.delivery.run import Head, Reason, Run, Status
from gazette.domain.errors import UnreadableRow
from gazette.domain.feedback.experiment import Variant
from gazette.domain.identity import LAST_SEQUENCE, latest_run, shard_of
from gazette.domain.model import RunKey, Window
from gazette.domain.scheduling.calendar import slot_id
from gazette.domain.scheduling.chain import PAGE, back_to_end
from gazette.domain.stored import as_stored, readable

PARTITIONS = 16
"""The number of partitions of each index. With a single partition, the writes to the whole table
would be limited to one partition's rate.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html"""

_PAGE_BEHIND = 100


class DynamoRuns:
    """Implementation of the `Runs` port backed by the `runs` table.

    `retention` must be longer than the retention of events.
    """

    def __init__(self, table_name: str, *, retention: timedelta) -> None:
        bind(RunRow, table_name)
        self._retention = retention

    def create(self, run: Run) -> Run:
        """Create the run with one conditional PutItem."""
        current = put_or_current(
            run_row(run, retention=self._retention), RunRow.user_id.does_not_exist()
        )
        return run if current is None else decoded(current, run_of)

    def get(self, key: RunKey) -> Run | None:
        """Read the run with one strongly consistent GetItem."""
        row = read_row(RunRow, key.user_id, run_sort_key(key))
        return decoded(row, run_of) if row else None

    def chain(self, key: RunKey, *, holding: datetime | None = None) -> Sequence[Run]:
        """Read a schedule's runs with one strongly consistent Query.

        Further queries follow if the chain does not end within the latest sixteen runs.
        """
        with translated():
            rows = RunRow.query(
                key.user_id,
                RunRow.run.between(run_sort_key(replace(key, sequence=0)), run_sort_key(key)),
                consistent_read=True,
                scan_index_forward=False,
                page_size=PAGE,
            )
            runs = (decoded(row, run_of) for row in rows)
            return back_to_end(runs, of=key, holding=holding)

    def first_sent(self, behind: RunKey, *, until: datetime) -> Run | None:
        """Find the first sent run. Costs one strongly consistent Query per hundred runs that are
        searched.
        """
        first = run_sort_key(replace(behind, sequence=behind.sequence + 1))
        last = run_sort_key(latest_run(behind.user_id, behind.schedule))
        with translated():
            rows = RunRow.query(
                behind.user_id,
                RunRow.run.between(first, last),
                consistent_read=True,
                page_size=_PAGE_BEHIND,
            )
            runs = (decoded(row, run_of) for row in rows)
            return next((run for run in runs if run.was_sent_up_to(until)), None)

    def of_user(self, user_id: str) -> Iterator[Run | UnreadableRow]:
        """Read a user's runs with one strongly consistent Query per megabyte."""
        with translated():
            yield from each_decoded(RunRow.query(user_id, consistent_read=True), run_of)

    def of_batch(self, slot: datetime) -> Iterator[BatchRun | UnreadableRow]:
        """Read a batch's runs from 16 partitions.

        Costs one Query per partition, and one more per megabyte (about 9,000 runs).
        """
        for partition in range(PARTITIONS):
            with translated():
                rows = RunRow.batch_index.query(slot_partition(slot, partition))
                yield from each_decoded(rows, _batch_run, projected=True)

    def swap(self, before: Run, after: Run) -> Run:
        """Replace the run with one conditional PutItem."""
        current = put_or_current(run_row(after, retention=self._retention), row_as_read(before))
        return after if current is None else decoded(current, run_of)

    def swap_together(self, pairs: Sequence[tuple[Run, Run]]) -> bool:
        """Replace runs with one TransactWriteItems, and one GetItem if the transaction fails."""
        try:
            with transaction(RunRow) as writes:
                for before, after in pairs:
                    if before == after:
                        writes.condition_check(
                            RunRow,
                            before.key.user_id,
                            run_sort_key(before.key),
                            condition=run_as_read(before),
                        )
                    else:
                        row = run_row(after, retention=self._retention)
                        writes.save(row, row_as_read(before))
        except ConditionFailed:
            _, first = pairs[0]
            current = self.get(first.key)
            return current is not None and current.is_claimed_like(first)
        return True

    def overdue(self, partition: int, at: datetime) -> Iterator[Run | UnreadableRow]:
        """Read overdue runs.

        Costs one Query of the index per megabyte of keys, and one BatchGetItem per hundred runs. A
        run that DynamoDB did not process does not delay other runs. Unavailable is raised at the
        end.
        """
        with translated():
            keys = (
                (row.user_id, row.run)
                for row in RunRow.open_index.query(f"{partition:02d}", RunRow.check_at <= at)
            )
            for run in each_decoded(read_each(RunRow, keys), run_of):
                if isinstance(run, UnreadableRow) or (run.is_open and run.check_at <= at):
                    yield run

    def open_runs(self, partition: int) -> Iterator[tuple[RunKey, datetime]]:
        """Read the keys of open runs with one Query of the index per megabyte (about seven thousand
        runs).
        """
        with translated():
            rows = RunRow.open_index.query(f"{partition:02d}")
            yield from readable(each_decoded(rows, _open_run, projected=True))


def slot_partition(slot: datetime, partition: int) -> str:
    """Return the key of one of the 16 partitions of a slot."""
    return f"{slot_id(slot)}#{partition:02d}"


def run_sort_key(key: RunKey) -> str:
    """Return `schedule#sequence`, padded so that a schedule's runs sort by sequence."""
    return f"{key.schedule}#{key.sequence:010d}"


def run_row(run: Run, *, retention: timedelta) -> RunRow:
    """Return the whole row of a run."""
    partition, slot, summary = shard_of(run.key.user_id, PARTITIONS), run.slot, batch_run(run)
    return RunRow(
        user_id=run.key.user_id,
        run=run_sort_key(run.key),
        due_at=run.due_at,
        check_at=run.check_at,
        open=f"{partition:02d}" if run.is_open else None,
        batch=slot_partition(slot, partition) if slot else None,
        state=None if summary.status is Status.PENDING else f"{summary.status} {summary.reason}",
        status=run.status.value,
        reason=run.reason.value,
        attempt=run.attempt,
        refusals=run.refusals,
        epoch=run.epoch,
        uncertain=set(run.uncertain) or None,
        resent=run.resent,
        overtaken=run.overtaken or None,
        retry_at=run.retry_at,
        since=run.window.since if run.window else None,
        until=run.window.until if run.window else None,
        deadline=run.deadline,
        nonce=run.nonce or None,
        created_at=run.created_at,
        claimed_at=run.claimed_at,
        sent_at=run.sent_at,
        message_id=run.message_id or None,
        detail=run.detail or None,
        variation=run.variant.variation if run.variant.experiment else None,
        experiment=run.variant.experiment or None,
        locale=run.locale or None,
        categories=" ".join(run.categories) or None,
        newest=" ".join(run.newest) or None,
        events=run.events,
        left_out=" ".join(run.left_out) or None,
        sources=" ".join(run.sources) or None,
        asked_at=run.asked_at,
        without=" ".join(run.without) or None,
        templates=run.templates or None,
        templates_gone=run.templates_gone or None,
        head=run.head.sequence if run.head else None,
        head_sent_until=run.head.sent_until if run.head else None,
        expires_at=run.check_at + retention,
    )


def run_as_read(run: Run) -> Condition:
    """Return the condition that the status, reason, attempt and epoch of `run` have not changed."""
    unchanged: Condition = (
        (RunRow.status == run.status.value)
        & (RunRow.reason == run.reason.value)
        & (RunRow.attempt == run.attempt)
        & (RunRow.epoch == run.epoch)
    )
    return unchanged


def row_as_read(run: Run) -> Condition:
    """Return the condition that no attribute of the run has changed. Use it to replace the whole
    row.
    """
    unchanged: Condition = run_as_read(run) & (RunRow.check_at == run.check_at)
    if run.asked_at is None:
        unchanged &= RunRow.asked_at.does_not_exist()
    else:
        unchanged &= RunRow.asked_at == run.asked_at
    return unchanged


def raise_epoch(run: Run, writes: TransactWrite) -> None:
    """Increment the epoch in the transaction `writes`, so that claims with an older epoch fail."""
    writes.update(
        RunRow(run.key.user_id, run_sort_key(run.key)),
        actions=[RunRow.epoch.add(1)],
        condition=run_as_read(run),
    )


def _key(row: RunRow) -> RunKey:
    schedule, _, sequence = row.run.partition("#")
    key = RunKey(row.user_id, schedule, int(sequence))
    if run_sort_key(key) != row.run or not 0 <= key.sequence <= LAST_SEQUENCE:
        raise ValueError("not a run key")
    return key


def _open_run(row: RunRow) -> tuple[RunKey, datetime]:
    return _key(row), in_years(row.due_at)


def _batch_run(row: RunRow) -> BatchRun:
    status, _, reason = (row.state or f"{Status.PENDING} {Reason.DUE}").partition(" ")
    return BatchRun(_key(row), as_stored(Status, status), as_stored(Reason, reason))


def run_of(row: RunRow) -> Run:
    """Return the run in a complete row."""
    return Run(
        key=_key(row),
        due_at=row.due_at,
        check_at=row.check_at,
        status=as_stored(Status, row.status),
        reason=as_stored(Reason, row.reason),
        attempt=int(row.attempt),
        refusals=int(row.refusals),
        epoch=int(row.epoch),
        uncertain=wholes(row.uncertain or (), 1),
        resent=row.resent,
        overtaken=bool(row.overtaken),
        retry_at=row.retry_at,
        window=Window(row.since, row.until) if row.since and row.until else None,
        deadline=row.deadline,
        nonce=row.nonce or "",
        created_at=row.created_at,
        claimed_at=row.claimed_at,
        sent_at=row.sent_at,
        message_id=row.message_id or "",
        detail=row.detail or "",
        variant=Variant(int(row.variation or 1), row.experiment or ""),
        locale=row.locale or "",
        categories=tuple((row.categories or "").split()),
        newest=tuple((row.newest or "").split()),
        events=None if row.events is None else int(row.events),
        left_out=tuple((row.left_out or "").split()),
        sources=tuple((row.sources or "").split()),
        asked_at=row.asked_at,
        without=tuple((row.without or "").split()),
        templates=int(row.templates or 0),
        templates_gone=int(row.templates_gone or 0),
        head=_head(row),
    )


def _head(row: RunRow) -> Head | None:
    """Return the point at which a run's chain may end, if the row has one.

    This point must be older than the run. Otherwise, the chain would end too early.
    """
    if row.head is None or row.head_sent_until is None:
        return None
    if row.head >= _key(row).sequence:
        raise ValueError("its head is not older than the run")
    return Head(int(row.head), row.head_sent_until)
