"""A row with the sending time of the latest email for which a delivery event arrived."""

from datetime import datetime, timedelta

from gazette.adapters.dynamodb.client import bind, decoded, read_row, written
from gazette.adapters.dynamodb.tables import ControlRow

_KEY = ("evidence", "email")
_COARSE = timedelta(seconds=30)


class DynamoEvidenceLog:
    """Implementation of the `EvidenceLog` port backed by one row of the `control` table.

    A process writes a time only if it is at least half a minute later than the previous one that
    the process wrote.
    """

    def __init__(self, table_name: str) -> None:
        bind(ControlRow, table_name)
        self._noted: datetime | None = None

    def record(self, sent_at: datetime) -> None:
        """Advance the stored time with one conditional UpdateItem, unless no update is needed."""
        if self._noted and sent_at < self._noted + _COARSE:
            return
        written(
            ControlRow(*_KEY).update,
            actions=[ControlRow.until.set(sent_at)],
            condition=ControlRow.until.does_not_exist() | (ControlRow.until < sent_at),
        )
        self._noted = sent_at

    def latest(self) -> datetime | None:
        """Read the stored time with one strongly consistent GetItem."""
        row = read_row(ControlRow, *_KEY)
        return decoded(row, lambda read: read.until, needs=("until",)) if row else None
