"""Counts of the deployed stage's rows, for comparison with the emails that arrived."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import boto3
from gazette.domain.identity import run_id
from gazette.domain.model import RunKey

from demo.engine import Engine


@dataclass(frozen=True, slots=True)
class Stored:
    """The numbers of rows by table and of runs by status, and the due time of each run.

    `items` contains the raw rows of events and runs.
    """

    rows: Counter[str] = field(default_factory=Counter)
    due: dict[str, datetime] = field(default_factory=dict)
    items: dict[str, list[dict[str, Any]]] = field(
        default_factory=lambda: {"events": [], "runs": []}
    )


def stored(engine: Engine) -> Stored:
    """Read all tables, and return the counts."""
    result = Stored()
    for kind, item in _items(engine):
        result.rows[kind] += 1
        if kind in result.items:
            result.items[kind].append(item)
        if kind == "runs":
            result.rows[item["status"]["S"]] += 1
            schedule, _, sequence = item["run"]["S"].partition("#")
            run = run_id(RunKey(item["user_id"]["S"], schedule, int(sequence)))
            result.due[run] = datetime.fromisoformat(item["due_at"]["S"])
    return result


def _items(engine: Engine) -> Iterator[tuple[str, dict[str, Any]]]:
    client = boto3.client(
        "dynamodb",
        endpoint_url=engine.url,
        region_name=engine.environment["AWS_REGION"],
        aws_access_key_id="test",
        aws_secret_access_key="test",  # noqa: S106 -- the engine's fixed account
    )
    for table in client.list_tables()["TableNames"]:
        kind = table.split("-")[1].rstrip("0123456789ABCDEF").lower()
        for page in client.get_paginator("scan").paginate(TableName=table):
            for item in page["Items"]:
                yield kind, item
