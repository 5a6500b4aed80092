"""In-memory DynamoDB tables, with conditions and with sparse, projecting indexes.

The tables are not thread-safe. Pages have no size limit, items do not expire, and indexes are
consistent with their tables.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.loopback.expressions import Item, holds
from benchmarks.loopback.updates import updated

Request = dict[str, Any]
Answer = dict[str, Any]


class Refused(Exception):
    """A DynamoDB error, with its code and the other fields of the response."""

    def __init__(self, code: str, **details: Any) -> None:
        super().__init__(code)
        self.code = code
        self.details = details


class _Table:
    """A table, with rows by partition key and sort key."""

    def __init__(self, definition: Request) -> None:
        self.keys = _keys(definition)
        self.indexes = {
            index["IndexName"]: (_keys(index), index["Projection"])
            for kind in ("LocalSecondaryIndexes", "GlobalSecondaryIndexes")
            for index in definition.get(kind, ())
        }
        self._rows: dict[str, dict[str, Item]] = defaultdict(dict)

    def get(self, named: Item) -> Item:
        """Return the row with the keys in `named`, or an empty item."""
        partition, sort = self._places(named)
        return self._rows.get(partition, {}).get(sort, {})

    def put(self, row: Item) -> None:
        partition, sort = self._places(row)
        self._rows[partition][sort] = row

    def delete(self, named: Item) -> None:
        partition, sort = self._places(named)
        self._rows[partition].pop(sort, None)

    def rows(self) -> Iterator[Item]:
        for partition in self._rows.values():
            yield from partition.values()

    def query(self, request: Request) -> Answer:
        """Return the rows that match a Query, in order."""
        keys, projection = self.indexes.get(request.get("IndexName", ""), (self.keys, {}))
        names, values = _given(request)
        condition = request["KeyConditionExpression"]
        found = [
            row
            for row in self._candidates(keys, values)
            if all(key in row for key in keys) and holds(condition, row, names, values)
        ]
        found.sort(key=lambda row: [_text(row[key]) for key in (*keys[1:], *self.keys)])
        if not request.get("ScanIndexForward", True):
            found.reverse()
        if start := request.get("ExclusiveStartKey"):
            at = next((n for n, row in enumerate(found) if _has(row, start)), len(found))
            found = found[at + 1 :]
        limit = request.get("Limit") or len(found) + 1
        answer: Answer = {}
        if found and len(found) >= limit:
            last = found[limit - 1]
            answer["LastEvaluatedKey"] = {key: last[key] for key in {*self.keys, *keys}}
        kept = found[:limit]
        shown = [
            self._projected(row, keys, projection)
            for row in kept
            if holds(request.get("FilterExpression", ""), row, names, values)
        ]
        return answer | {"Items": shown, "Count": len(shown), "ScannedCount": len(kept)}

    def _candidates(self, keys: list[str], values: Item) -> Iterator[Item]:
        """Return the rows of one partition if the table's own partition key selects it."""
        if keys[0] != self.keys[0]:
            return self.rows()
        partitions = [text for text in map(_text, values.values()) if text in self._rows]
        return (row for partition in {*partitions} for row in self._rows[partition].values())

    def _projected(self, row: Item, keys: list[str], projection: dict[str, Any]) -> Item:
        if projection.get("ProjectionType", "ALL") == "ALL":
            return row
        kept = {*self.keys, *keys, *projection.get("NonKeyAttributes", ())}
        return {name: value for name, value in row.items() if name in kept}

    def _places(self, named: Item) -> tuple[str, str]:
        partition, *sort = (_text(named[key]) for key in self.keys)
        return partition, sort[0] if sort else ""


class Tables:
    """The tables of DynamoDB, with its operations by name."""

    def __init__(self) -> None:
        self._tables: dict[str, _Table] = {}
        self._operations: dict[str, Callable[[Request], Answer]] = {
            "CreateTable": self._create,
            "GetItem": self._get,
            "BatchGetItem": self._batch_get,
            "Query": lambda request: self._tables[request["TableName"]].query(request),
            "PutItem": self._put,
            "UpdateItem": self._update,
            "DeleteItem": self._delete,
            "BatchWriteItem": self._batch_write,
            "TransactWriteItems": self._transact,
        }

    def answer(self, operation: str, request: Request) -> Answer:
        """Return the response to a request. Raise Refused, or KeyError for an unknown operation."""
        return self._operations[operation](request)

    def _create(self, request: Request) -> Answer:
        self._tables[request["TableName"]] = _Table(request)
        return {"TableDescription": {"TableName": request["TableName"], "TableStatus": "ACTIVE"}}

    def _get(self, request: Request) -> Answer:
        found = self._tables[request["TableName"]].get(request["Key"])
        return {"Item": found} if found else {}

    def _batch_get(self, request: Request) -> Answer:
        return {
            "Responses": {
                name: [row for key in asked["Keys"] if (row := self._tables[name].get(key))]
                for name, asked in request["RequestItems"].items()
            },
            "UnprocessedKeys": {},
        }

    def _put(self, request: Request) -> Answer:
        before = self._checked(request, request["Item"])
        self._tables[request["TableName"]].put(request["Item"])
        return _returned(request, before, request["Item"])

    def _update(self, request: Request) -> Answer:
        before = self._checked(request, request["Key"])
        after = updated(
            request.get("UpdateExpression", ""), {**request["Key"], **before}, *_given(request)
        )
        self._tables[request["TableName"]].put(after)
        return _returned(request, before, after)

    def _delete(self, request: Request) -> Answer:
        before = self._checked(request, request["Key"])
        self._tables[request["TableName"]].delete(request["Key"])
        return _returned(request, before, {})

    def _batch_write(self, request: Request) -> Answer:
        for name, parts in request["RequestItems"].items():
            for part in parts:
                for kind, asked in part.items():
                    if kind == "PutRequest":
                        self._tables[name].put(asked["Item"])
                    else:
                        self._tables[name].delete(asked["Key"])
        return {"UnprocessedItems": {}}

    def _transact(self, request: Request) -> Answer:
        parts = [next(iter(part.items())) for part in request["TransactItems"]]
        reasons = [self._reason(asked) for _, asked in parts]
        if any(reason["Code"] != "None" for reason in reasons):
            raise Refused("TransactionCanceledException", CancellationReasons=reasons)
        writes = {"Put": self._put, "Update": self._update, "Delete": self._delete}
        for kind, asked in parts:
            if kind in writes:
                writes[kind]({**asked, "ConditionExpression": ""})
        return {}

    def _reason(self, asked: Request) -> dict[str, Any]:
        try:
            self._checked(asked, asked.get("Item") or asked["Key"])
        except Refused as refused:
            return {"Code": "ConditionalCheckFailed", **refused.details}
        return {"Code": "None"}

    def _checked(self, request: Request, named: Item) -> Item:
        """Return the row before a write. Raise Refused if the condition is false."""
        before = self._tables[request["TableName"]].get(named)
        if holds(request.get("ConditionExpression", ""), before, *_given(request)):
            return before
        shown = request.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD" and before
        raise Refused("ConditionalCheckFailedException", **({"Item": before} if shown else {}))


def _returned(request: Request, before: Item, after: Item) -> Answer:
    changed = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    match request.get("ReturnValues", "NONE"):
        case "ALL_NEW":
            return {"Attributes": after}
        case "ALL_OLD":
            return {"Attributes": before} if before else {}
        case "UPDATED_NEW":
            return {"Attributes": {name: after[name] for name in changed if name in after}}
        case "UPDATED_OLD":
            old = {name: before[name] for name in changed if name in before}
            return {"Attributes": old} if old else {}
        case _:
            return {}


def _keys(definition: Request) -> list[str]:
    """Return the names of the key attributes, starting with the partition key."""
    ordered = sorted(definition["KeySchema"], key=lambda key: str(key["KeyType"]))
    return [key["AttributeName"] for key in ordered]


def _given(request: Request) -> tuple[dict[str, str], Item]:
    return (
        request.get("ExpressionAttributeNames") or {},
        request.get("ExpressionAttributeValues") or {},
    )


def _text(value: dict[str, Any]) -> str:
    """Return the text of a key value. All of our tables have string keys."""
    return str(value["S"])


def _has(row: Item, key: Item) -> bool:
    return all(row.get(name) == value for name, value in key.items())
