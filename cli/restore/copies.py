"""A table and a copy of it: which rows differ, and how they are made the same."""

import hashlib
import json
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from cli.shared.console import NotPossible

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

Item = Mapping[str, Any]
"""A row as DynamoDB's API has it: a type and a value by attribute."""

Write = Mapping[str, Any]
"""A row to put or to delete, as BatchWriteItem has it."""

_A_CALL = 25
"""The most writes that BatchWriteItem takes.
https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchWriteItem.html
"""

_PAUSES = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
"""Seconds until what DynamoDB did not take is written again."""

_SETS = ("SS", "NS", "BS")


@dataclass(frozen=True, slots=True)
class Rows:
    """A table by its name and its key; those of one partition only, where `partition` is given."""

    client: "DynamoDBClient"
    name: str
    key: tuple[str, ...]
    partition: str | None = None

    @classmethod
    def of(cls, client: "DynamoDBClient", name: str, partition: str | None = None) -> "Rows":
        """One DescribeTable."""
        schema = client.describe_table(TableName=name)["Table"]["KeySchema"]
        key = sorted(schema, key=lambda part: part["KeyType"])  # HASH comes before RANGE
        return cls(client, name, tuple(part["AttributeName"] for part in key), partition)

    def __iter__(self) -> Iterator[Item]:
        """One strongly consistent Scan per megabyte; a Query for one partition."""
        if self.partition is None:
            scanned = self.client.get_paginator("scan").paginate(
                TableName=self.name, ConsistentRead=True
            )
            for page in scanned:
                yield from page["Items"]
            return
        queried = self.client.get_paginator("query").paginate(
            TableName=self.name,
            ConsistentRead=True,
            KeyConditionExpression="#key = :key",
            ExpressionAttributeNames={"#key": self.key[0]},
            ExpressionAttributeValues={":key": {"S": self.partition}},
        )
        for each in queried:
            yield from each["Items"]

    def named(self, item: Item) -> tuple[str, ...]:
        """The key of a row. All keys are text."""
        return tuple(item[name]["S"] for name in self.key)

    def write(self, requests: Iterable[Write]) -> int:
        """One BatchWriteItem per 25; returns how many rows were written. Raises NotPossible."""
        written, remaining = 0, iter(requests)
        while some := list(islice(remaining, _A_CALL)):
            self._write(some)
            written += len(some)
        return written

    def _write(self, requests: list[Write]) -> None:
        left: Any = {self.name: requests}
        for pause in (*_PAUSES, 0):
            left = self.client.batch_write_item(RequestItems=left).get("UnprocessedItems", {})
            if not left:
                return
            time.sleep(pause)
        raise NotPossible(f"DynamoDB does not take all rows of {self.name}: run it again.")


@dataclass(frozen=True, slots=True)
class Difference:
    """By key: rows that the table has lost, rows that are otherwise in it, rows that came since."""

    lost: frozenset[tuple[str, ...]]
    changed: frozenset[tuple[str, ...]] = frozenset()
    new: frozenset[tuple[str, ...]] = frozenset()


def compare(table: Rows, copy: Rows) -> Difference:
    """Read both. Holds key and digest of each row in memory, some 300 bytes."""
    kept = {copy.named(item): _digest(item) for item in copy}
    new, changed, same = set(), set(), set()
    for item in table:
        key = table.named(item)
        if key not in kept:
            new.add(key)
        elif kept[key] != _digest(item):
            changed.add(key)
        else:
            same.add(key)
    return Difference(frozenset(kept.keys() - changed - same), frozenset(changed), frozenset(new))


def bring_back(table: Rows, copy: Rows, found: Difference) -> int:
    """Write what differs as the copy has it, and delete what came since. Safe to repeat."""
    wanted = found.lost | found.changed
    put = (_put(item) for item in copy if copy.named(item) in wanted)
    gone = (_delete(zip(table.key, key, strict=True)) for key in sorted(found.new))
    return table.write(put) + table.write(gone)


def _put(item: Item) -> Write:
    return {"PutRequest": {"Item": item}}


def _delete(key: Iterable[tuple[str, str]]) -> Write:
    return {"DeleteRequest": {"Key": {name: {"S": part} for name, part in key}}}


def _digest(item: Item) -> bytes:
    plain = {
        name: {kind: sorted(value) if kind in _SETS else value for kind, value in typed.items()}
        for name, typed in item.items()
    }
    text = json.dumps(plain, sort_keys=True, default=bytes.hex)
    return hashlib.blake2b(text.encode(), digest_size=16).digest()
