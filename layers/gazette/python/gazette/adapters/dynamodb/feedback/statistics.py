"""Email statistics in DynamoDB: engagement by run, and event counts by category and hour."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from gazette.adapters.dynamodb.client import (
    bind,
    delete_rows,
    each_decoded,
    read_each,
    translated,
    updated_from,
    written,
)
from gazette.adapters.dynamodb.runs import PARTITIONS, description, slot_partition
from gazette.adapters.dynamodb.tables import CategoryStatsRow, EngagementRow
from gazette.domain.delivery.run import Run
from gazette.domain.errors import Unavailable, UnreadableRow
from gazette.domain.feedback.delivery_events import Engagement, EngagementEvent, Mark
from gazette.domain.feedback.experiment import Variant
from gazette.domain.feedback.reputation import SPAN, CategoryCounts
from gazette.domain.identity import parse_run_id, run_id, shard_of
from gazette.domain.model import RunKey
from gazette.domain.scheduling.calendar import slot_of
from gazette.domain.stored import readable

_FIRST = {event: getattr(EngagementRow, f"{event}_at") for event in EngagementEvent}
"""The attribute with the time of an email's first event, for each kind of event."""

_RETENTION = SPAN + timedelta(days=2)
_COUNT = {mark: getattr(CategoryStatsRow, mark.value) for mark in Mark}


class DynamoEngagements:
    """Implementation of the ports `Engagements` and `EmailOutcomes`, by the `engagement` table.

    Rows are stored as long as runs. `connections` is the number of threads that may read at the
    same time.
    """

    def __init__(self, table_name: str, *, retention: timedelta, connections: int = 10) -> None:
        self._rows = bind(EngagementRow, table_name, connections=connections)
        self._retention = retention

    def record(self, run: Run, event: EngagementEvent, at: datetime) -> bool:
        """Record a delivery event of an email with one conditional UpdateItem."""
        slot, first = slot_of(run.due_at), _FIRST[event]
        row = self._rows(*_key(run))
        actions = [
            first.set(at),
            EngagementRow.due_in.set(slot),
            EngagementRow.expires_at.set(slot + self._retention),
        ]
        for name, value in description(run, EngagementRow).items():
            actions.append(getattr(EngagementRow, name).set(value))
        before = updated_from(row, actions, first.does_not_exist() | (first > at))
        return before is not None and first.attr_name not in before

    def of_slot(self, slot: datetime) -> Iterator[Engagement | UnreadableRow]:
        """Read the engagement of a slot's emails from 16 partitions.

        Costs one Query per partition, and one more per megabyte (about 4,000 emails).
        """
        for partition in range(PARTITIONS):
            with translated():
                rows = self._rows.query(slot_partition(slot, partition))
                yield from each_decoded(rows, engagement_in)

    def of_runs(self, runs: Sequence[Run]) -> Mapping[RunKey, Engagement]:
        """Read the engagement of runs with one strongly consistent BatchGetItem per hundred."""
        rows = read_each(self._rows, map(_key, runs))
        return {each.key: each for each in readable(each_decoded(rows, engagement_in))}


def _key(run: Run) -> tuple[str, str]:
    """Return the key of a run's engagement row."""
    partition = shard_of(run.key.user_id, PARTITIONS)
    return slot_partition(slot_of(run.due_at), partition), run_id(run.key)


def engagement_in(row: EngagementRow) -> Engagement:
    """Return the delivery events in a row."""
    times = {event: getattr(row, first.attr_name) for event, first in _FIRST.items()}
    return Engagement(
        key=parse_run_id(row.run),
        slot=row.due_in,
        locale=row.locale or "",
        variant=Variant(int(row.variation or 1), row.experiment or ""),
        categories=tuple((row.categories or "").split()),
        first={event: at for event, at in times.items() if at is not None},
        templates=int(row.templates or 0),
    )


class DynamoCategoryStats:
    """Implementation of the `CategoryStats` port backed by the `category_stats` table.

    If `gathers` is True, sent emails are counted in memory until `flush`, in one thread. All emails
    of an hour that show a category are counted in one row, which DynamoDB limits to a thousand
    writes per second.
    https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html
    """

    def __init__(self, table_name: str, *, gathers: bool = False) -> None:
        bind(CategoryStatsRow, table_name)
        self._gathers = gathers
        self._gathered: Counter[tuple[str, datetime]] = Counter()

    def add(self, category: str, mark: Mark, sent_at: datetime) -> None:
        """Count an event with one UpdateItem, which is conditional except for `SENT`.

        Counts in memory cost no call. They are written before a bounce or a complaint is counted,
        which may be for an email of the same hour.
        """
        hour = _hour(sent_at)
        if mark is Mark.SENT:
            self._gathered[category, hour] += 1
            if not self._gathers:
                self._write(category)
            return
        self._write(category)
        row = CategoryStatsRow(category, hour)
        written(row.update, actions=[_COUNT[mark].add(1)], condition=CategoryStatsRow.sent.exists())

    def flush(self) -> None:
        """Write the counts that are in memory, with one UpdateItem per category and hour.

        Counts that cannot be written stay in memory.
        """
        failed: Unavailable | None = None
        for category in {category for category, _ in self._gathered}:
            try:
                self._write(category)
            except Unavailable as err:
                failed = err
        if failed:
            raise failed

    def _write(self, category: str) -> None:
        """Write the counts of one category. A throttled row does not delay other categories."""
        for key in [key for key in self._gathered if key[0] == category]:
            number = self._gathered.pop(key)
            actions = [
                _COUNT[Mark.SENT].add(number),
                CategoryStatsRow.expires_at.set(key[1] + _RETENTION),
            ]
            try:
                with translated():
                    CategoryStatsRow(*key).update(actions=actions)
            except Unavailable:
                self._gathered[key] += number
                raise

    def since(self, category: str, instant: datetime) -> CategoryCounts:
        """Read a category's event counts since an instant.

        Costs one UpdateItem per hour in memory, and one eventually consistent Query of at most 169
        small rows.
        """
        self._write(category)
        with translated():
            rows = list(CategoryStatsRow.query(category, CategoryStatsRow.hour >= _hour(instant)))
        return CategoryCounts(
            sent=sum(int(row.sent or 0) for row in rows),
            bounced=sum(int(row.bounced or 0) for row in rows),
            complained=sum(int(row.complained or 0) for row in rows),
        )

    def forget(self, category: str) -> None:
        """Delete all event counts of a category.

        Costs one UpdateItem per hour in memory, one Query, and one BatchWriteItem per 25 rows.
        """
        self._write(category)
        with translated():
            delete_rows(CategoryStatsRow.query(category, consistent_read=True))


def _hour(instant: datetime) -> datetime:
    return instant.replace(minute=0, second=0, microsecond=0)
