"""How the adapters speak to DynamoDB: bindings, conditions, errors. Rows are in tables.py."""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from typing import Any, TypeVar

from botocore.exceptions import BotoCoreError, ClientError
from botocore.session import Session, get_session
from pynamodb.attributes import Attribute
from pynamodb.constants import STRING
from pynamodb.exceptions import PynamoDBException, VerboseClientError
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action
from pynamodb.models import Model
from pynamodb.transactions import TransactWrite

from gazette.domain.errors import Unavailable, UnreadableRow

RowT = TypeVar("RowT", bound="Row")
ValueT = TypeVar("ValueT")

_PAUSES = (0.02, 0.05, 0.1, 0.2)
"""Seconds between attempts of a write that meets a transaction: those take milliseconds."""

_CONDITIONS = {"ConditionalCheckFailedException", "ConditionalCheckFailed", "TransactionConflict"}

_INSTANT = "%Y-%m-%dT%H:%M:%S.%fZ"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

MICROSECOND = timedelta(microseconds=1)
"""The unit of instants and spans that are stored as numbers."""


def instant_text(instant: datetime) -> str:
    """An instant as it is stored: UTC, microseconds, sorted by time when sorted as text."""
    return instant.astimezone(UTC).strftime(_INSTANT)


def instant_number(instant: datetime) -> int:
    """An instant that is added to where it is stored: microseconds since 1970."""
    return (instant - _EPOCH) // MICROSECOND


def numbered_instant(number: float) -> datetime:
    """The instant of a stored number. PynamoDB calls every number a float; this one is whole."""
    return _EPOCH + int(number) * MICROSECOND


class InstantAttribute(Attribute[datetime]):
    """A timezone-aware instant. PynamoDB's own UTCDateTimeAttribute would drop the `Z`."""

    attr_type = STRING

    def serialize(self, value: datetime) -> str:
        """To text in UTC."""
        return instant_text(value)

    def deserialize(self, value: str) -> datetime:
        """From text in UTC."""
        return datetime.strptime(value, _INSTANT).replace(tzinfo=UTC)


_MALFORMED = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError)
"""What decoding raises where an attribute is not what it should be."""


class Row(Model):
    """A row of which every attribute that can be decoded is set, whatever the others hold.

    PynamoDB would raise in the middle of a query, and whatever comes behind the row would never
    be seen. Attributes that the model does not have are passed over. `flaw` names one that could
    not be decoded.
    """

    flaw: str = ""

    @classmethod
    def from_raw_data(cls: type[RowT], data: dict[str, Any]) -> RowT:
        """The row, whatever it holds."""
        row = cls()
        row.deserialize(data)
        return row

    def deserialize(self, attribute_values: dict[str, dict[str, Any]]) -> None:
        """Attribute by attribute, after all at once has failed."""
        try:
            super().deserialize(attribute_values)
        except _MALFORMED:
            sound, self.flaw = self._sound_of(attribute_values)
            super().deserialize(sound)

    def _sound_of(
        self, attribute_values: dict[str, dict[str, Any]]
    ) -> tuple[dict[str, dict[str, Any]], str]:
        sound, flaw = {}, ""
        for name, attribute in self.get_attributes().items():
            if (given := attribute_values.get(attribute.attr_name)) is None:
                continue
            try:
                attribute.deserialize(attribute.get_value(given))
            except _MALFORMED:
                flaw = f"`{name}` is malformed"
            else:
                sound[attribute.attr_name] = given
        return sound, flaw

    @property
    def key(self) -> tuple[str, ...]:
        """Partition and sort key, as far as they can be read."""
        names = (self._hash_keyname, self._range_keyname)
        return tuple(str(getattr(self, name)) for name in names if name)


def decoded(
    row: RowT,
    decode: Callable[[RowT], ValueT],
    *,
    projected: bool = False,
    needs: Collection[str] = (),
) -> ValueT:
    """What `decode` makes of a row. Raises UnreadableRow, which says nothing of what is in it.

    `projected`: of an index that has only some of the attributes, so that others may be missing.
    `needs`: attributes that other kinds of rows in the table do not have, and this one must.
    """
    flaw = row.flaw
    if not projected:
        missing = (
            name
            for name, attribute in row.get_attributes().items()
            if (not attribute.null or name in needs) and getattr(row, name) is None
        )
        flaw = flaw or next((f"`{name}` is missing" for name in missing), "")
    if not flaw:
        try:
            return decode(row)
        except UnreadableRow:
            raise
        except _MALFORMED as err:
            flaw = f"decoding it fails ({type(err).__name__})"
    raise UnreadableRow(row.Meta.table_name, row.key, flaw)


def each_decoded(
    rows: Iterable[RowT], decode: Callable[[RowT], ValueT], *, projected: bool = False
) -> Iterator[ValueT | UnreadableRow]:
    """The same of many: one that cannot be read is told in its place, and the next ones follow."""
    for row in rows:
        try:
            yield decoded(row, decode, projected=projected)
        except UnreadableRow as unreadable:
            yield unreadable


def bind(
    model: type[Model],
    table_name: str,
    *,
    attempts: int = 3,
    connect_timeout: float = 0.5,
    read_timeout: float = 1.0,
    connections: int = 10,
) -> None:
    """Point `model` at a table. Times in seconds; `attempts` counts the first one.

    `connections` are kept open: if more threads than that read, some connect for each request.
    https://github.com/pynamodb/PynamoDB/blob/master/docs/settings.rst

    PynamoDB keeps settings in class state, `Meta`, and one connection per model. Therefore:

    - Each adapter binds its model when it is built, and the last binding of a process holds. Where
      two adapters bind one model with different time-outs, the one that writes is built last:
      `DynamoEvents` after `DynamoEventReader`, because each attempt to store an event needs a
      stamp of its own and must not be repeated.
    - A connection never looks at `Meta` again, so a new binding replaces it. It is not reused for
      the same table either: its client keeps the endpoint and credentials that it was made with.
    - The client is made here, because a write that carries a time stamp must not wait for it.
    - A transaction goes through the connection of one model, with the time-outs of that model.
    """
    meta: Any = model.Meta
    meta.table_name = table_name
    meta.max_retry_attempts = attempts - 1
    meta.connect_timeout_seconds = connect_timeout
    meta.read_timeout_seconds = read_timeout
    meta.max_pool_connections = connections
    model._connection = None
    connection: Any = model._get_connection().connection
    connection._local.session = _session()
    _ = connection.client


@cache
def _session() -> Session:
    """One for all bindings: each of its own would read the model of DynamoDB anew."""
    return get_session()


class TransactionInTheWay(Unavailable):
    """A single write met a transaction on the same row, and was not made."""


class ConditionFailed(Exception):
    """A conditional write found something else; `item` is the raw row where ALL_OLD was asked.

    Also for a transaction of which a condition failed, or that met another one on its way.
    """

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
        response: Any = origin.response if origin else {}
        codes = {response.get("Error", {}).get("Code")}
        codes |= {reason.get("Code") for reason in response.get("CancellationReasons", ())}
        if codes & _CONDITIONS:
            raise ConditionFailed(response.get("Item")) from err
        if "TransactionConflictException" in codes:
            raise TransactionInTheWay(f"A transaction held the row: {err}") from err
        raise Unavailable(f"DynamoDB did not do what was asked: {err}") from err


def _client_error(err: BaseException) -> ClientError | None:
    """botocore's own error, which PynamoDB wraps once or twice and strips of the row."""
    cause: BaseException | None = err
    while cause is not None:
        if isinstance(cause, ClientError) and not isinstance(cause, VerboseClientError):
            return cause
        cause = cause.__cause__ or getattr(cause, "cause", None)
    return None


def put_or_current(row: RowT, condition: Condition, *, repeat: bool = True) -> RowT | None:
    """Write the whole row if `condition` holds; else return the row that is there.

    None: written. Raises LookupError where the condition failed and there is no row.
    `repeat`: also after it met a transaction; not for what carries a stamp of its own time.
    PynamoDB's own `save` cannot ask for ALL_OLD, which is what lets a writer whose answer was
    lost recognise its own write; so it builds the request, and its connection sends it.
    """
    request = row.get_save_kwargs_from_instance(condition, "ALL_OLD")
    connection = row._get_connection().connection
    try:
        _repeated(
            lambda: connection.dispatch("PutItem", request),
            _PAUSES if repeat else (),
        )
    except ConditionFailed as found:
        if found.item is None:
            raise LookupError(f"There is no such row in {request['TableName']}.") from found
        return type(row).from_raw_data(found.item)
    return None


def update_or_current(
    row: RowT, actions: list[Action], condition: Condition
) -> tuple[bool, RowT | None]:
    """Change the row if `condition` holds; whether it did, and the row as it is now, if any.

    Not repeated where a transaction is in the way: for rows that no transaction touches.
    """
    request = row.get_update_kwargs_from_instance(actions, condition, "ALL_OLD")
    connection = row._get_connection().connection
    try:
        with translated():
            answer = connection.dispatch("UpdateItem", request | {"ReturnValues": "ALL_NEW"})
    except ConditionFailed as found:
        return False, type(row).from_raw_data(found.item) if found.item else None
    return True, type(row).from_raw_data(answer["Attributes"])


def updated_from(
    row: Model, actions: list[Action], condition: Condition
) -> Mapping[str, Any] | None:
    """Change the row if `condition` holds; what was there before of what was changed, raw.

    None: the condition did not hold. Not repeated where a transaction is in the way: for rows
    that no transaction touches.
    """
    request = row.get_update_kwargs_from_instance(actions, condition)
    connection = row._get_connection().connection
    try:
        with translated():
            answer = connection.dispatch("UpdateItem", request | {"ReturnValues": "UPDATED_OLD"})
    except ConditionFailed:
        return None
    found: Mapping[str, Any] = answer.get("Attributes", {})
    return found


def written(write: Callable[..., object], *args: Any, **named: Any) -> bool:
    """Make a conditional write of one row; False where its condition did not hold."""
    try:
        _repeated(partial(write, *args, **named), _PAUSES)
    except ConditionFailed:
        return False
    return True


def _repeated(write: Callable[[], object], pauses: tuple[float, ...]) -> None:
    """A write that meets a transaction on its row is refused, and nothing else repeats it.

    https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html
    """
    for pause in (*pauses, None):
        try:
            with translated():
                write()
        except TransactionInTheWay:
            if pause is None:
                raise
            time.sleep(pause)
        else:
            return


@contextmanager
def transaction(model: type[Model]) -> Iterator[TransactWrite]:
    """All writes inside or none. Raises ConditionFailed where a condition did not hold.

    Sent by the connection of `model`, so with its time-outs.
    """
    connection = model._get_connection().connection
    with translated(), TransactWrite(connection=connection) as writes:
        yield writes
