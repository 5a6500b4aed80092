"""A benchmark of the CPU time of a DynamoDB request through the adapters: a read, a write, and ten
events.

DynamoDB is a loopback server in a separate process, whose CPU time does not count. The peer is a
boto3 client with default settings. The peer sends the same request, but does not convert the
response into domain objects.
"""

import argparse
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from multiprocessing import get_context
from multiprocessing.connection import Connection
from statistics import median
from typing import Any

import boto3
from gazette.adapters.aws.clients import forget
from gazette.adapters.dynamodb.event_rows import body_of, stored_key
from gazette.adapters.dynamodb.events import DynamoEventReader
from gazette.adapters.dynamodb.runs import DynamoRuns, run_row
from gazette.adapters.dynamodb.tables import EventRow
from gazette.domain.model import DAILY

from benchmarks.answering import answering
from tests.builders import NOW, a_run, a_window, an_event

_EVENTS = 10
_REQUESTS = 100
"""The number of requests of each kind per round."""

_RETENTION = timedelta(days=200)


def measure(rounds: int) -> dict[str, float]:
    """Return the median CPU seconds of one request, by kind and client."""
    took: dict[str, list[float]] = {}
    with _dynamodb() as address, _environment(address):
        asked = _requests()
        for number in range(rounds + 1):
            for name, request in asked.items():
                began = time.process_time()
                for _ in range(_REQUESTS):
                    request()
                if number:  # the first round opens the connections
                    seconds = (time.process_time() - began) / _REQUESTS
                    took.setdefault(name, []).append(seconds)
    return {name: median(seconds) for name, seconds in took.items()}


def main() -> None:
    """Print a line for each kind of request."""
    parser = argparse.ArgumentParser(description="Measure the CPU time of requests to DynamoDB.")
    parser.add_argument("--rounds", type=int, default=11)
    for name, seconds in measure(parser.parse_args().rounds).items():
        print(f"{name}: {seconds * 1e6:.0f} µs")


def _requests() -> Mapping[str, Callable[[], object]]:
    runs = DynamoRuns("runs", retention=_RETENTION)
    events = DynamoEventReader("events", clock=lambda: NOW)
    client = boto3.client("dynamodb")
    run, window = a_run(), a_window()
    row = run_row(run, retention=_RETENTION).serialize()
    key = {name: row[name] for name in ("user_id", "run")}
    return {
        "read a run": lambda: runs.get(run.key),
        "read a run, boto3": lambda: client.get_item(
            TableName="runs", Key=key, ConsistentRead=True
        ),
        "write a run": lambda: runs.create(run),
        "write a run, boto3": lambda: client.put_item(
            TableName="runs", Item=row, ConditionExpression="attribute_not_exists(user_id)"
        ),
        "read ten events": lambda: list(events.read("ann", DAILY, window)),
        "read ten events, boto3": lambda: client.query(
            TableName="events",
            IndexName="stored",
            KeyConditionExpression="user_id = :u AND stored BETWEEN :a AND :b",
            ExpressionAttributeValues={
                ":u": {"S": "ann"},
                ":a": {"S": stored_key(DAILY, window.since)},
                ":b": {"S": stored_key(DAILY, window.until)},
            },
            ConsistentRead=True,
        ),
    }


def _found() -> Mapping[str, object]:
    """Return the contents of the tables."""
    rows = [_event_row(str(number), NOW - timedelta(minutes=number)) for number in range(_EVENTS)]
    return {
        "GetItem": {"Item": run_row(a_run(), retention=_RETENTION).serialize()},
        "PutItem": {},
        "Query": {"Items": rows, "Count": _EVENTS, "ScannedCount": _EVENTS},
    }


def _event_row(event_id: str, stored_at: datetime) -> dict[str, Any]:
    row = EventRow(
        user_id="ann",
        event_id=event_id,
        stored=stored_key(DAILY, stored_at),
        body=body_of(an_event(event_id)),
        lasts_until=NOW + _RETENTION,
        expires_at=NOW + _RETENTION,
    )
    return dict(row.serialize())


def _serve(told: Connection, found: Mapping[str, object]) -> None:
    with answering(found) as address:
        told.send(address)
        told.recv()


@contextmanager
def _dynamodb() -> Iterator[str]:
    """Run a server in another process while the block runs. Yield its address."""
    context = get_context("spawn")
    told, other = context.Pipe()
    process = context.Process(target=_serve, args=(other, _found()))
    process.start()
    try:
        yield told.recv()
    finally:
        told.send("end")
        process.join()


@contextmanager
def _environment(address: str) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(
        AWS_ENDPOINT_URL=address,
        AWS_ACCESS_KEY_ID="none",
        AWS_SECRET_ACCESS_KEY="none",  # noqa: S106 # it opens nothing
        AWS_DEFAULT_REGION="us-east-1",
    )
    forget()
    try:
        yield
    finally:
        forget()
        os.environ.clear()
        os.environ.update(before)


if __name__ == "__main__":
    main()
