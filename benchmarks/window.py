"""The command `make window`, which measures the CPU time and memory of an email with very many
events.

DynamoDB is a loopback server in a separate process, which returns pages of one megabyte. The
delivery code reads, sorts and renders the window in a separate process for each shape: events on
one or many entities, by one or many people. The peer is a boto3 client that only reads the same
pages, because seconds differ between machines. The exit status is 1 if an email exceeds a limit or
shows the wrong number of events.
"""

import argparse
import os
import resource
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from functools import cache, partial
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import boto3
from gazette.adapters.aws.clients import forget
from gazette.adapters.dynamodb.event_rows import body_of, stored_key
from gazette.adapters.dynamodb.events import DynamoEventReader
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.domain.delivery.compose import compose
from gazette.domain.model import DAILY, Window
from gazette.domain.ports.rendering import Links
from gazette.steps.delivery.windows import read_window

from benchmarks.answering import answering
from gazette_cdk.assets.templates.build import build_templates
from tests.builders import KEY, NOW, a_subscriber, an_event

_PAGE = 2_000
"""The number of rows in a page of about one megabyte, the size limit of a Query."""

_MOST_CPU, _MOST_MEMORY = 1.5, 200.0
"""The limits of an email: times the CPU time of the peer, and megabytes of the whole process."""

_HOME = "https://example.com/"
_LINKS = Links(_HOME, _HOME, _HOME, _HOME)
_SHAPES = {
    "one entity, one person": (False, False),
    "one entity, many people": (False, True),
    "many entities, one person": (True, False),
    "many entities, many people": (True, True),
}


class Cost(NamedTuple):
    """The cost of an email:

    CPU seconds, those of the peer, peak memory of the process in MB, and the number in the subject.
    """

    cpu: float
    peer: float
    memory: float
    counted: int

    @property
    def times(self) -> float:
        """Return how many times the CPU time of the peer this is."""
        return self.cpu / self.peer


def main() -> int:
    """Print a line for each shape."""
    parser = argparse.ArgumentParser(prog="make window", description="Measure a long window.")
    parser.add_argument("--events", type=int, default=200_000)
    events, failed = parser.parse_args().events, 0
    for name, shape in _SHAPES.items():
        cost = _in_a_process(shape, events)
        is_fine = cost.times <= _MOST_CPU and cost.memory <= _MOST_MEMORY and cost.counted == events
        failed += not is_fine
        print(
            f"window: {events:,} events, {name}: cpu={cost.cpu:.1f}s peer={cost.peer:.1f}s "
            f"times={cost.times:.1f} memory={cost.memory:.0f}MB counted={cost.counted:,}"
            f"{'' if is_fine else ' TOO MUCH'}",
            flush=True,
        )
    return 1 if failed else 0


@cache
def _body(shape: tuple[bool, bool]) -> str:
    """Return the body of the events, with `@` in place of the event number."""
    many_entities, many_people = shape
    return body_of(
        an_event(
            entity_id="post@" if many_entities else "post",
            actor="Person @" if many_people else "Bo",
            excerpt="An excerpt as people write them, of a sentence or two and not of a word.",
        )
    )


def _row(number: int, shape: tuple[bool, bool]) -> dict[str, dict[str, str]]:
    stored_at = NOW - timedelta(days=1) + timedelta(milliseconds=number)
    return {
        "user_id": {"S": "ann"},
        "event_id": {"S": f"event-{number:08}"},
        "stored": {"S": stored_key(DAILY, stored_at)},
        "body": {"S": _body(shape).replace("@", str(number))},
        "lasts_until": {"S": "2099-01-01T00:00:00.000000Z"},
        "expires_at": {"N": "4070908800"},
    }


def _page(request: Mapping[str, Any], *, shape: tuple[bool, bool], events: int) -> dict[str, Any]:
    """Return a page of a Query. The start key contains the number of an event."""
    behind = request.get("ExclusiveStartKey")
    first = int(behind["event_id"]["S"][-8:]) + 1 if behind else 0
    numbers = range(first, min(first + _PAGE, events))
    rows = [_row(number, shape) for number in numbers]
    page: dict[str, Any] = {"Items": rows, "Count": len(rows), "ScannedCount": len(rows)}
    if rows and numbers[-1] + 1 < events:
        page["LastEvaluatedKey"] = {
            name: rows[-1][name] for name in ("user_id", "event_id", "stored")
        }
    return page


def _batch(request: Mapping[str, Any], *, shape: tuple[bool, bool]) -> dict[str, Any]:
    keys = request["RequestItems"]["events"]["Keys"]
    rows = [_row(int(key["event_id"]["S"][-8:]), shape) for key in keys]
    return {"Responses": {"events": rows}, "UnprocessedKeys": {}}


def _serve(told: Connection, shape: tuple[bool, bool], events: int) -> None:
    found = {
        "Query": partial(_page, shape=shape, events=events),
        "BatchGetItem": partial(_batch, shape=shape),
    }
    with answering(found) as address:
        told.send(address)
        told.recv()


@contextmanager
def _dynamodb(shape: tuple[bool, bool], events: int) -> Iterator[str]:
    context = get_context("spawn")
    told, other = context.Pipe()
    process = context.Process(target=_serve, args=(other, shape, events))
    process.start()
    try:
        yield told.recv()
    finally:
        told.send("end")
        process.join()


def _in_a_process(shape: tuple[bool, bool], events: int) -> Cost:
    with TemporaryDirectory() as folder, _dynamodb(shape, events) as address:
        build_templates(Path("templates"), Path(folder))
        context = get_context("spawn")
        told, other = context.Pipe()
        process = context.Process(target=_measure, args=(other, address, folder))
        process.start()
        cost: Cost = told.recv()
        process.join()
    return cost


def _peer(address: str) -> float:
    """Return the CPU seconds that a boto3 client takes to read the window, and nothing else."""
    client = boto3.client("dynamodb", endpoint_url=address)
    began = time.process_time()
    pages = client.get_paginator("query").paginate(
        TableName="events",
        KeyConditionExpression="user_id = :user_id",
        ExpressionAttributeValues={":user_id": {"S": "ann"}},
    )
    for _ in pages:
        pass
    return time.process_time() - began


def _measure(told: Connection, address: str, templates: str) -> None:
    os.environ.update(
        AWS_ENDPOINT_URL=address,
        AWS_ACCESS_KEY_ID="none",
        AWS_SECRET_ACCESS_KEY="none",  # noqa: S106 # it opens nothing
        AWS_DEFAULT_REGION="us-east-1",
    )
    forget()
    reader = DynamoEventReader("events", clock=lambda: NOW)
    renderer = JinjaRenderer(Path(templates))
    window = Window(NOW - timedelta(days=2), NOW)
    began = time.process_time()
    due = read_window(KEY, window, events=reader, unknown=(), on_hold=(), now=NOW)
    digest = compose(due.sent, max_blocks=20, until=window.until)
    renderer.render(digest, a_subscriber(), _LINKS, DAILY, due_at=NOW)
    took = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    told.send(Cost(took, _peer(address), peak, digest.events))


if __name__ == "__main__":
    sys.exit(main())
