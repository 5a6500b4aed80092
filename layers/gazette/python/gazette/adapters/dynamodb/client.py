"""What all DynamoDB adapters share: table bindings, conditional writes, errors. Rows: tables.py."""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from itertools import islice
from typing import Any, Protocol, TypeVar, cast

from botocore.exceptions import BotoCoreError, ClientError
from pynamodb.attributes import Attribute
from pynamodb.constants import NULL, STRING
from pynamodb.exceptions import PynamoDBException, VerboseClientError
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action
from pynamodb.models import Model
from pynamodb.transactions import TransactWrite

from gazette.adapters.aws.clients import CONNECTIONS, Patience, client
from gazette.adapters.cached import Coalescer
from gazette.adapters.dynamodb.values import in_years
from gazette.domain.errors import Unavailable, UnreadableRow

RowT = TypeVar("RowT", bound="Row")
ValueT = TypeVar("ValueT")

_PAUSES = (0.02, 0.05, 0.1, 0.2)
"""Seconds between attempts of a write that conflicts with a transaction, which takes milliseconds,
and of a batch of which DynamoDB has left out a part. So there are five attempts in 0.37 seconds.

AWS recommends growing pauses for a batch: what is left out mostly was throttled.
https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html
"""

_KEYS_A_CALL = 100
_WRITES_A_CALL = 25

_CONDITIONS = {"ConditionalCheckFailedException", "ConditionalCheckFailed", "TransactionConflict"}

_INSTANT_CHARACTERS = len("2026-11-21T09:30:00.000000Z")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

MICROSECOND = timedelta(microseconds=1)
"""The unit of instants and spans that are stored as numbers."""


def instant_text(instant: datetime) -> str:
    """An instant as stored: UTC with microseconds, so that text order is time order."""
    return f"{instant.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def instant_number(instant: datetime) -> int:
    """An instant as a number to which DynamoDB can add: microseconds since 1970."""
    return (instant - _EPOCH) // MICROSECOND


def numbered_instant(number: float) -> datetime:
    """The instant of a stored number. PynamoDB types it as float, but it is a whole number."""
    return _EPOCH + int(number) * MICROSECOND


def read_instant(value: str) -> datetime:
    """The instant of `instant_text`. Raises ValueError for any other text.

    `strptime` would take as long as PynamoDB needs for all other attributes of an event.
    """
    if len(value) == _INSTANT_CHARACTERS and value[4:20:3] == "--T::." and value[-1] == "Z":
        return in_years(datetime.fromisoformat(value))
    raise ValueError(f"{value!r} is not an instant in UTC with microseconds")


class InstantAttribute(Attribute[datetime]):
    """A timezone-aware instant. PynamoDB's own UTCDateTimeAttribute would drop the `Z`."""

    attr_type = STRING

    def serialize(self, value: datetime) -> str:
        """To text in UTC."""
        return instant_text(value)

    def deserialize(self, value: str) -> datetime:
        """From text in UTC. Raises ValueError for a text that `instant_text` does not write."""
        return read_instant(value)


MALFORMED = (
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    OSError,
    RecursionError,
)
"""The errors that decoding a malformed attribute can raise: OSError for an instant that the
platform does not have, RecursionError for JSON that is nested too deeply."""


class Row(Model):
    """A row that can be decoded even if some of its attributes are malformed.

    PynamoDB would raise in the middle of a query, and the rows after it would never be read.
    Unknown attributes are ignored. `flaw` names an attribute that could not be decoded.
    """

    flaw: str = ""

    @classmethod
    def from_raw_data(cls: type[RowT], data: dict[str, Any]) -> RowT:
        """The row, whatever its attributes contain."""
        row = cls.__new__(cls)
        row.deserialize(data)
        return row

    def deserialize(self, attribute_values: dict[str, dict[str, Any]]) -> None:
        """Decode all attributes at once; if that fails, each by itself.

        PynamoDB would look for each attribute of the model in a row that has half of them, and
        three times: for a default, for a value, and to set it. No model has a default.
        """
        try:
            self.attribute_values = self._decoded(attribute_values)
        except MALFORMED:
            sound, self.flaw = self._sound_of(attribute_values)
            self.attribute_values = self._decoded(sound)

    def _decoded(self, given: dict[str, dict[str, Any]]) -> dict[str, Any]:
        """The values of the attributes that the model knows, by their names in Python."""
        attributes = self.get_attributes()
        return {
            name: attribute.deserialize(attribute.get_value(value))
            for stored, value in given.items()
            if (attribute := attributes.get(name := self._dynamo_to_python_attr(stored)))
            and NULL not in value
        }

    def _sound_of(
        self, attribute_values: dict[str, dict[str, Any]]
    ) -> tuple[dict[str, dict[str, Any]], str]:
        sound, flaw = {}, ""
        for name, attribute in self.get_attributes().items():
            if (given := attribute_values.get(attribute.attr_name)) is None:
                continue
            try:
                attribute.deserialize(attribute.get_value(given))
            except MALFORMED:
                flaw = f"`{name}` is malformed"
            else:
                sound[attribute.attr_name] = given
        return sound, flaw

    @classmethod
    def raw_key(cls, *key: str) -> dict[str, dict[str, str]]:
        """A key as DynamoDB wants it. All keys are text."""
        names = (cls._hash_keyname, cls._range_keyname)
        return {name: {STRING: value} for name, value in zip(names, key, strict=False) if name}

    @property
    def key(self) -> tuple[str, ...]:
        """Partition and sort key, as far as they can be decoded."""
        names = (self._hash_keyname, self._range_keyname)
        return tuple(str(getattr(self, name)) for name in names if name)


def decoded(
    row: RowT,
    decode: Callable[[RowT], ValueT],
    *,
    projected: bool = False,
    needs: Collection[str] = (),
) -> ValueT:
    """The row, decoded by `decode`. Raises UnreadableRow, whose text contains no values.

    `projected`: the row comes from an index without some of the attributes. `needs`: attributes
    that the model allows to be missing, but this kind of row must have.
    """
    flaw = row.flaw
    if not projected:
        missing = (name for name in _needed(type(row), tuple(needs)) if getattr(row, name) is None)
        flaw = flaw or next((f"`{name}` is missing" for name in missing), "")
    if not flaw:
        try:
            return decode(row)
        except UnreadableRow:
            raise
        except MALFORMED as err:
            flaw = f"decoding it fails ({type(err).__name__})"
    raise UnreadableRow(row.Meta.table_name, row.key, flaw)


@cache
def _needed(model: type[Row], needs: tuple[str, ...]) -> tuple[str, ...]:
    """The names of the attributes that a row must have, in the order of its model."""
    attributes = model.get_attributes().items()
    return tuple(name for name, each in attributes if not each.null or name in needs)


def each_decoded(
    rows: Iterable[RowT], decode: Callable[[RowT], ValueT], *, projected: bool = False
) -> Iterator[ValueT | UnreadableRow]:
    """Decode many rows. An unreadable row yields its UnreadableRow, and the next rows follow."""
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
    connections: int = CONNECTIONS,
) -> None:
    """Bind `model` to a table. Times are in seconds; `attempts` includes the first one.

    `connections` are kept open: if more threads than that read, some connect for each request.
    https://github.com/pynamodb/PynamoDB/blob/master/docs/settings.rst

    PynamoDB keeps a table's name in class state, `Meta`, and one connection per model. Therefore:

    - Each adapter binds its model when it is built, and the last binding of a process holds. Where
      two adapters bind one model with different time-outs, the one that writes is built last:
      `DynamoEvents` after `DynamoEventReader`, because each attempt to store an event needs a
      stamp of its own and must not be repeated.
    - A connection never looks at `Meta` again, so a new binding replaces it.
    - Models with the same time-outs share a client. It is made here, because a write that carries
      a time stamp must not wait for it. It does not validate what PynamoDB has built.
    - A transaction goes through the connection of one model, with the time-outs of that model.
    """
    meta: Any = model.Meta
    meta.table_name = table_name
    model._connection = None
    connection: Any = model._get_connection().connection
    connection._client = client(
        "dynamodb",
        Patience(connect_timeout, read_timeout, attempts),
        connections=connections,
        validates=False,
    )


class TransactionInTheWay(Unavailable):
    """A single write conflicted with a transaction on the same row, and was not made."""


class ConditionFailed(Exception):
    """The condition of a write did not hold. `item` is the raw row, if ALL_OLD was requested.

    Also raised for a transaction in which a condition failed, or that conflicted with another.
    """

    def __init__(self, item: dict[str, Any] | None) -> None:
        super().__init__("the condition of a write did not hold")
        self.item = item


@contextmanager
def translated() -> Iterator[None]:
    """Translate a failed condition into ConditionFailed, and any other error into Unavailable."""
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
            raise TransactionInTheWay(f"A transaction is in progress on the row: {err}") from err
        raise Unavailable(f"The request to DynamoDB failed: {err}") from err


def _client_error(err: BaseException) -> ClientError | None:
    """botocore's error, which has the row. PynamoDB wraps it once or twice and drops the row."""
    cause: BaseException | None = err
    while cause is not None:
        if isinstance(cause, ClientError) and not isinstance(cause, VerboseClientError):
            return cause
        cause = cause.__cause__ or getattr(cause, "cause", None)
    return None


RowKey = tuple[type[Row], tuple[str, ...]]
"""A model, and the partition key and sort key of one of its rows."""


class RowReader(Protocol):
    """Reads one row of any table, strongly consistent."""

    def __call__(self, model: type[RowT], *key: str) -> RowT | None:
        """Return the row, or None if there is none."""


def read_row(model: type[RowT], *key: str) -> RowT | None:
    """One strongly consistent GetItem."""
    with translated():
        try:
            hash_key, range_key = (*key, None)[:2]
            return model.get(hash_key, range_key, consistent_read=True)
        except model.DoesNotExist:
            return None


class RowsReader(Protocol):
    """Reads a few rows of any tables at once, strongly consistent."""

    def __call__(self, *keys: RowKey) -> Sequence[Row | None]:
        """Return each row, or None where there is none."""


def read_together(coalescer: Coalescer) -> RowReader:
    """Return a reader for threads: what they read at the same time is one BatchGetItem."""
    read_several = several_together(coalescer)

    def read(model: type[RowT], *key: str) -> RowT | None:
        (row,) = read_several((model, key))
        return cast("RowT | None", row)

    return read


def several_together(coalescer: Coalescer) -> RowsReader:
    """As `read_together`, and what is read with it, for several rows in one question."""

    def read(*keys: RowKey) -> Sequence[Row | None]:
        return coalescer.ask(_read_lists, keys)

    return read


def _read_lists(
    lists: Sequence[Sequence[RowKey]],
) -> Sequence[Sequence[Row | None] | Unavailable]:
    """Read the rows of all lists together; a list with a row that is left out has the error."""
    rows = iter(read_rows([key for keys in lists for key in keys]))
    answers: list[Sequence[Row | None] | Unavailable] = []
    for keys in lists:
        found = [next(rows) for _ in keys]
        failed = next((each for each in found if isinstance(each, Unavailable)), None)
        answers.append(failed or [row for row in found if not isinstance(row, Unavailable)])
    return answers


def read_rows(keys: Sequence[RowKey]) -> Sequence[Row | Unavailable | None]:
    """Read rows of any tables: one strongly consistent BatchGetItem per hundred different keys.

    The connection of the first model sends it. Keys that DynamoDB leaves out are asked for again,
    in five calls at most; in the place of one that it leaves out each time stands Unavailable.
    https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html
    """
    different = list(dict.fromkeys(keys))
    found: dict[RowKey, Row | Unavailable] = {}
    for first in range(0, len(different), _KEYS_A_CALL):
        found.update(_batch_of(different[first : first + _KEYS_A_CALL]))
    return [found.get(key) for key in keys]


def read_each(model: type[RowT], keys: Iterable[tuple[str, ...]]) -> Iterator[RowT]:
    """Yield the rows of one table that exist, in no order: a BatchGetItem as in `read_rows`.

    A key that DynamoDB leaves out each time holds up no other: Unavailable, which names the table,
    is raised behind all rows that could be read; at once if nothing of a hundred could.
    """
    left_out: Unavailable | None = None
    remaining = iter(keys)
    while some := list(dict.fromkeys(islice(remaining, _KEYS_A_CALL))):
        is_any_read = False
        for _, answer in _batch_of([(model, key) for key in some]):
            if isinstance(answer, Unavailable):
                left_out = answer
            else:
                is_any_read = True
                yield cast("RowT", answer)
        if left_out and not is_any_read:
            break
    if left_out:
        raise left_out


def _batch_of(keys: Sequence[RowKey]) -> Iterator[tuple[RowKey, Row | Unavailable]]:
    models: dict[str, type[Row]] = {model.Meta.table_name: model for model, _ in keys}
    asked: dict[str, Any] = {
        name: {
            "ConsistentRead": True,
            "Keys": [model.raw_key(*key) for model, key in keys if model is of_table],
        }
        for name, of_table in models.items()
    }
    connection = keys[0][0]._get_connection().connection
    for pause in (*_PAUSES, None):
        with translated():
            answer = connection.dispatch("BatchGetItem", {"RequestItems": asked})
        for name, items in answer.get("Responses", {}).items():
            for row in map(models[name].from_raw_data, items):
                yield (type(row), row.key), row
        asked = answer.get("UnprocessedKeys", {})
        if not asked:
            return
        if pause is not None:
            time.sleep(pause)
    for model, key in keys:
        if model.raw_key(*key) in asked.get(model.Meta.table_name, {}).get("Keys", ()):
            left_out = f"DynamoDB left out a key of {model.Meta.table_name} again and again."
            yield (model, key), Unavailable(left_out)


def delete_rows(rows: Iterable[Row]) -> None:
    """Delete rows of one table, whatever they contain: one BatchWriteItem per 25.

    Those that DynamoDB leaves out are asked for again, in five calls at most; then raises
    Unavailable, which names the table. All rows before them are deleted.
    https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchWriteItem.html
    """
    remaining = iter(rows)
    while some := list(islice(remaining, _WRITES_A_CALL)):
        _delete_batch(some)


def _delete_batch(rows: Sequence[Row]) -> None:
    name = rows[0].Meta.table_name
    connection = rows[0]._get_connection().connection
    asked: dict[str, Any] = {
        name: [{"DeleteRequest": {"Key": row.raw_key(*row._get_serialized_keys())}} for row in rows]
    }
    for pause in (*_PAUSES, None):
        with translated():
            answer = connection.dispatch("BatchWriteItem", {"RequestItems": asked})
        asked = answer.get("UnprocessedItems", {})
        if not asked:
            return
        if pause is not None:
            time.sleep(pause)
    raise Unavailable(f"DynamoDB left out rows of {name} again and again: they are not deleted.")


def put_or_current(row: RowT, condition: Condition, *, repeat: bool = True) -> RowT | None:
    """Write the whole row if `condition` holds, or else return the current row.

    None: the row was written. Raises LookupError if the condition failed and there is no row.
    `repeat`: repeat the write after a conflict with a transaction; False for a row that carries
    the time of the write. PynamoDB's `save` cannot request ALL_OLD, by which a writer recognises
    its own write if the answer was lost. So PynamoDB only builds and sends the request.
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
            raise LookupError(f"The table {request['TableName']} has no such row.") from found
        return type(row).from_raw_data(found.item)
    return None


def update_or_current(
    row: RowT, actions: list[Action], condition: Condition
) -> tuple[bool, RowT | None]:
    """Update the row if `condition` holds. Return whether it did, and the current row, if any.

    Not repeated after a conflict with a transaction: only for rows that no transaction writes.
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
    """Update the row if `condition` holds. Return the raw old values of the updated attributes.

    None: the condition did not hold. Not repeated after a conflict with a transaction: only for
    rows that no transaction writes.
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
    """Make a conditional write of one row. Return False if its condition did not hold."""
    try:
        _repeated(partial(write, *args, **named), _PAUSES)
    except ConditionFailed:
        return False
    return True


def _repeated(write: Callable[[], object], pauses: tuple[float, ...]) -> None:
    """Repeat a write that was refused because a transaction was in progress on its row.

    Neither DynamoDB nor PynamoDB repeats it.
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
    """Make all writes or none. Raises ConditionFailed if a condition did not hold.

    The connection of `model` sends it, with its time-outs.
    """
    connection = model._get_connection().connection
    with translated(), TransactWrite(connection=connection) as writes:
        yield writes
