"""Runs in DynamoDB: one row a run, written only under conditions."""

from collections.abc import Sequence
from datetime import timedelta

from gazette.adapters.tables import RunRow, bind, put_or_current, translated
from gazette.domain.identity import shard_of
from gazette.domain.model import RunKey, Window
from gazette.domain.run import Reason, Run, Status

_OPEN_SHARDS = 16
_PAGE = 16


class DynamoRuns:
    """The port `Runs` on the table `runs`. `retention` must be longer than that of events."""

    def __init__(self, table_name: str, *, retention: timedelta) -> None:
        bind(RunRow, table_name)
        self._retention = retention

    def create(self, run: Run) -> Run:
        """One conditional PutItem."""
        current = put_or_current(self._row(run), RunRow.user_id.does_not_exist())
        return run if current is None else _run(current)

    def chain(self, key: RunKey) -> Sequence[Run]:
        """One strongly consistent Query where one of the last sixteen runs was sent."""
        found: list[Run] = []
        with translated():
            rows = RunRow.query(
                key.user_id,
                RunRow.run.between(
                    _sort_key(key.schedule, 0), _sort_key(key.schedule, key.sequence)
                ),
                consistent_read=True,
                scan_index_forward=False,
                page_size=_PAGE,
            )
            for row in rows:
                run = _run(row)
                found.append(run)
                if run.status is Status.SENT and run.key != key:
                    break
        return found

    def swap(self, before: Run, after: Run) -> Run:
        """One conditional PutItem."""
        unchanged = (
            (RunRow.status == before.status.value)
            & (RunRow.reason == before.reason.value)
            & (RunRow.attempt == before.attempt)
            & (RunRow.epoch == before.epoch)
        )
        current = put_or_current(self._row(after), unchanged)
        return after if current is None else _run(current)

    def _row(self, run: Run) -> RunRow:
        return RunRow(
            user_id=run.key.user_id,
            run=_sort_key(run.key.schedule, run.key.sequence),
            due_at=run.due_at,
            check_at=run.check_at,
            open=None if run.status.is_final else f"{shard_of(run.key.user_id, _OPEN_SHARDS):02d}",
            status=run.status.value,
            reason=run.reason.value,
            attempt=run.attempt,
            refusals=run.refusals,
            epoch=run.epoch,
            uncertain=set(run.uncertain) or None,
            resent=run.resent,
            since=run.window.since if run.window else None,
            until=run.window.until if run.window else None,
            deadline=run.deadline,
            nonce=run.nonce or None,
            message_id=run.message_id or None,
            detail=run.detail or None,
            expires_at=run.check_at + self._retention,
        )


def _sort_key(schedule: str, sequence: int) -> str:
    return f"{schedule}#{sequence:010d}"


def _run(row: RunRow) -> Run:
    schedule, _, sequence = row.run.partition("#")
    return Run(
        key=RunKey(row.user_id, schedule, int(sequence)),
        due_at=row.due_at,
        check_at=row.check_at,
        status=Status(row.status),
        reason=Reason(row.reason),
        attempt=int(row.attempt),
        refusals=int(row.refusals),
        epoch=int(row.epoch),
        uncertain=frozenset(int(attempt) for attempt in row.uncertain or ()),
        resent=row.resent,
        window=Window(row.since, row.until) if row.since and row.until else None,
        deadline=row.deadline,
        nonce=row.nonce or "",
        message_id=row.message_id or "",
        detail=row.detail or "",
    )
