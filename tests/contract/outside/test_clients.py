"""The clients of a process: one session, one client for each use, one User-Agent for all requests.

Against a server on loopback, which sees the requests as they are.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import botocore.session
import pytest
from botocore.useragent import UserAgentString
from gazette.adapters.aws import clients
from gazette.adapters.aws.clients import CONNECTIONS, Patience, client
from gazette.adapters.dynamodb.client import LONG_READ, bind
from gazette.adapters.dynamodb.control.batches import DynamoBatches
from gazette.adapters.dynamodb.deferred_events import DynamoDeferredEvents
from gazette.adapters.dynamodb.events import DynamoEventReader
from gazette.adapters.dynamodb.runs import DynamoRuns
from gazette.adapters.dynamodb.subscribers import DynamoSubscribers
from gazette.adapters.dynamodb.tables import (
    ControlRow,
    EventRow,
    RunRow,
    SubscriberRow,
)
from gazette.domain.ports.clock import Clock

from benchmarks.answering import answering
from gazette_support.adapters.sent_runs import DynamoSentRuns
from tests.builders import NOW
from tests.credentials import set_credentials

CLOCK: Clock = lambda: NOW  # noqa: E731 # a clock that stands still
DAYS = timedelta(days=1)


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch, socket_enabled: None) -> Iterator[None]:
    set_credentials(monkeypatch)
    with answering() as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        yield


def used_by(row: Any) -> Any:
    """The client with which PynamoDB sends what concerns a table."""
    return row._get_connection().connection.client


def test_same_arguments_return_the_same_client(aws: None) -> None:
    assert client("sqs") is client("sqs")
    assert client("sqs") is not client("sqs", Patience(1, 2, 1))
    assert client("sqs") is not client("sqs", connections=30)


def test_concurrent_threads_get_the_same_client(aws: None) -> None:
    with ThreadPoolExecutor(CONNECTIONS) as threads:
        assert len({id(each) for each in threads.map(lambda _: client("sqs"), range(50))}) == 1


def test_tables_with_the_same_timeouts_share_a_client(aws: None) -> None:
    DynamoSubscribers("subscribers")
    DynamoRuns("runs", retention=DAYS)
    DynamoBatches("control", retention=DAYS, clock=CLOCK)
    DynamoEventReader("events", clock=CLOCK)
    DynamoDeferredEvents("events", clock=CLOCK)
    assert used_by(SubscriberRow) is used_by(RunRow) is used_by(ControlRow)
    DynamoSentRuns("runs")
    long_reads = {
        used_by(bind(EventRow, "events", LONG_READ)),
        used_by(bind(RunRow, "runs", LONG_READ)),
    }
    assert len(long_reads) == 1
    assert clients._client.cache_info().currsize == 2


def test_client_keeps_a_connection_for_each_message_of_an_invocation(aws: None) -> None:
    DynamoRuns("runs", retention=DAYS)
    for each in (client("sqs"), client("sesv2", Patience(2, 8, 1)), used_by(RunRow)):
        assert each.meta.config.max_pool_connections >= 10


def test_all_clients_share_a_session(aws: None, monkeypatch: pytest.MonkeyPatch) -> None:
    clients._session.cache_clear()
    made: list[str] = []
    create = botocore.session.Session.__init__

    def counted(session: Any, *given: Any, **named: Any) -> None:
        made.append("session")
        create(session, *given, **named)

    monkeypatch.setattr(botocore.session.Session, "__init__", counted)
    client("sqs")
    client("secretsmanager")
    DynamoRuns("runs", retention=DAYS)
    DynamoSubscribers("subscribers").get("ann")
    assert made == ["session"]


def test_user_agent_is_built_once_and_identifies_the_caller(
    aws: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    DynamoSubscribers("subscribers")
    sqs = client("sqs")
    built: list[str] = []
    sent: list[str] = []

    def build(_: UserAgentString) -> list[Any]:
        built.append("from its parts")
        return []

    monkeypatch.setattr(UserAgentString, "_build_sdk_metadata", build)
    for each in (sqs, used_by(SubscriberRow)):
        each.meta.events.register(
            "before-send", lambda request, **_: sent.append(request.headers["User-Agent"])
        )
    sqs.get_queue_attributes(QueueUrl="http://127.0.0.1/queue")
    DynamoSubscribers("subscribers").get("ann")
    assert built == []
    assert len(sent) == 2
    for said in sent:
        words = said.decode() if isinstance(said, bytes) else said
        assert words.startswith("Botocore/")
        assert "Python/" in words
        assert " app/gazette" in words
