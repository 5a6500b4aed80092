"""A window of 200,000 events, which the real adapter reads in pages from a simulated DynamoDB.

The simulation creates pages on request, so that only the memory of the step is measured.
`make window` measures the CPU time.
"""

import os
import re
import tracemalloc
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from unittest.mock import patch

from botocore.client import BaseClient
from gazette.adapters.aws.clients import forget
from gazette.adapters.dynamodb.event_rows import stored_key
from gazette.adapters.dynamodb.events import DynamoEventReader, event_row
from gazette.domain.delivery.run import Status
from gazette.domain.model import DAILY, RunKey

from proofs.history.furnish import DUE, on_fakes
from proofs.history.past import READER, comment, past, pending, stored
from proofs.history.past import Past as Rows
from tests.builders import NOW
from tests.meter import item_size

EVENTS = 200_000
THINGS = 2_000
MOST_MEGABYTES = 200

_MEGABYTE = 1024 * 1024
_SINCE = NOW - timedelta(hours=20)
_BETWEEN = re.compile(r"BETWEEN (:\w+) AND (:\w+)")

_ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "none",
    "AWS_SECRET_ACCESS_KEY": "none",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_ACCOUNT_ID_ENDPOINT_MODE": "disabled",
}


@dataclass(frozen=True)
class Weighed:
    """The measurements of one digest of this many events."""

    events: int
    megabytes: float
    queries: int
    is_sent: bool
    said: int
    """The number of events that its email counts."""

    @property
    def is_bounded(self) -> bool:
        """Return True if one email counts all events, within the memory limit."""
        within = self.megabytes < MOST_MEGABYTES
        return within and self.is_sent and self.said == self.events

    @property
    def line(self) -> str:
        """Return the line of the report."""
        verdict = "bounded" if self.is_bounded else "worse"
        return (
            f"a digest of {self.events} events: {self.megabytes:.0f} MB (of {MOST_MEGABYTES}),"
            f" {self.queries} pages, tells of {self.said}: {verdict}"
        )


class Pages:
    """One reader's table of events, whose rows are created on request."""

    def __init__(self, events: int) -> None:
        step = timedelta(hours=19) / events
        self._at = [_SINCE + step * number for number in range(events)]
        self._keys = [stored_key(DAILY, at) for at in self._at]
        self.queries = 0

    def query(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Respond to a Query of the local index with at most a megabyte, or `Limit` rows."""
        self.queries += 1
        first, last = self._within(asked)
        is_forward = asked.get("ScanIndexForward", True)
        numbers = range(first, last) if is_forward else range(last - 1, first - 1, -1)
        taken = numbers[: min(asked.get("Limit", EVENTS), _MEGABYTE // self._weight)]
        counts = asked.get("Select") == "COUNT"
        answer: dict[str, Any] = {
            "Items": [] if counts else [self._row(number) for number in taken],
            "Count": len(taken),
            "ScannedCount": len(taken),
        }
        if len(taken) < len(numbers):
            row = self._row(taken[-1])
            answer["LastEvaluatedKey"] = {
                name: row[name] for name in ("user_id", "event_id", "stored")
            }
        return answer

    def look_up(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Respond to a BatchGetItem of existing events."""
        keys = asked["RequestItems"]["events"]["Keys"]
        rows = [self._row(int(key["event_id"]["S"][1:])) for key in keys]
        return {"Responses": {"events": rows}}

    @property
    def _weight(self) -> int:
        return item_size(self._row(0))

    def _within(self, asked: Mapping[str, Any]) -> tuple[int, int]:
        found = _BETWEEN.search(asked["KeyConditionExpression"])
        assert found, asked["KeyConditionExpression"]
        values = asked["ExpressionAttributeValues"]
        low, high = (values[name]["S"] for name in found.groups())
        first, last = bisect_left(self._keys, low), bisect_right(self._keys, high)
        if start := asked.get("ExclusiveStartKey"):
            key = start["stored"]["S"]
            if asked.get("ScanIndexForward", True):
                first = max(first, bisect_right(self._keys, key))
            else:
                last = min(last, bisect_left(self._keys, key))
        return first, max(first, last)

    def _row(self, number: int) -> dict[str, Any]:
        at = self._at[number]
        event = comment(f"e{number}", at, on=f"post#thing{number % THINGS}")
        return dict(event_row(stored(event, DAILY, at)).serialize())


@contextmanager
def _dynamodb(pages: Pages) -> Iterator[None]:
    """Simulate a DynamoDB that responds only to Queries and to lookups of events by id."""

    def call(client: BaseClient, operation: str, asked: dict[str, Any]) -> Any:
        if operation == "BatchGetItem":
            return pages.look_up(asked)
        assert operation == "Query", operation
        return pages.query(asked)

    with patch.dict(os.environ, _ENVIRONMENT), patch.object(BaseClient, "_make_api_call", call):
        forget()
        try:
            yield
        finally:
            forget()


def weigh(events: int = EVENTS) -> Weighed:
    """Measure the memory of a digest with this many events."""
    pages = Pages(events)
    run = pending(DAILY, past("threads", 0).sequence, DUE)
    world = on_fakes(past("threads", 0) + Rows(runs=(run,)))
    with _dynamodb(pages):
        reader = DynamoEventReader("events", clock=world.clock)
        for name in (name for name in dir(reader) if not name.startswith("_")):
            setattr(world.events, name, getattr(reader, name))
        tracemalloc.start()
        try:
            world.generate(RunKey(READER, DAILY, run.key.sequence))
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    emails = [mail for mail, _ in world.mailer.accepted]
    said = int(emails[0].edition.subject.split()[0]) if len(emails) == 1 else 0
    is_sent = world.runs.rows[run.key].status is Status.SENT
    return Weighed(events, peak / _MEGABYTE, pages.queries, is_sent, said)
