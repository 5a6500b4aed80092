"""Code shared by all DynamoDB adapters: table bindings, conditional writes and errors.

The row models are in tables.py.
"""

import json
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from itertools import islice
from threading import RLock
from types import new_class
from typing import Any, Final, Protocol, TypeVar, cast

from botocore.exceptions import BotoCoreError, ClientError
from pynamodb.constants import NULL, STRING
from pynamodb.exceptions import PynamoDBException, VerboseClientError
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action
from pynamodb.models import Model
from pynamodb.transactions import TransactWrite

from gazette.adapters.aws.clients import CONNECTIONS, Patience, client
from gazette.adapters.cached import Coalescer
from gazette.domain.errors import Unavailable, UnreadableRow

RowT = TypeVar("RowT", bound="Row")
ValueT = TypeVar("ValueT")

_PAUSES = (0.02, 0.05, 0.1, 0.2)
"""The pauses in seconds between the five attempts of a request, 0.37 seconds in total. They apply
to writes that conflict with a transaction and to batches that DynamoDB processed only partly. A
transaction takes milliseconds.

AWS recommends increasing pauses for a batch, because throttling is the usual cause of unprocessed
keys.
https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html
"""

_KEYS_A_CALL = 100
_WRITES_A_CALL = 25

_CONDITIONS = {"ConditionalCheckFailedException", "ConditionalCheckFailed", "TransactionConflict"}

MALFORMED = (
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    OSError,
    RecursionError,
)
"""The errors that decoding a malformed attribute can raise. OSError is raised for an instant that
the platform does not support, and RecursionError for JSON that is nested too deeply."""


class Row(Model):
    """A row that can be decoded even if some attributes are malformed.

    PynamoDB would raise in the middle of a query and never read the rows that follow. Unknown
    attributes are ignored. `flaw` names an attribute that could not be decoded.
    """

    flaw: str = ""

    @classmethod
    def from_raw_data(cls: type[RowT], data: dict[str, Any]) -> RowT:
        """Return a row from raw data, even if some attributes are malformed."""
        row = cls.__new__(cls)
        row.deserialize(data)
        return row

    def deserialize(self, attribute_values: dict[str, dict[str, Any]]) -> None:
        """Decode all attributes in one pass. If this fails, decode each attribute separately.

        For each attribute of the model, PynamoDB would search the row three times: for a default,
        for a value, and to set the value. Rows have only half of the attributes, and no model has
        defaults.
        """
        try:
            self.attribute_values = self._decoded(attribute_values)
        except MALFORMED:
            sound, self.flaw = self._sound_of(attribute_values)
            self.attribute_values = self._decoded(sound)

    def _decoded(self, stored_values: dict[str, dict[str, Any]]) -> dict[str, Any]:
        """Return the values of the model's attributes by their Python names."""
        attributes = self.get_attributes()
        return {
            name: attribute.deserialize(attribute.get_value(value))
            for stored, value in stored_values.items()
            if (attribute := attributes.get(name := self._dynamo_to_python_attr(stored)))
            and NULL not in value
        }

    def _sound_of(
        self, attribute_values: dict[str, dict[str, Any]]
    ) -> tuple[dict[str, dict[str, Any]], str]:
        sound, flaw = {}, ""
        for name, attribute in self.get_attributes().items():
            if (value := attribute_values.get(attribute.attr_name)) is None:
                continue
            try:
                attribute.deserialize(attribute.get_value(value))
            except MALFORMED:
                flaw = f"`{name}` is malformed"
            else:
                sound[attribute.attr_name] = value
        return sound, flaw

    @classmethod
    def raw_key(cls, *key: str) -> dict[str, dict[str, str]]:
        """Return a key in DynamoDB's format. All keys are text."""
        names = (cls._hash_keyname, cls._range_keyname)
        return {name: {STRING: value} for name, value in zip(names, key, strict=False) if name}

    @property
    def key(self) -> tuple[str, ...]:
        """Return the partition key and the sort key, if they can be decoded."""
        names = (self._hash_keyname, self._range_keyname)
        return tuple(str(getattr(self, name)) for name in names if name)


def decoded(
    row: RowT,
    decode: Callable[[RowT], ValueT],
    *,
    projected: bool = False,
    needs: Collection[str] = (),
) -> ValueT:
    """Convert a row into a domain value with `decode`.

    Raises UnreadableRow, whose text contains no values. `projected` is True for a row from an index
    that lacks some of the attributes. `needs` names attributes that are optional in the model but
    required in this kind of row.
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
    """Return the names of the attributes that a row must have, in the model's order."""
    attributes = model.get_attributes().items()
    return tuple(name for name, each in attributes if not each.null or name in needs)


def each_decoded(
    rows: Iterable[RowT], decode: Callable[[RowT], ValueT], *, projected: bool = False
) -> Iterator[ValueT | UnreadableRow]:
    """Decode rows. For each row that cannot be decoded, yield an UnreadableRow and continue."""
    for row in rows:
        try:
            yield decoded(row, decode, projected=projected)
        except UnreadableRow as unreadable:
            yield unreadable


STANDARD: Final = Patience(connect=0.5, read=1.0, attempts=3)
"""The patience of a model, and of each adapter that does not specify another patience."""

LONG_READ: Final = Patience(connect=0.5, read=5.0, attempts=3)
"""The patience of adapters that read or write up to a megabyte or a hundred rows per call."""

_BINDING = RLock()


def bind(
    model: type[RowT],
    table_name: str,
    patience: Patience = STANDARD,
    *,
    connections: int = CONNECTIONS,
) -> type[RowT]:
    """Bind `model` to its table, and return the class with which an adapter makes its calls.

    `connections` is the number of connections that are kept open. If more threads read at the same
    time, the additional requests each open a new connection.
    https://github.com/pynamodb/PynamoDB/blob/master/docs/settings.rst

    PynamoDB stores the table's name and the connection in the class:

    - The model itself always has the patience STANDARD. For any other patience, bind returns a
      subclass, so the order in which adapters are built does not matter.
    - A process uses one table for each model. Transactions and conditions of other adapters find
      the table's name in the model. Raises ValueError if the model is bound to another table.
    - Binding a model again changes nothing, so other threads may be using the model.
    - Equal patience means the same client. It is created here, because a write with a time stamp
      must not wait for it. It does not validate the requests, which PynamoDB builds.
    - A transaction or a batch goes through the connection of one class, with its patience.
    """
    with _BINDING:
        _connect(model, table_name, STANDARD, CONNECTIONS)
        if (patience, connections) == (STANDARD, CONNECTIONS):
            return model
        variant = _variant(model, patience, connections)
        _connect(variant, table_name, patience, connections)
        return variant


@cache
def _variant(model: type[RowT], patience: Patience, connections: int) -> type[RowT]:
    """Return a subclass of `model` for a connection of its own.

    The subclass has the model's `Meta`, and therefore its table. PynamoDB would also inherit a
    connection to the same table, so the subclass sets `_connection`.
    https://github.com/pynamodb/PynamoDB/pull/863
    """
    own = {
        "__doc__": f"{model.__name__} with {patience} and {connections} connections.",
        "__module__": model.__module__,
        "DoesNotExist": model.DoesNotExist,
        "_connection": None,
    }
    variant = new_class(model.__name__, (model,), exec_body=lambda namespace: namespace.update(own))
    return cast("type[RowT]", variant)


def _connect(model: type[Model], table_name: str, patience: Patience, connections: int) -> None:
    """Give `model` a connection with a client, unless it has this client.

    After `clients.forget`, the client is another one, and the model may get another table.
    """
    sends = client("dynamodb", patience, connections=connections, validates=False)
    for operation in _READS:
        event = f"before-parse.dynamodb.{operation}"
        sends.meta.events.register(event, _read_rows, unique_id=f"rows of {operation}")
    bound: Any = model._connection
    if bound and bound.connection._client is sends:
        if bound.table_name == table_name:
            return
        raise ValueError(
            f"{model.__name__} is bound to the table {bound.table_name!r}, so it cannot be bound "
            f"to {table_name!r}. A process uses one table for each model."
        )
    meta: Any = model.Meta
    meta.table_name = table_name
    model._connection = None
    connection: Any = model._get_connection().connection
    connection._client = sends


_READS = ("Query", "GetItem", "BatchGetItem")
_OK = 200
_BINARY = (b'"B"', b'"BS"')
"""The types of attribute values that DynamoDB sends in Base64."""


def _read_rows(
    response_dict: dict[str, Any], customized_response_dict: dict[str, Any], **_: object
) -> None:
    """Parse a response that contains rows as plain JSON, with the same result as botocore's parser.

    botocore parses each attribute value according to the service model, which takes five times as
    long as reading the JSON. Only binary values require it.
    https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_AttributeValue.html
    """
    body = response_dict["body"]
    if response_dict["status_code"] == _OK and not any(each in body for each in _BINARY):
        customized_response_dict.update(json.loads(body))
        response_dict["body"] = b"{}"


class TransactionInTheWay(Unavailable):
    """The error for a write that was rejected because of a transaction on the same row."""


class ConditionFailed(Exception):
    """The error for a write whose condition was not met.

    Also raised for a transaction if one of its conditions failed or it conflicted with another
    transaction. `item` is the raw row if ALL_OLD was requested.
    """

    def __init__(self, item: dict[str, Any] | None) -> None:
        super().__init__("the condition of a write failed")
        self.item = item


@contextmanager
def translated() -> Iterator[None]:
    """Translate a failed condition into ConditionFailed and any other error into Unavailable."""
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
    """Return the botocore error that PynamoDB wrapped. It contains the row.

    PynamoDB wraps the error once or twice, and its own errors do not contain the row.
    """
    cause: BaseException | None = err
    while cause is not None:
        if isinstance(cause, ClientError) and not isinstance(cause, VerboseClientError):
            return cause
        cause = cause.__cause__ or getattr(cause, "cause", None)
    return None


RowKey = tuple[type[Row], tuple[str, ...]]
"""A model, and the partition key and sort key of one of its rows."""


class RowReader(Protocol):
    """A function that reads one row of any table with strong consistency."""

    def __call__(self, model: type[RowT], *key: str) -> RowT | None:
        """Return the row, or None if it does not exist."""


def read_row(model: type[RowT], *key: str) -> RowT | None:
    """Read the row with one strongly consistent GetItem."""
    with translated():
        try:
            hash_key, range_key = (*key, None)[:2]
            return model.get(hash_key, range_key, consistent_read=True)
        except model.DoesNotExist:
            return None


class RowsReader(Protocol):
    """A function that reads several rows of any tables at once with strong consistency."""

    def __call__(self, *keys: RowKey) -> Sequence[Row | None]:
        """Return the rows in order, with None for each row that does not exist."""


def read_together(coalescer: Coalescer) -> RowReader:
    """Return a function that reads a row, and combines simultaneous reads of several threads into
    one BatchGetItem.
    """
    read_several = several_together(coalescer)

    def read(model: type[RowT], *key: str) -> RowT | None:
        (row,) = read_several((model, key))
        return cast("RowT | None", row)

    return read


def several_together(coalescer: Coalescer) -> RowsReader:
    """Return a function that reads several rows per call. Simultaneous reads, including those of
    `read_together`, share one BatchGetItem.
    """

    def read(*keys: RowKey) -> Sequence[Row | None]:
        return coalescer.ask(_read_lists, keys)

    return read


def _read_lists(
    lists: Sequence[Sequence[RowKey]],
) -> Sequence[Sequence[Row | None] | Unavailable]:
    """Read the rows of all lists in the same batches. Return an error for each list with an
    unprocessed row.
    """
    rows = iter(read_rows([key for keys in lists for key in keys]))
    return [_sound_or_error(list(islice(rows, len(keys)))) for keys in lists]


def _sound_or_error(
    rows: Sequence[Row | Unavailable | None],
) -> Sequence[Row | None] | Unavailable:
    failed = next((each for each in rows if isinstance(each, Unavailable)), None)
    return failed or cast("Sequence[Row | None]", rows)


def read_rows(keys: Sequence[RowKey]) -> Sequence[Row | Unavailable | None]:
    """Read rows of any tables with one strongly consistent BatchGetItem per hundred distinct keys.

    The requests use the connection of the first model. Unprocessed keys are retried, in at most
    five calls. If a key is still unprocessed, its result is an Unavailable error.
    https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html
    """
    different = list(dict.fromkeys(keys))
    answers: dict[RowKey, Row | Unavailable] = {}
    for first in range(0, len(different), _KEYS_A_CALL):
        answers.update(_batch_of(different[first : first + _KEYS_A_CALL]))
    return [answers.get(key) for key in keys]


def read_each(model: type[RowT], keys: Iterable[tuple[str, ...]]) -> Iterator[RowT]:
    """Yield the existing rows of one table in any order. Makes the same calls as `read_rows`.

    An unprocessed key does not delay other rows. Unavailable, which names the table, is raised
    after all readable rows were yielded, or immediately if no row of a batch could be read.
    """
    left_out: Unavailable | None = None
    remaining = iter(keys)
    while batch := list(dict.fromkeys(islice(remaining, _KEYS_A_CALL))):
        is_any_read = False
        for _, answer in _batch_of([(model, key) for key in batch]):
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
    if any(models[model.Meta.table_name] is not model for model, _ in keys):
        # A request names each table once, so the keys of one of the classes would be lost.
        raise ValueError("A batch must not read one table with two classes.")
    request: dict[str, Any] = {
        name: {
            "ConsistentRead": True,
            "Keys": [model.raw_key(*key) for model, key in keys if model is of_table],
        }
        for name, of_table in models.items()
    }
    connection = keys[0][0]._get_connection().connection
    for pause in (*_PAUSES, None):
        with translated():
            answer = connection.dispatch("BatchGetItem", {"RequestItems": request})
        for name, items in answer.get("Responses", {}).items():
            for row in map(models[name].from_raw_data, items):
                yield (type(row), row.key), row
        request = answer.get("UnprocessedKeys", {})
        if not request:
            return
        if pause is not None:
            time.sleep(pause)
    for model, key in keys:
        if model.raw_key(*key) in request.get(model.Meta.table_name, {}).get("Keys", ()):
            left_out = f"DynamoDB repeatedly did not process a key of {model.Meta.table_name}."
            yield (model, key), Unavailable(left_out)


def delete_rows(rows: Iterable[Row]) -> None:
    """Delete rows of one table, including unreadable rows, with one BatchWriteItem per 25 rows.

    Unprocessed rows are retried, in at most five calls. If rows are still unprocessed, raises
    Unavailable, which names the table. All earlier rows have then been deleted.
    https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchWriteItem.html
    """
    remaining = iter(rows)
    while batch := list(islice(remaining, _WRITES_A_CALL)):
        _delete_batch(batch)


def _delete_batch(rows: Sequence[Row]) -> None:
    name = rows[0].Meta.table_name
    connection = rows[0]._get_connection().connection
    request: dict[str, Any] = {
        name: [{"DeleteRequest": {"Key": row.raw_key(*row._get_serialized_keys())}} for row in rows]
    }
    for pause in (*_PAUSES, None):
        with translated():
            answer = connection.dispatch("BatchWriteItem", {"RequestItems": request})
        request = answer.get("UnprocessedItems", {})
        if not request:
            return
        if pause is not None:
            time.sleep(pause)
    raise Unavailable(
        f"DynamoDB repeatedly did not process some rows of {name}. These rows were not deleted."
    )


def put_or_current(row: RowT, condition: Condition, *, repeat: bool = True) -> RowT | None:
    """Write the whole row if `condition` holds; otherwise return the current row.

    Returns None if the row was written. Raises LookupError if the condition failed and the row does
    not exist. `repeat` retries the write after a conflict with a transaction; it is False for a row
    that contains the time of the write. PynamoDB's `save` cannot request ALL_OLD, which a writer
    needs to recognise its own write if the response was lost. So PynamoDB only builds and sends the
    request.
    """
    request = row.get_save_kwargs_from_instance(condition, "ALL_OLD")
    connection = row._get_connection().connection
    try:
        _repeated(
            lambda: connection.dispatch("PutItem", request),
            _PAUSES if repeat else (),
        )
    except ConditionFailed as err:
        if err.item is None:
            raise LookupError(f"The table {request['TableName']} has no such row.") from err
        return type(row).from_raw_data(err.item)
    return None


def update_or_current(
    row: RowT, actions: list[Action], condition: Condition
) -> tuple[bool, RowT | None]:
    """Update the row if `condition` holds.

    Returns True if the row was updated, and the current row, if any. The write is not retried after
    a conflict with a transaction, so use this function only for rows that no transaction writes.
    """
    try:
        current = _updated(row, actions, condition, "ALL_NEW", if_failed="ALL_OLD")
    except ConditionFailed as err:
        return False, type(row).from_raw_data(err.item) if err.item else None
    return True, type(row).from_raw_data(current)


def updated_from(
    row: Model, actions: list[Action], condition: Condition
) -> Mapping[str, Any] | None:
    """Update the row if `condition` holds, and return the raw old values of the updated attributes.

    Returns None if the condition failed. The write is not retried after a conflict with a
    transaction, so use this function only for rows that no transaction writes.
    """
    try:
        return _updated(row, actions, condition, "UPDATED_OLD")
    except ConditionFailed:
        return None


def _updated(
    row: Model,
    actions: list[Action],
    condition: Condition,
    returns: str,
    *,
    if_failed: str | None = None,
) -> dict[str, Any]:
    """Update the row, and return the raw values that `returns` names."""
    request = row.get_update_kwargs_from_instance(actions, condition, if_failed)
    with translated():
        answer = row._get_connection().connection.dispatch(
            "UpdateItem", request | {"ReturnValues": returns}
        )
    attributes: dict[str, Any] = answer.get("Attributes", {})
    return attributes


def written(write: Callable[..., object], *args: Any, **named: Any) -> bool:
    """Make a conditional write of one row. Return False if the condition failed."""
    try:
        _repeated(partial(write, *args, **named), _PAUSES)
    except ConditionFailed:
        return False
    return True


def _repeated(write: Callable[[], object], pauses: tuple[float, ...]) -> None:
    """Retry a write that was rejected because a transaction was in progress on the row.

    Neither DynamoDB nor PynamoDB retries such a write.
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
    """Yield a transaction that collects writes. Raises ConditionFailed if a condition failed.

    The transaction uses the connection and the time-outs of `model`.
    """
    connection = model._get_connection().connection
    with translated(), TransactWrite(connection=connection) as writes:
        yield writes
