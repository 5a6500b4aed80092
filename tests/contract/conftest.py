"""Each port as a fixture, once as our fake and once as the real adapter on moto."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from gazette.adapters.events import DynamoEventReader, DynamoEventWriter
from gazette.adapters.runs import DynamoRuns
from gazette.adapters.schedules import DynamoSchedules
from gazette.adapters.subscribers import DynamoSubscribers
from gazette.domain.ports import EventReader, EventWriter, Runs, Schedules, Subscribers
from moto import mock_aws

from tests.builders import SettableClock
from tests.fakes import FakeEvents, FakeRuns, FakeSchedules, FakeSubscribers
from tests.moto_tables import create_tables

SHARDS = 4


@pytest.fixture(params=["fake", "moto"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """What stands behind the ports in this test."""
    kind = str(request.param)
    if kind == "fake":
        yield kind
        return
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with mock_aws():
        create_tables()
        yield kind


@pytest.fixture
def subscribers(engine: str) -> Subscribers:
    return FakeSubscribers() if engine == "fake" else DynamoSubscribers("subscribers")


@pytest.fixture
def schedules(engine: str) -> Schedules:
    if engine == "fake":
        return FakeSchedules(shards=SHARDS)
    return DynamoSchedules("schedules", shards=SHARDS)


@pytest.fixture
def events(engine: str, clock: SettableClock) -> tuple[EventWriter, EventReader]:
    """Writer and reader."""
    if engine == "fake":
        fake = FakeEvents(clock)
        return fake, fake
    reader = DynamoEventReader("events", clock=clock)
    writer = DynamoEventWriter("events", retention=timedelta(days=90), timeout=1.5, clock=clock)
    return writer, reader  # the last binding holds: the writer's, which is the stricter


@pytest.fixture
def runs(engine: str) -> Runs:
    return FakeRuns() if engine == "fake" else DynamoRuns("runs", retention=timedelta(days=180))
