"""Scan a table by an attribute that has no index, and estimate the cost."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Event
from typing import Any

import boto3

SEGMENTS = 4
"""The number of parallel segments of a scan.

More segments could exhaust the read capacity of a partition, which the functions need. A partition
has 3,000 read units per second, and a page of a scan uses 128.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html
"""

_UNIT = 8192
"""The number of bytes that a read unit covers in an eventually consistent scan. Rows that the
filter excludes also consume read units.

https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Scan.html
"""


@dataclass(frozen=True, slots=True)
class Size:
    """The size of a table, which DynamoDB updates every six hours."""

    rows: int

    # In bytes.
    size: int

    @property
    def read_units(self) -> float:
        """The read units of a scan."""
        return self.size / _UNIT


@dataclass(frozen=True, slots=True)
class Condition:
    """The filter condition of a scan."""

    attribute: str

    # The filter expression, with `#a` for the attribute and `:v` for the value.
    expression: str

    # The value: a DynamoDB type and its content.
    value: Mapping[str, str]

    @classmethod
    def equals(cls, attribute: str, text: str) -> "Condition":
        """Return a condition that selects rows whose attribute equals `text`."""
        return cls(attribute, "#a = :v", {"S": text})

    @classmethod
    def has_bytes(cls, attribute: str, number: int) -> "Condition":
        """Return a condition that selects rows by the length of an attribute.

        A DynamoDB filter cannot ignore case.
        """
        return cls(attribute, "size(#a) = :v", {"N": str(number)})


def size_of(table: str) -> Size:
    """Return the size of a table, with one DescribeTable call."""
    description = boto3.client("dynamodb").describe_table(TableName=table)["Table"]
    return Size(description.get("ItemCount", 0), description.get("TableSizeBytes", 0))


def scan(
    table: str,
    condition: Condition,
    *,
    shown: Iterable[str],
    most: int | None = None,
    progress: Callable[[int], None],
) -> list[Mapping[str, str]]:
    """Return selected attributes of the rows that meet a condition, up to a maximum number of rows.

    `progress` is called from several threads with the number of rows of each page.
    """
    names = {f"#s{number}": name for number, name in enumerate(shown)}
    request = {
        "TableName": table,
        "FilterExpression": condition.expression,
        "ProjectionExpression": ", ".join(names),
        "ExpressionAttributeNames": {"#a": condition.attribute, **names},
        "ExpressionAttributeValues": {":v": condition.value},
        "TotalSegments": SEGMENTS,
    }
    client, enough = boto3.client("dynamodb"), Event()

    def segment(number: int) -> list[Mapping[str, str]]:
        rows: list[Mapping[str, str]] = []
        for page in _pages(client, {**request, "Segment": number}):
            rows += [
                {name: item[name]["S"] for name in names.values() if name in item}
                for item in page["Items"]
            ]
            progress(page["ScannedCount"])
            if most is not None and len(rows) >= most:
                enough.set()
            if enough.is_set():
                break
        return rows

    with ThreadPoolExecutor(SEGMENTS) as pool:
        return [row for rows in pool.map(segment, range(SEGMENTS)) for row in rows]


def _pages(client: Any, request: Mapping[str, Any]) -> Iterator[Any]:
    yield from client.get_paginator("scan").paginate(**request)
