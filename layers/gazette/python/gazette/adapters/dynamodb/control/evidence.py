"""The sending time of the latest email with a delivery event: one row, which feedback advances."""

from datetime import datetime, timedelta

from gazette.adapters.dynamodb.client import bind, decoded, read_row, written
from gazette.adapters.dynamodb.tables import ControlRow

_KEY = ("evidence", "email")
_COARSE = timedelta(seconds=30)


class DynamoEvidenceLog:
    """The port `EvidenceLog`: one row of the table `control`.

    A process writes only if the time is at least half a minute newer than its last write.
    """

    def __init__(self, table_name: str) -> None:
        bind(ControlRow, table_name)
        self._noted: datetime | None = None

    def record(self, sent_at: datetime) -> None:
        """One conditional UpdateItem, or none."""
        if self._noted and sent_at < self._noted + _COARSE:
            return
        written(
            ControlRow(*_KEY).update,
            actions=[ControlRow.until.set(sent_at)],
            condition=ControlRow.until.does_not_exist() | (ControlRow.until < sent_at),
        )
        self._noted = sent_at

    def latest(self) -> datetime | None:
        """One strongly consistent GetItem."""
        row = read_row(ControlRow, *_KEY)
        return decoded(row, lambda read: read.until, needs=("until",)) if row else None
