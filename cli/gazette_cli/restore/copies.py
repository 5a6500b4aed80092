"""Compare a table with a copy, and restore the rows that differ."""

import hashlib
import json
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from gazette_cli.shared.console import NotPossible

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

Item = Mapping[str, Any]
"""A row in the format of the DynamoDB API, with a type and a value for each attribute."""

Write = Mapping[str, Any]
"""A put or delete request in the format of BatchWriteItem."""

_A_CALL = 25
"""The maximum number of writes in one BatchWriteItem.

https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchWriteItem.html
"""

_PAUSES = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
"""The delay in seconds before each retry of unprocessed rows."""

_SETS = ("SS", "NS", "BS")


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a table."""

    client: "DynamoDBClient"

    # The name of the table.
    name: str

    # The names of the key attributes.
    key: tuple[str, ...]

    # The only partition to read, or None to read all partitions.
    partition: str | None = None

    @classmethod
    def of(cls, client: "DynamoDBClient", name: str, partition: str | None = None) -> "Rows":
        """Look up the key attributes of a table, with one DescribeTable call."""
        schema = client.describe_table(TableName=name)["Table"]["KeySchema"]
        key = sorted(schema, key=lambda part: part["KeyType"])  # HASH comes before RANGE
        return cls(client, name, tuple(part["AttributeName"] for part in key), partition)

    def __iter__(self) -> Iterator[Item]:
        """Read the rows, with one strongly consistent Scan per megabyte or one Query for a
        partition.
        """
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
        """Return the key of a row. All keys are strings."""
        return tuple(item[name]["S"] for name in self.key)

    def write(self, requests: Iterable[Write]) -> int:
        """Write rows, with one BatchWriteItem call per 25 rows. Return the number of rows written.
        Raises NotPossible.
        """
        written, remaining = 0, iter(requests)
        while chunk := list(islice(remaining, _A_CALL)):
            self._write(chunk)
            written += len(chunk)
        return written

    def _write(self, requests: list[Write]) -> None:
        unprocessed: Any = {self.name: requests}
        for pause in (*_PAUSES, 0):
            answer = self.client.batch_write_item(RequestItems=unprocessed)
            unprocessed = answer.get("UnprocessedItems", {})
            if not unprocessed:
                return
            time.sleep(pause)
        raise NotPossible(
            f"DynamoDB did not process all rows of {self.name}. Run the command again."
        )


@dataclass(frozen=True, slots=True)
class Difference:
    """The keys of rows that differ between a table and its copy."""

    # Rows that only the copy has.
    lost: frozenset[tuple[str, ...]]

    # Rows with different content.
    changed: frozenset[tuple[str, ...]] = frozenset()

    # Rows that only the table has.
    new: frozenset[tuple[str, ...]] = frozenset()


def compare(table: Rows, copy: Rows) -> Difference:
    """Compare all rows of a table with a copy. Each row uses about 300 bytes of memory for its key
    and hash.
    """
    digests = {copy.named(item): _digest(item) for item in copy}
    new, changed, same = set(), set(), set()
    for item in table:
        key = table.named(item)
        if key not in digests:
            new.add(key)
        elif digests[key] != _digest(item):
            changed.add(key)
        else:
            same.add(key)
    lost = digests.keys() - changed - same
    return Difference(frozenset(lost), frozenset(changed), frozenset(new))


def bring_back(table: Rows, copy: Rows, difference: Difference) -> int:
    """Restore missing and changed rows from the copy, and delete rows that are not in the copy.
    Repeating the call is safe.
    """
    keys = difference.lost | difference.changed
    puts = (_put(item) for item in copy if copy.named(item) in keys)
    deletes = (_delete(zip(table.key, key, strict=True)) for key in sorted(difference.new))
    return table.write(puts) + table.write(deletes)


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
