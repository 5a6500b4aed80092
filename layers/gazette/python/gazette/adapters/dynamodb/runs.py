"""Runs in DynamoDB: one row per run. All writes are conditional."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import chain, islice, takewhile
from typing import Any

from pynamodb.expressions.condition import Condition
from pynamodb.transactions import TransactWrite

from gazette.adapters.dynamodb.client import (
    ConditionFailed,
    Row,
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
from gazette.adapters.dynamodb.values import (
    SAME,
    WORDS,
    Codec,
    Codecs,
    attributes_of,
    fields_in,
    in_years,
    wholes,
)
from gazette.domain.delivery.batch import BatchRun
from gazette.domain.delivery.run import Head, Reason, Run, Status
from gazette.domain.errors import UnreadableRow
from gazette.domain.feedback.experiment import Variant
from gazette.domain.identity import LAST_SEQUENCE, latest_run, shard_of
from gazette.domain.model import RunKey, Window
from gazette.domain.scheduling.calendar import slot_id
from gazette.domain.scheduling.chain import PAGE, back_to_end
from gazette.domain.scheduling.kinds import immediate_schedule, is_urgent, urgent_schedule
from gazette.domain.stored import as_stored, readable

PARTITIONS = 16
"""The number of partitions of each index. With a single partition, the writes to the whole table
would be limited to one partition's rate.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html"""

_PAGE_BEHIND = 100


class DynamoRuns:
    """Implementation of the ports `Runs` and `RunPages` backed by the `runs` table.

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

    def get_many(self, keys: Collection[RunKey]) -> Mapping[RunKey, Run | UnreadableRow]:
        """Read runs with one strongly consistent BatchGetItem per hundred."""
        by_row = {(key.user_id, run_sort_key(key)): key for key in keys}
        runs: dict[RunKey, Run | UnreadableRow] = {}
        for run in each_decoded(read_each(RunRow, by_row), run_of):
            if isinstance(run, UnreadableRow):
                runs[by_row[run.key[0], run.key[1]]] = run
            else:
                runs[run.key] = run
        return runs

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

    def of_thread(self, user_id: str, entity: str) -> Sequence[Run]:
        """Read the runs of both schedules with one strongly consistent Query.

        Further queries follow if the chains are not within the latest sixteen runs. The keys of
        urgent runs follow those of the usual runs.
        """
        usual = latest_run(user_id, immediate_schedule(entity))
        urgent = latest_run(user_id, urgent_schedule(entity))
        with translated():
            rows = RunRow.query(
                user_id,
                RunRow.run.between(run_sort_key(replace(usual, sequence=0)), run_sort_key(urgent)),
                consistent_read=True,
                scan_index_forward=False,
                page_size=PAGE,
            )
            page = list(islice(rows, PAGE))
            ours = list(takewhile(_is_urgent, page))
            if len(ours) == PAGE:
                return [*self.chain(urgent), *self.chain(usual)]
            rest = chain(page[len(ours) :], rows)
            return [
                *back_to_end((decoded(row, run_of) for row in ours), of=urgent),
                *back_to_end((decoded(row, run_of) for row in rest), of=usual),
            ]

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

    def page(
        self, user_id: str, *, schedule: str = "", before: str = "", limit: int
    ) -> tuple[Sequence[Run], str]:
        """Read a page of a user's runs with one strongly consistent Query."""
        first, last = f"{schedule}#", before or f"{schedule}#{LAST_SEQUENCE:010d}"
        condition = RunRow.run < before if before else None
        with translated():
            matches = RunRow.query(
                user_id,
                RunRow.run.between(first, last) if schedule else condition,
                consistent_read=True,
                scan_index_forward=False,
                limit=limit + 2,
            )
            rows = [row for row in matches if row.run != before]
        runs = list(readable(each_decoded(rows[:limit], run_of)))
        return runs, str(rows[limit - 1].run) if len(rows) > limit else ""

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


def _is_urgent(row: RunRow) -> bool:
    schedule, _, _ = row.run.partition("#")
    return is_urgent(schedule)


_DESCRIPTION: Codecs = {"locale": SAME, "categories": WORDS, "templates": SAME}

_FIELDS: Codecs = {
    **dict.fromkeys(("due_at", "check_at", "created_at", "claimed_at", "sent_at"), SAME),
    **dict.fromkeys(("retry_at", "deadline", "asked_at"), SAME),
    **dict.fromkeys(
        ("attempt", "refusals", "epoch", "events", "resent", "overtaken", "step"), SAME
    ),
    **dict.fromkeys(("nonce", "message_id", "detail", "templates_gone"), SAME),
    **dict.fromkeys(("newest", "left_out", "sources", "without"), WORDS),
    **_DESCRIPTION,
    "status": Codec(str, partial(as_stored, Status)),
    **dict.fromkeys(("reason", "removed"), Codec(str, partial(as_stored, Reason))),
    "uncertain": Codec(set, partial(wholes, least=1)),
}

_COUNTED_AS_PENDING = {Status.PENDING, Status.SENDING}
"""The statuses of runs without `state`, so that a claim does not write to the index of batches."""


def description(run: Run, model: type[Row]) -> dict[str, Any]:
    """Return the attributes that describe the email of a run."""
    return attributes_of(run, _DESCRIPTION, model) | _variant(run)


def _variant(run: Run) -> dict[str, Any]:
    variant = run.variant
    return asdict(variant) if variant.experiment else {}


def run_row(run: Run, *, retention: timedelta) -> RunRow:
    """Return the whole row of a run."""
    partition, slot = shard_of(run.key.user_id, PARTITIONS), run.slot
    return RunRow(
        run.key.user_id,
        run_sort_key(run.key),
        open=f"{partition:02d}" if run.is_open else None,
        batch=slot_partition(slot, partition) if slot else None,
        state=None if run.status in _COUNTED_AS_PENDING else f"{run.status} {run.reason}",
        since=run.window.since if run.window else None,
        until=run.window.until if run.window else None,
        head=run.head.sequence if run.head else None,
        head_sent_until=run.head.sent_until if run.head else None,
        expires_at=run.check_at + retention,
        **attributes_of(run, _FIELDS, RunRow),
        **_variant(run),
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
    """Increment the epoch in the transaction `writes`, so that claims with an older epoch fail.

    Also store why events of the run are removed.
    """
    why = [RunRow.removed.set(run.removed.value)] if run.removed else []
    writes.update(
        RunRow(run.key.user_id, run_sort_key(run.key)),
        actions=[RunRow.epoch.add(1), *why],
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
        window=Window(row.since, row.until) if row.since and row.until else None,
        variant=Variant(int(row.variation or 1), row.experiment or ""),
        head=_head(row),
        **fields_in(row, _FIELDS),
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
