"""The same use cases on the real adapters, with moto and a meter of its requests.

The calls are those to DynamoDB and SQS. Units are counted as DynamoDB does (`tests/meter.py`).
Mail, the bus and the permits are our fakes, because their cost does not depend on a past.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from unittest.mock import patch

import boto3
import pytest
from gazette.adapters.aws.clients import forget
from gazette.adapters.aws.queues import SqsQueue, encode_followers, encode_run
from gazette.adapters.cached import Coalescer
from gazette.adapters.dynamodb.activities import DynamoActivities
from gazette.adapters.dynamodb.client import several_together
from gazette.adapters.dynamodb.control.batches import DynamoBatches
from gazette.adapters.dynamodb.deferred_events import DynamoDeferredEvents
from gazette.adapters.dynamodb.events import DynamoEventReader, DynamoEvents, event_row
from gazette.adapters.dynamodb.feedback.seen_marks import DynamoSeenMarks, DynamoSeenReader
from gazette.adapters.dynamodb.feedback.statistics import DynamoEngagements
from gazette.adapters.dynamodb.feedback.suppressions import DynamoLastLook, DynamoSuppressions
from gazette.adapters.dynamodb.follows import DynamoFollows
from gazette.adapters.dynamodb.runs import DynamoRuns, run_row
from gazette.adapters.dynamodb.schedules import DynamoSchedules
from gazette.adapters.dynamodb.subscribers import DynamoSubscribers
from gazette.domain.ports.clock import Clock
from gazette.domain.ports.queues import FollowerPage, Walk
from gazette.domain.scheduling.lifetime import seen_for
from moto import mock_aws

from proofs.history.counting import Tally
from proofs.history.furnish import furnish
from proofs.history.measure import receive_until_done
from proofs.history.past import CRITICAL, Past, past
from proofs.history.uses import Use
from proofs.history.verdict import Case
from proofs.history.weight import RETENTION, activity_row, follow_row
from tests.builders import NOW, SUPPRESSION_KEY, SettableClock
from tests.builders import RETENTION as OF_EVENTS
from tests.meter import metered
from tests.moto_tables import create_tables, moto_backend
from tests.world import World

_ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_ACCOUNT_ID_ENDPOINT_MODE": "disabled",
}


MAIN: Sequence[Case] = (
    ("publish immediate", "paused"),
    ("publish for the digest", "runs"),
    ("publish critical", "suppressed"),
    ("publish a list of ten", "threads"),
    ("publish an activity", "follows"),
    ("choose", "threads"),
    ("choose", "skipped"),
    ("choose and move", "waiting"),
    ("unfollow", "runs"),
    ("follow late", "activities"),
    ("leave", "paused"),
    ("leave the digests", "follows"),
    ("return", "runs"),
    ("erase", "follows"),
    ("erase", "threads"),
    ("erase", "marks"),
    ("visit", "paused"),
    ("visit", "marks"),
    ("mute", "runs"),
    ("fan out", "skipped"),
    ("generate a digest", "skipped"),
    ("generate a digest", "waiting"),
    ("generate a digest", "marks"),
    ("generate immediate", "paused"),
    ("generate critical", "suppressed"),
    ("sweep", "paused"),
    ("redrive the last", "runs"),
    ("redrive the first", "runs"),
    ("explain", "runs"),
    ("preference page", "follows"),
)
"""The cases that are compared with the real adapters, with 10 rows and with 100."""


@dataclass(frozen=True)
class Asked:
    """The AWS usage of a use case: requests, write units and read units."""

    calls: int
    write_units: int
    read_units: float


class _Remembered(SqsQueue[Walk | FollowerPage]):
    """A queue that keeps its messages in memory for processing."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.sent: list[Walk | FollowerPage] = []

    def send(self, messages: Iterable[Walk | FollowerPage]) -> None:
        some = list(messages)
        super().send(some)
        self.sent += some


class _Events(DynamoEvents):
    """The event ports of ingest and of the workers in one object."""

    def __init__(self, clock: Clock) -> None:
        super().__init__("events", retention=OF_EVENTS, timeout=5, clock=clock)
        reader = DynamoEventReader("events", clock=clock)
        self.read, self.holds, self.of_user = reader.read, reader.holds, reader.of_user
        self.skim, self.load = reader.skim, reader.load


class _SeenMarks(DynamoSeenMarks):
    """The ports of ingest and of the workers in one object."""

    def __init__(self, clock: Clock) -> None:
        super().__init__("events", kept_for=seen_for(OF_EVENTS), clock=clock)
        self.of = DynamoSeenReader("events", read=several_together(Coalescer())).of


class Account:
    """An AWS account on moto that successive cases share."""

    def __init__(self, patches: pytest.MonkeyPatch) -> None:
        create_tables()
        sqs: Any = boto3.client("sqs")
        urls = {
            name: sqs.create_queue(QueueName=name)["QueueUrl"]
            for name in ("generate", "resend", "followers")
        }
        self._clock, self._patches = SettableClock(), patches
        clock = self._now
        self._ports: dict[str, Any] = {
            "subscribers": DynamoSubscribers("subscribers"),
            "schedules": DynamoSchedules("schedules", shards=1),
            "follows": DynamoFollows("follows", retention=OF_EVENTS, clock=clock),
            "activities": DynamoActivities("activities", retention=OF_EVENTS, clock=clock),
            "suppressions": DynamoSuppressions("suppressions", key=SUPPRESSION_KEY, clock=clock),
            "runs": DynamoRuns("runs", retention=RETENTION),
            "engagements": DynamoEngagements("engagement", retention=RETENTION),
            "generate_queue": SqsQueue(sqs, urls["generate"], encode_run),
            "resend_queue": SqsQueue(sqs, urls["resend"], encode_run),
            "followers_queue": _Remembered(sqs, urls["followers"], encode_followers),
        }
        self._more: dict[str, Any] = {
            "events": _Events(clock),
            "deferred_events": DynamoDeferredEvents("events", clock=clock),
            "seen_marks": _SeenMarks(clock),
            "batches": DynamoBatches("control", retention=RETENTION, clock=clock),
            "last_look": DynamoLastLook(key=SUPPRESSION_KEY, read=several_together(Coalescer())),
        }
        self._empty = deepcopy(_tables())

    def _now(self) -> datetime:
        return self._clock()

    def ask(self, use: Use, kind: str, size: int) -> Asked:
        """Run one case on tables that contain only its past."""
        _tables().clear()
        _tables().update(deepcopy(self._empty))
        self._clock = SettableClock()
        world = World(self._clock, critical=frozenset({CRITICAL}), **self._ports)
        for name, port in self._more.items():
            setattr(world, name, port)
        world.context = replace(world.context, events=self._more["events"])
        furnish(world, use.prepare(past(kind, size)), _write)
        use.before(world)
        tally = Tally(self._clock, use.timeout)
        with metered(self._patches) as meter:
            receive_until_done(use, world, tally)
            return Asked(
                calls=meter.calls.total(),
                write_units=round(meter.write_units.total()),
                read_units=float(meter.read_units.total()),
            )


def _tables() -> dict[str, Any]:
    tables: dict[str, Any] = moto_backend("dynamodb").tables
    return tables


def _write(found: Past) -> None:
    backend = moto_backend("dynamodb")
    rows: dict[str, Sequence[Any]] = {
        "runs": [run_row(run, retention=RETENTION) for run in found.runs],
        "events": [event_row(each) for each in found.events],
        "follows": [follow_row(each) for each in found.follows],
        "activities": [activity_row(each) for each in found.activities],
    }
    for table, some in rows.items():
        for row in some:
            backend.put_item(table, row.serialize())
    marks = _SeenMarks(lambda: NOW)
    for mark in found.marks:
        marks.put(mark)


@contextmanager
def on_moto() -> Iterator[Account]:
    """Return an AWS account on moto. Pauses before retries take no time."""
    with (
        patch.dict(os.environ, _ENVIRONMENT),
        mock_aws(),
        patch("time.sleep"),
        pytest.MonkeyPatch.context() as patches,
    ):
        forget()
        try:
            yield Account(patches)
        finally:
            forget()
