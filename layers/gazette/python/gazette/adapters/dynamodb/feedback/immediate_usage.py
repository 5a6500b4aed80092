"""The usage of the readers' limits of immediate emails, in DynamoDB (rule 28)."""

from gazette.adapters.dynamodb.client import bind, read_row, written
from gazette.adapters.dynamodb.event_rows import CAP_KEY
from gazette.adapters.dynamodb.tables import EventRow
from gazette.domain.scheduling.cap import Usage


class DynamoImmediateUsage:
    """Implementation of the `ImmediateUsage` port backed by the `events` table.

    The row has no `stored` attribute, so it has no entry in the index.
    """

    def __init__(self, table_name: str) -> None:
        bind(EventRow, table_name)

    def get(self, user_id: str) -> Usage | None:
        """Read the usage with one strongly consistent GetItem."""
        row = read_row(EventRow, user_id, CAP_KEY)
        if row is None or row.hour_free_at is None or row.day_free_at is None:
            return None
        return Usage(row.hour_free_at, row.day_free_at)

    def put(self, user_id: str, usage: Usage, *, replacing: Usage | None) -> bool:
        """Store the usage with one conditional UpdateItem.

        Functions that send email may update items of the table, but not put them.
        """
        actions = [
            EventRow.hour_free_at.set(usage.hour_free_at),
            EventRow.day_free_at.set(usage.day_free_at),
            EventRow.expires_at.set(usage.ends_at),
        ]
        unchanged = EventRow.hour_free_at.does_not_exist()
        if replacing:
            unchanged = (EventRow.hour_free_at == replacing.hour_free_at) & (
                EventRow.day_free_at == replacing.day_free_at
            )
        return written(EventRow(user_id, CAP_KEY).update, actions, unchanged)
