"""Read a whole table for what no key and no index leads to. Says before what that costs."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Event
from typing import Any

import boto3

SEGMENTS = 4
"""Read side by side. More would take from the functions what a partition of the table can read:
3,000 read units a second, and a page of a scan is 128.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html"""

_UNIT = 8192
"""Bytes in a read unit, since a scan is eventually consistent. What the filter leaves out counts.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Scan.html"""


@dataclass(frozen=True, slots=True)
class Size:
    """How large a table is, as DynamoDB counted it in the last six hours."""

    rows: int
    size: int

    @property
    def read_units(self) -> float:
        """What a scan takes."""
        return self.size / _UNIT


@dataclass(frozen=True, slots=True)
class Condition:
    """Which rows a scan returns: a filter on `attribute`, written `#a`, against `:v`."""

    attribute: str
    expression: str
    value: Mapping[str, str]

    @classmethod
    def equals(cls, attribute: str, text: str) -> "Condition":
        """The rows whose attribute is `text`."""
        return cls(attribute, "#a = :v", {"S": text})

    @classmethod
    def has_bytes(cls, attribute: str, number: int) -> "Condition":
        """The rows whose attribute is so long: a filter of DynamoDB cannot ignore case."""
        return cls(attribute, "size(#a) = :v", {"N": str(number)})


def size_of(table: str) -> Size:
    """One DescribeTable."""
    found = boto3.client("dynamodb").describe_table(TableName=table)["Table"]
    return Size(found.get("ItemCount", 0), found.get("TableSizeBytes", 0))


def scan(
    table: str,
    condition: Condition,
    *,
    shown: Iterable[str],
    most: int | None = None,
    progress: Callable[[int], None],
) -> list[Mapping[str, str]]:
    """The rows that meet `condition`, as texts of the attributes `shown`.

    Stops after `most`. `progress` is called with the rows that each page has read, from several
    threads.
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
        found: list[Mapping[str, str]] = []
        for page in _pages(client, {**request, "Segment": number}):
            found += [
                {name: item[name]["S"] for name in names.values() if name in item}
                for item in page["Items"]
            ]
            progress(page["ScannedCount"])
            if most is not None and len(found) >= most:
                enough.set()
            if enough.is_set():
                break
        return found

    with ThreadPoolExecutor(SEGMENTS) as pool:
        return [row for rows in pool.map(segment, range(SEGMENTS)) for row in rows]


def _pages(client: Any, request: Mapping[str, Any]) -> Iterator[Any]:
    yield from client.get_paginator("scan").paginate(**request)
