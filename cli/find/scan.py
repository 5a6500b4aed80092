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


def size_of(table: str) -> Size:
    """One DescribeTable."""
    found = boto3.client("dynamodb").describe_table(TableName=table)["Table"]
    return Size(found.get("ItemCount", 0), found.get("TableSizeBytes", 0))


def scan(
    table: str,
    attribute: str,
    values: Iterable[str],
    *,
    shown: Iterable[str],
    most: int | None = None,
    progress: Callable[[int], None],
) -> list[Mapping[str, str]]:
    """The rows whose text `attribute` is one of `values`, as texts of the attributes `shown`.

    Stops after `most`. `progress` is called with the rows that each page has read, from several
    threads.
    """
    wanted = {f":v{number}": {"S": value} for number, value in enumerate(dict.fromkeys(values))}
    names = {f"#s{number}": name for number, name in enumerate(shown)}
    request = {
        "TableName": table,
        "FilterExpression": f"#a IN ({', '.join(wanted)})",
        "ProjectionExpression": ", ".join(names),
        "ExpressionAttributeNames": {"#a": attribute, **names},
        "ExpressionAttributeValues": wanted,
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
