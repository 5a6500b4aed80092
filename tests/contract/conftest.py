"""Each port as a fixture: as our fake, as our fake with an index, as the real adapter on moto."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.client import BaseClient
from botocore.exceptions import ClientError, ConnectTimeoutError
from gazette.adapters.cached import Coalescer
from gazette.adapters.dynamodb.activities import DynamoActivities
from gazette.adapters.dynamodb.control.batches import DynamoBatches
from gazette.adapters.dynamodb.events import DynamoEventReader, DynamoEvents
from gazette.adapters.dynamodb.feedback.bounces import DynamoBounces
from gazette.adapters.dynamodb.feedback.event_traces import DynamoEventTraces
from gazette.adapters.dynamodb.feedback.statistics import DynamoEngagements
from gazette.adapters.dynamodb.feedback.suppressions import DynamoSuppressions
from gazette.adapters.dynamodb.follows import DynamoFollows
from gazette.adapters.dynamodb.pacing.pace import DynamoQuota, DynamoRateLimiter
from gazette.adapters.dynamodb.runs import DynamoRuns
from gazette.adapters.dynamodb.schedules import DynamoSchedules
from gazette.adapters.dynamodb.subscribers import DynamoSubscribers
from gazette.domain.delivery.pace import NoPermit, PacePlan, Permit
from gazette.domain.explanation import EventHistory
from gazette.domain.ports.clock import Clock
from gazette.domain.ports.ledgers import Batches, Engagements, Runs, Schedules
from gazette.domain.ports.pacing import QuotaStore, RateLimiter
from gazette.domain.ports.receipts import EventTraces
from gazette.domain.ports.stores import (
    Activities,
    Bounces,
    EventReader,
    Events,
    Follows,
    Subscribers,
    Suppressions,
)
from moto import mock_aws

from demo.ses import StandIn
from gazette_support.adapters.sent_runs import DynamoSentRuns
from gazette_support.domain.replay import SentRuns
from tests.builders import RETENTION, SUPPRESSION_KEY, SettableClock
from tests.credentials import set_credentials
from tests.fake_stores import (
    FakeActivities,
    FakeBatches,
    FakeBounces,
    FakeEngagements,
    FakeEvents,
    FakeFollows,
    FakePaceRow,
    FakeRateLimiter,
    FakeRuns,
    FakeSchedules,
    FakeSentRuns,
    FakeSubscribers,
    FakeSuppressions,
)
from tests.indexed import IndexedEvents, IndexedRuns, IndexedSchedules
from tests.moto_tables import create_tables

SHARDS = 4
RUN_RETENTION = timedelta(days=200)

SECOND = timedelta(seconds=1)


@pytest.fixture(params=["fake", "indexed", "moto"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """What stands behind the ports in this test."""
    kind = str(request.param)
    if kind != "moto":
        yield kind
        return
    set_credentials(monkeypatch)
    with mock_aws():
        create_tables()
        yield kind


@pytest.fixture
def ses(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    """SES on loopback, where a client made in this test finds it."""
    with StandIn() as stand_in:
        monkeypatch.setenv("AWS_ENDPOINT_URL_SESV2", stand_in.url)
        set_credentials(monkeypatch)
        yield stand_in


@pytest.fixture
def subscribers(engine: str) -> Subscribers:
    return FakeSubscribers() if engine != "moto" else DynamoSubscribers("subscribers")


@pytest.fixture
def follows(engine: str, clock: SettableClock) -> Follows:
    if engine != "moto":
        return FakeFollows()
    return DynamoFollows("follows", retention=RETENTION, clock=clock)


@pytest.fixture
def activities(engine: str, clock: SettableClock) -> Activities:
    if engine != "moto":
        return FakeActivities()
    return DynamoActivities("activities", retention=RETENTION, clock=clock)


@pytest.fixture
def suppressions(engine: str, clock: SettableClock) -> Suppressions:
    if engine != "moto":
        return FakeSuppressions(clock)
    return DynamoSuppressions("suppressions", key=SUPPRESSION_KEY, clock=clock)


@pytest.fixture
def bounces(engine: str, clock: SettableClock) -> Bounces:
    if engine != "moto":
        return FakeBounces()
    return DynamoBounces("bounces", key=SUPPRESSION_KEY, retention=RETENTION, clock=clock)


@pytest.fixture
def schedules(engine: str) -> Schedules:
    if engine != "moto":
        kind = IndexedSchedules if engine == "indexed" else FakeSchedules
        return kind(shards=SHARDS)
    return DynamoSchedules("schedules", shards=SHARDS)


@pytest.fixture
def runs(engine: str) -> Runs:
    if engine != "moto":
        return IndexedRuns() if engine == "indexed" else FakeRuns()
    return DynamoRuns("runs", retention=RUN_RETENTION)


@pytest.fixture
def sent_runs(runs: Runs) -> SentRuns:
    """What was sent of `runs`."""
    return FakeSentRuns(runs) if isinstance(runs, FakeRuns) else DynamoSentRuns("runs")


@pytest.fixture
def batches(engine: str, clock: SettableClock) -> Batches:
    if engine != "moto":
        return FakeBatches(clock)
    return DynamoBatches("control", retention=RUN_RETENTION, clock=clock)


@pytest.fixture
def engagements(engine: str) -> Engagements:
    if engine != "moto":
        return FakeEngagements()
    return DynamoEngagements("engagement", retention=RUN_RETENTION)


@pytest.fixture
def events(engine: str, clock: SettableClock, runs: Runs, schedules: Schedules) -> Events:
    """Those that moves are guarded by are the fixtures `runs` and `schedules`."""
    if isinstance(runs, FakeRuns) and isinstance(schedules, FakeSchedules):
        kind = IndexedEvents if engine == "indexed" else FakeEvents
        return kind(clock, runs, schedules)
    return dynamo_events(clock)


def dynamo_events(clock: Clock) -> DynamoEvents:
    """The real adapter, as `ingest` builds it."""
    return DynamoEvents("events", retention=RETENTION, timeout=1.5, clock=clock)


@pytest.fixture
def reader(engine: str, clock: SettableClock, events: Events) -> EventReader:
    """Reads what `events` wrote."""
    if isinstance(events, FakeEvents):
        return events
    return DynamoEventReader("events", clock=clock)


@dataclass
class Paced:
    """One row of the pace; each of `worker` is a process of its own, with threads or without."""

    engine: str
    name: str = "email"

    def __post_init__(self) -> None:
        self.row = FakePaceRow()
        self.coalescer = Coalescer(patience=10)
        self.now = datetime.min.replace(tzinfo=UTC)

    def worker(self, plan: PacePlan) -> FakeRateLimiter | DynamoRateLimiter:
        if self.engine != "moto":
            return FakeRateLimiter(plan, self.row)
        return DynamoRateLimiter(
            "pace", plan, name=self.name, coalescer=self.coalescer, clock=lambda: self.now
        )

    def together(
        self,
        worker: RateLimiter,
        number: int,
        now: datetime,
        latest: datetime,
        *,
        critical: bool = False,
    ) -> list[Permit | NoPermit]:
        """What `number` threads of a worker get that ask at the same time; permits come first."""
        found: list[Permit | NoPermit] = []

        def ask(_: int) -> None:
            found.append(worker.reserve(now, latest, critical=critical))

        if self.engine == "moto":
            self.coalescer.side_by_side(ask, range(number))
        else:  # the fake is one row for all, and no thread may come between
            any(map(ask, range(number)))
        permits = [each for each in found if isinstance(each, Permit)]
        others = [each for each in found if not isinstance(each, Permit)]
        return [*sorted(permits, key=lambda each: each.at), *others]

    @property
    def quota_store(self) -> QuotaStore:
        return self.row if self.engine != "moto" else DynamoQuota("pace", name=self.name)


@pytest.fixture
def paced(engine: str) -> Paced:
    return Paced(engine)


@pytest.fixture
def history(engine: str, clock: SettableClock, events: Events) -> EventHistory:
    """Reads what `events` wrote."""
    return events if isinstance(events, FakeEvents) else DynamoEventReader("events", clock=clock)


@pytest.fixture
def traces(engine: str, clock: SettableClock, events: Events) -> EventTraces:
    """Reads what `events` wrote."""
    return events if isinstance(events, FakeEvents) else DynamoEventTraces("events", clock=clock)


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What becomes of the next calls: "" is well, "lost before", "lost after" the write, or
    "in the way" where a transaction holds the row.

    For the real adapter alone: our fake always answers.
    """
    script: list[str] = []
    real: Any = BaseClient._make_api_call  # type: ignore[attr-defined]

    def scripted(client: BaseClient, operation: str, request: dict[str, Any]) -> Any:
        what = script.pop(0) if script else ""
        if what == "lost before":
            raise ConnectTimeoutError(endpoint_url="dynamodb")
        if what == "in the way":
            raise ClientError({"Error": {"Code": "TransactionConflictException"}}, operation)
        answer = real(client, operation, request)
        if what == "lost after":
            raise ConnectTimeoutError(endpoint_url="dynamodb")
        return answer

    monkeypatch.setattr(BaseClient, "_make_api_call", scripted)
    return script
