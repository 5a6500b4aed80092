"""Engagement in DynamoDB: one row per run with a delivery event."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from gazette.adapters.dynamodb.client import bind, each_decoded, translated, updated_from
from gazette.adapters.dynamodb.runs import PARTITIONS, slot_partition
from gazette.adapters.dynamodb.tables import EngagementRow
from gazette.domain.delivery.run import Run
from gazette.domain.errors import UnreadableRow
from gazette.domain.feedback.delivery_events import Engagement, EngagementEvent
from gazette.domain.feedback.experiment import Variant
from gazette.domain.identity import parse_run_id, run_id, shard_of
from gazette.domain.scheduling.calendar import slot_of

_FIRST = {event: getattr(EngagementRow, f"{event}_at") for event in EngagementEvent}
"""The attribute with the first instant of each event."""


class DynamoEngagements:
    """The port `Engagements` on the table `engagement`. Rows are stored as long as runs.

    `connections`: how many threads may read at the same time.
    """

    def __init__(self, table_name: str, *, retention: timedelta, connections: int = 10) -> None:
        bind(EngagementRow, table_name, connections=connections)
        self._retention = retention

    def record(self, run: Run, event: EngagementEvent, at: datetime) -> bool:
        """One conditional UpdateItem."""
        slot, first = slot_of(run.due_at), _FIRST[event]
        partition = shard_of(run.key.user_id, PARTITIONS)
        row = EngagementRow(slot_partition(slot, partition), run_id(run.key))
        actions = [
            first.set(at),
            EngagementRow.due_in.set(slot),
            EngagementRow.expires_at.set(slot + self._retention),
        ]
        if run.locale:
            actions.append(EngagementRow.locale.set(run.locale))
        if run.categories:
            actions.append(EngagementRow.categories.set(" ".join(run.categories)))
        if run.variant.experiment:
            actions.append(EngagementRow.variation.set(run.variant.variation))
            actions.append(EngagementRow.experiment.set(run.variant.experiment))
        if run.templates:
            actions.append(EngagementRow.templates.set(run.templates))
        before = updated_from(row, actions, first.does_not_exist() | (first > at))
        return before is not None and first.attr_name not in before

    def of_slot(self, slot: datetime) -> Iterator[Engagement | UnreadableRow]:
        """Sixteen Queries, and one more per megabyte: about four thousand emails."""
        for partition in range(PARTITIONS):
            with translated():
                rows = EngagementRow.query(slot_partition(slot, partition))
                yield from each_decoded(rows, _engagement)


def _engagement(row: EngagementRow) -> Engagement:
    told = {event: getattr(row, first.attr_name) for event, first in _FIRST.items()}
    return Engagement(
        key=parse_run_id(row.run),
        slot=row.due_in,
        locale=row.locale or "",
        variant=Variant(int(row.variation or 1), row.experiment or ""),
        categories=tuple((row.categories or "").split()),
        first={event: at for event, at in told.items() if at is not None},
        templates=int(row.templates or 0),
    )
