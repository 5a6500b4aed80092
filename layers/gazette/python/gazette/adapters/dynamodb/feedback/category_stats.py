"""Counts of emails, bounces and complaints by category in DynamoDB: one row per hour."""

from collections import Counter
from datetime import datetime, timedelta

from gazette.adapters.dynamodb.client import bind, translated, written
from gazette.adapters.dynamodb.tables import CategoryStatsRow
from gazette.domain.errors import Unavailable
from gazette.domain.feedback.delivery_events import Mark
from gazette.domain.feedback.reputation import SPAN, CategoryCounts

_RETENTION = SPAN + timedelta(days=2)
_COUNT = {mark: getattr(CategoryStatsRow, mark.value) for mark in Mark}


class DynamoCategoryStats:
    """The port `CategoryStats` on the table `category_stats`.

    `gathers`: emails that were sent are counted in memory until `flush`, and not by threads. All
    emails of an hour that show a category count in one row, of which DynamoDB takes a thousand
    writes a second:
    https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html
    """

    def __init__(self, table_name: str, *, gathers: bool = False) -> None:
        bind(CategoryStatsRow, table_name)
        self._gathers = gathers
        self._gathered: Counter[tuple[str, datetime]] = Counter()

    def add(self, category: str, mark: Mark, sent_at: datetime) -> None:
        """One UpdateItem, conditional except for `SENT`; none for what is gathered.

        What was gathered is written before a bounce or a complaint: it may be of the same hour.
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
        """One UpdateItem for each category and hour. What cannot be written stays gathered."""
        failed: Unavailable | None = None
        for category in {category for category, _ in self._gathered}:
            try:
                self._write(category)
            except Unavailable as err:
                failed = err
        if failed:
            raise failed

    def _write(self, category: str) -> None:
        """Write what was gathered of one category: a row that is busy holds up no other."""
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
        """What was gathered; one eventually consistent Query of at most 169 small rows."""
        self._write(category)
        with translated():
            rows = list(CategoryStatsRow.query(category, CategoryStatsRow.hour >= _hour(instant)))
        return CategoryCounts(
            sent=sum(int(row.sent or 0) for row in rows),
            bounced=sum(int(row.bounced or 0) for row in rows),
            complained=sum(int(row.complained or 0) for row in rows),
        )

    def forget(self, category: str) -> None:
        """What was gathered; one Query, and a BatchWriteItem for each 25 rows."""
        self._write(category)
        with translated(), CategoryStatsRow.batch_write() as batch:
            for row in CategoryStatsRow.query(category, consistent_read=True):
                batch.delete(row)


def _hour(instant: datetime) -> datetime:
    return instant.replace(minute=0, second=0, microsecond=0)
