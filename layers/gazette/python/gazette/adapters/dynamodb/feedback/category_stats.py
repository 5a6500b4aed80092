"""Counts of emails, bounces and complaints by category in DynamoDB: one row per hour."""

from datetime import datetime, timedelta

from gazette.adapters.dynamodb.client import bind, translated, written
from gazette.adapters.dynamodb.tables import CategoryStatsRow
from gazette.domain.feedback.delivery_events import Mark
from gazette.domain.feedback.reputation import SPAN, CategoryCounts

_RETENTION = SPAN + timedelta(days=2)
_COUNT = {mark: getattr(CategoryStatsRow, mark.value) for mark in Mark}


class DynamoCategoryStats:
    """The port `CategoryStats` on the table `category_stats`."""

    def __init__(self, table_name: str) -> None:
        bind(CategoryStatsRow, table_name)

    def add(self, category: str, mark: Mark, sent_at: datetime) -> None:
        """One UpdateItem, conditional except for `SENT`."""
        hour = _hour(sent_at)
        row = CategoryStatsRow(category, hour)
        if mark is Mark.SENT:
            actions = [_COUNT[mark].add(1), CategoryStatsRow.expires_at.set(hour + _RETENTION)]
            with translated():
                row.update(actions=actions)
        else:
            written(
                row.update, actions=[_COUNT[mark].add(1)], condition=CategoryStatsRow.sent.exists()
            )

    def since(self, category: str, instant: datetime) -> CategoryCounts:
        """One eventually consistent Query of at most 169 small rows."""
        with translated():
            rows = list(CategoryStatsRow.query(category, CategoryStatsRow.hour >= _hour(instant)))
        return CategoryCounts(
            sent=sum(int(row.sent or 0) for row in rows),
            bounced=sum(int(row.bounced or 0) for row in rows),
            complained=sum(int(row.complained or 0) for row in rows),
        )

    def forget(self, category: str) -> None:
        """One Query, and a BatchWriteItem for each 25 rows."""
        with translated(), CategoryStatsRow.batch_write() as batch:
            for row in CategoryStatsRow.query(category, consistent_read=True):
                batch.delete(row)


def _hour(instant: datetime) -> datetime:
    return instant.replace(minute=0, second=0, microsecond=0)
