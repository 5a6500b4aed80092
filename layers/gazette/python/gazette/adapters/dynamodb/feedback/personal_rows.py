"""The rows of a person in all tables of DynamoDB, as they are stored."""

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from gazette.adapters.aws.clients import client
from gazette.adapters.dynamodb.client import LONG_READ, translated
from gazette.adapters.dynamodb.runs import PARTITIONS, slot_partition
from gazette.adapters.dynamodb.values import read_instant
from gazette.domain.errors import Unavailable
from gazette.domain.export import Part, StoredRow
from gazette.domain.identity import keyed_hash, run_id, shard_of
from gazette.domain.model import RunKey
from gazette.domain.scheduling.calendar import slot_of

_SORT_KEYS = {
    Part.SCHEDULES: "name",
    Part.FOLLOWS: "entity",
    Part.EVENTS: "event_id",
    Part.RUNS: "run",
}
_JSON = frozenset(
    {"choices", "service_choices", "reader_choices", "reader_categories", "changes", "body"}
    | {"days", "custom_on", "quiet_hours", "others"}
)
"""The attributes that contain JSON as text."""

_ROUNDS = 5
"""The number of requests for the same batch of keys."""

Item = dict[str, dict[str, Any]]
"""A row, or its key, in the format of DynamoDB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DynamoPersonalRows:
    """Implementation of the `PersonalRows` port.

    The rows are not decoded, so attributes of a newer version and malformed attributes are
    exported too. `key` is the suppression key.
    """

    tables: Mapping[str, str]
    """The names of the tables in DynamoDB, by their names in the documentation."""

    key: bytes

    def profile(self, user_id: str) -> StoredRow | None:
        """Read the profile with one strongly consistent GetItem."""
        return self._row(Part.SUBSCRIBERS, {"user_id": _text(user_id)})

    def of_address(self, address_hash: str) -> Sequence[StoredRow]:
        """Read suppression and bounces with two strongly consistent GetItem."""
        key = {"address_hash": _text(keyed_hash(address_hash, self.key))}
        rows = (self._row(table, key) for table in ("suppressions", "bounces"))
        return [row for row in rows if row]

    def page(
        self, user_id: str, part: Part, *, after: str, limit: int
    ) -> tuple[Sequence[StoredRow], str]:
        """Read a page with one Query, for follows and runs also a BatchGetItem per hundred rows.

        The index of follows contains only keys, and is eventually consistent.
        """
        items, next_key = self._query(user_id, part, after, limit)
        if part is Part.FOLLOWS:
            keys = [{name: item[name] for name in ("entity", "user_id")} for item in items]
            items = self._batch(part, keys)
        rows = [_stored(part, item) for item in items]
        if part is Part.RUNS:
            rows += self._engagement(items)
        return rows, next_key

    def _row(self, table: str, key: Item) -> StoredRow | None:
        with translated():
            response = _client().get_item(
                TableName=self.tables[table], Key=key, ConsistentRead=True
            )
        return _stored(table, response["Item"]) if "Item" in response else None

    def _query(self, user_id: str, part: Part, after: str, limit: int) -> tuple[list[Item], str]:
        sort_key = _SORT_KEYS[part]
        more: dict[str, Any] = {"ConsistentRead": True}
        if part is Part.FOLLOWS:
            more = {"IndexName": "by_user"}
        condition, values = "user_id = :user", {":user": _text(user_id)}
        if after:
            condition += " AND #key > :after"
            values[":after"] = _text(after)
            more["ExpressionAttributeNames"] = {"#key": sort_key}
        with translated():
            response = _client().query(
                TableName=self.tables[part],
                KeyConditionExpression=condition,
                ExpressionAttributeValues=values,
                Limit=limit,
                **more,
            )
        last = response.get("LastEvaluatedKey", {}).get(sort_key, {})
        return response["Items"], last.get("S", "")

    def _engagement(self, runs: Iterable[Item]) -> list[StoredRow]:
        keys = [key for run in runs if (key := _engagement_key(run))]
        return [_stored("engagement", item) for item in self._batch("engagement", keys)]

    def _batch(self, table: str, keys: Sequence[Item]) -> list[Item]:
        """Read rows with one strongly consistent BatchGetItem per hundred keys."""
        name, items = self.tables[table], list[Item]()
        for first in range(0, len(keys), 100):
            waiting = list(keys[first : first + 100])
            for _ in range(_ROUNDS):
                with translated():
                    response = _client().batch_get_item(
                        RequestItems={name: {"Keys": waiting, "ConsistentRead": True}}
                    )
                items += response["Responses"].get(name, ())
                waiting = response["UnprocessedKeys"].get(name, {}).get("Keys", [])
                if not waiting:
                    break
            else:
                raise Unavailable(f"DynamoDB did not process all keys of {name}. Try again later.")
        return items


def _client() -> Any:
    return client("dynamodb", LONG_READ)


def _text(value: str) -> dict[str, str]:
    return {"S": value}


def _engagement_key(run: Item) -> Item | None:
    """Return the key of a run's delivery events; None if the run is malformed."""
    try:
        user_id, due_at = run["user_id"]["S"], read_instant(run["due_at"]["S"])
        schedule, _, sequence = run["run"]["S"].partition("#")
        key = RunKey(user_id, schedule, int(sequence))
    except (KeyError, ValueError):
        return None
    partition = slot_partition(slot_of(due_at), shard_of(user_id, PARTITIONS))
    return {"slot": _text(partition), "run": _text(run_id(key))}


def _stored(table: str, item: Item) -> StoredRow:
    return StoredRow(table, {name: _plain(name, value) for name, value in sorted(item.items())})


def _plain(name: str, value: Mapping[str, Any]) -> object:
    """Return an attribute as a value of JSON. Sets become sorted lists, and bytes become Base64."""
    ((kind, content),) = value.items()
    match kind:
        case "S" if name in _JSON:
            return _parsed(content)
        case "N":
            return _number(content)
        case "B":
            return base64.b64encode(content).decode()
        case "SS":
            return sorted(content)
        case "NS":
            return sorted(map(_number, content))
    return content


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _number(text: str) -> int | float:
    number = Decimal(text)
    return int(number) if number == number.to_integral_value() else float(number)
