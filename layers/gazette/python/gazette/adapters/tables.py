"""The DynamoDB tables as PynamoDB models: names of attributes, keys and indexes, nothing more.

docs/tables.md says what each table is for and what each write costs.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, TypeVar

from botocore.exceptions import BotoCoreError, ClientError
from pynamodb.attributes import (
    Attribute,
    BooleanAttribute,
    NumberAttribute,
    NumberSetAttribute,
    TTLAttribute,
    UnicodeAttribute,
)
from pynamodb.constants import STRING
from pynamodb.exceptions import PynamoDBException, VerboseClientError
from pynamodb.expressions.condition import Condition
from pynamodb.indexes import (
    AllProjection,
    GlobalSecondaryIndex,
    KeysOnlyProjection,
    LocalSecondaryIndex,
)
from pynamodb.models import Model

from gazette.domain.errors import Unavailable

RowT = TypeVar("RowT", bound=Model)

_INSTANT = "%Y-%m-%dT%H:%M:%S.%fZ"


def instant_text(instant: datetime) -> str:
    """An instant as it is stored: UTC, microseconds, sorted by time when sorted as text."""
    return instant.astimezone(UTC).strftime(_INSTANT)


class InstantAttribute(Attribute[datetime]):
    """A timezone-aware instant. PynamoDB's own UTCDateTimeAttribute would drop the `Z`."""

    attr_type = STRING

    def serialize(self, value: datetime) -> str:
        """To text in UTC."""
        return instant_text(value)

    def deserialize(self, value: str) -> datetime:
        """From text in UTC."""
        return datetime.strptime(value, _INSTANT).replace(tzinfo=UTC)


class SubscriberRow(Model):
    """Table `subscribers`, one row a subscriber."""

    class Meta:
        table_name = ""

    user_id = UnicodeAttribute(hash_key=True)
    email = UnicodeAttribute()
    name = UnicodeAttribute()
    locale = UnicodeAttribute()
    time_zone = UnicodeAttribute()
    status = UnicodeAttribute()
    changed_at = InstantAttribute()


class DueIndex(GlobalSecondaryIndex["ScheduleRow"]):
    """Sparse: holds only what may be sent. `due` is `slot#shard`."""

    class Meta:
        index_name = "due"
        projection = AllProjection()

    due = UnicodeAttribute(hash_key=True)
    user_id = UnicodeAttribute(range_key=True)


class ScheduleRow(Model):
    """Table `schedules`, one row a schedule."""

    class Meta:
        table_name = ""

    user_id = UnicodeAttribute(hash_key=True)
    name = UnicodeAttribute(range_key=True)
    hour = NumberAttribute()
    minute = NumberAttribute()
    time_zone = UnicodeAttribute()
    next_due_at = InstantAttribute()
    sequence = NumberAttribute()
    revision = NumberAttribute()
    changed_at = InstantAttribute()
    due = UnicodeAttribute(null=True)
    due_index = DueIndex()


class StoredIndex(LocalSecondaryIndex["EventRow"]):
    """Local, so that a window can be read strongly consistent."""

    class Meta:
        index_name = "stored"
        projection = AllProjection()

    user_id = UnicodeAttribute(hash_key=True)
    stored = UnicodeAttribute(range_key=True)


class EventRow(Model):
    """Table `events`. `stored` is `schedule#stored_at`; `body` is one JSON string.

    One string is read three times as fast as a map of the same content.
    """

    class Meta:
        table_name = ""

    user_id = UnicodeAttribute(hash_key=True)
    event_id = UnicodeAttribute(range_key=True)
    stored = UnicodeAttribute()
    body = UnicodeAttribute()
    expires_at = TTLAttribute()
    stored_index = StoredIndex()


class OpenIndex(GlobalSecondaryIndex["RunRow"]):
    """Sparse: runs that are not final, for the sweep. Keys only, so that only a change of
    `check_at` and the end of the run cost a write here."""

    class Meta:
        index_name = "open"
        projection = KeysOnlyProjection()

    open = UnicodeAttribute(hash_key=True)
    check_at = InstantAttribute(range_key=True)


class RunRow(Model):
    """Table `runs`. `run` is `schedule#sequence`, the sequence padded so that it sorts."""

    class Meta:
        table_name = ""

    user_id = UnicodeAttribute(hash_key=True)
    run = UnicodeAttribute(range_key=True)
    due_at = InstantAttribute()
    check_at = InstantAttribute()
    open = UnicodeAttribute(null=True)
    status = UnicodeAttribute()
    reason = UnicodeAttribute()
    attempt = NumberAttribute()
    refusals = NumberAttribute()
    epoch = NumberAttribute()
    uncertain = NumberSetAttribute(null=True)
    resent = BooleanAttribute()
    since = InstantAttribute(null=True)
    until = InstantAttribute(null=True)
    deadline = InstantAttribute(null=True)
    nonce = UnicodeAttribute(null=True)
    message_id = UnicodeAttribute(null=True)
    detail = UnicodeAttribute(null=True)
    expires_at = TTLAttribute()
    open_index = OpenIndex()


def bind(
    model: type[Model],
    table_name: str,
    *,
    attempts: int = 3,
    connect_timeout: float = 0.5,
    read_timeout: float = 1.0,
) -> None:
    """Point `model` at a table. Times in seconds; `attempts` counts the first one.

    PynamoDB keeps one connection a model and does not look at its Meta again: a new binding has
    to drop it, and the last binding of a process holds. The client is made here, because what
    takes a time stamp must not wait for it.
    """
    meta: Any = model.Meta
    meta.table_name = table_name
    meta.max_retry_attempts = attempts - 1
    meta.connect_timeout_seconds = connect_timeout
    meta.read_timeout_seconds = read_timeout
    model._connection = None
    _ = model._get_connection().connection.client


class ConditionFailed(Exception):
    """A conditional write found something else; `item` is the raw row where ALL_OLD was asked."""

    def __init__(self, item: dict[str, Any] | None) -> None:
        super().__init__("the condition of a write did not hold")
        self.item = item


@contextmanager
def translated() -> Iterator[None]:
    """A failed condition becomes ConditionFailed; whatever else goes wrong, Unavailable."""
    try:
        yield
    except (PynamoDBException, BotoCoreError, ClientError) as err:
        origin = _client_error(err)
        if origin and origin.response["Error"]["Code"] == "ConditionalCheckFailedException":
            response: Any = origin.response
            raise ConditionFailed(response.get("Item")) from err
        raise Unavailable(f"DynamoDB did not do what was asked: {err}") from err


def _client_error(err: BaseException) -> ClientError | None:
    """botocore's own error, which PynamoDB wraps once or twice and strips of the row."""
    cause: BaseException | None = err
    while cause is not None:
        if isinstance(cause, ClientError) and not isinstance(cause, VerboseClientError):
            return cause
        cause = cause.__cause__ or getattr(cause, "cause", None)
    return None


def put_or_current(row: RowT, condition: Condition) -> RowT | None:
    """Write the whole row if `condition` holds; else return the row that is there.

    None: written. Raises LookupError where the condition failed and there is no row.
    PynamoDB's own `save` cannot ask for ALL_OLD, which is what lets a writer whose answer was
    lost recognise its own write; so it builds the request, and its connection sends it.
    """
    request = row.get_save_kwargs_from_instance(condition, "ALL_OLD")
    try:
        with translated():
            row._get_connection().connection.dispatch("PutItem", request)
    except ConditionFailed as found:
        if found.item is None:
            raise LookupError(f"There is no such row in {request['TableName']}.") from found
        return type(row).from_raw_data(found.item)
    return None
