"""Changes of rows, decoded from the records of DynamoDB streams.

Images are decoded with the code that reads the tables' rows.
https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_StreamRecord.html
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

from gazette.adapters.dynamodb.client import Row, decoded
from gazette.adapters.dynamodb.feedback.statistics import engagement_in
from gazette.adapters.dynamodb.runs import run_of
from gazette.adapters.dynamodb.subscribers import reader_of
from gazette.adapters.dynamodb.tables import EngagementRow, RunRow, SubscriberRow
from gazette.domain.errors import UnreadableRow
from gazette.domain.events_out.changes import Change, EngagementChange, ReaderChange, RunChange

RowT = TypeVar("RowT", bound=Row)
ValueT = TypeVar("ValueT")

Record = Mapping[str, Any]
"""A record of a stream, as Lambda delivers it.
https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html"""


class StreamDecoder:
    """A decoder of the records of three streams, given the names of their tables."""

    def __init__(self, *, subscribers: str, runs: str, engagement: str) -> None:
        self._decoders: dict[str, Callable[[str, Mapping[str, Any], datetime], Change]] = {
            subscribers: _reader_change,
            runs: _run_change,
            engagement: _engagement_change,
        }

    def __call__(self, record: Record) -> Change:
        """Return the change in a record.

        Raises UnreadableRow if the row after the change cannot be read. Raises KeyError for a
        record of another table.
        """
        table = record["eventSourceARN"].split("/")[1]
        stream = record["dynamodb"]
        at = datetime.fromtimestamp(float(stream["ApproximateCreationDateTime"]), UTC)
        return self._decoders[table](table, stream, at)


def _reader_change(table: str, stream: Mapping[str, Any], at: datetime) -> Change:
    before = _before(stream, SubscriberRow, reader_of, table)
    return ReaderChange(before, _after(stream, SubscriberRow, reader_of, table), at)


def _run_change(table: str, stream: Mapping[str, Any], at: datetime) -> Change:
    before = _before(stream, RunRow, run_of, table)
    return RunChange(before, _after(stream, RunRow, run_of, table), at)


def _engagement_change(table: str, stream: Mapping[str, Any], at: datetime) -> Change:
    before = _before(stream, EngagementRow, engagement_in, table)
    return EngagementChange(before, _after(stream, EngagementRow, engagement_in, table), at)


def _before(
    stream: Mapping[str, Any], model: type[RowT], decode: Callable[[RowT], ValueT], table: str
) -> ValueT | UnreadableRow | None:
    """Return the row before the change, or the error if it cannot be read."""
    try:
        return _row(stream.get("OldImage"), model, decode, table)
    except UnreadableRow as err:
        return err


def _after(
    stream: Mapping[str, Any], model: type[RowT], decode: Callable[[RowT], ValueT], table: str
) -> ValueT | None:
    """Return the row after the change. Raises UnreadableRow."""
    return _row(stream.get("NewImage"), model, decode, table)


def _row(
    image: dict[str, Any] | None,
    model: type[RowT],
    decode: Callable[[RowT], ValueT],
    table: str,
) -> ValueT | None:
    """Return the row in an image; None if the row did not exist. Raises UnreadableRow."""
    if not image:
        return None
    try:
        return decoded(model.from_raw_data(image), decode)
    except UnreadableRow as err:
        # The model is not bound to a table, because this process reads no table.
        raise UnreadableRow(table, err.key, err.why) from err
