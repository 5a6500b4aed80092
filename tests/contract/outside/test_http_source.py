"""What a recommendation service does to us over HTTP: an answer or SourceFailed, in time."""

import socket
import ssl
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import pytest
from gazette.adapters.content.connection import Connection
from gazette.adapters.content.http_source import HttpSource, retry_after
from gazette.adapters.content.items import Normaliser
from gazette.domain.content.items import Answer
from gazette.domain.content.ports import ContentSource, Question
from gazette.domain.errors import SourceFailed
from hypothesis import given
from hypothesis import strategies as st

from proofs.sources.service import Reply, Service, items, serving
from tests.builders import NOW
from tests.fakes import FakeSource

pytestmark = pytest.mark.enable_socket

DEADLINE = 0.4
"""Seconds. Nothing here waits for longer."""

LARGEST = 2000
QUESTION = Question(
    user_id="ann & bo",
    schedule="daily",
    since=NOW - timedelta(days=1),
    until=NOW,
    limit=5,
    locale="de-AT",
    time_zone="Europe/Vienna",
)


_OPEN: list[Connection] = []


@pytest.fixture
def service() -> Iterator[Service]:
    with serving() as running:
        yield running


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """A process keeps its connection for as long as it lives; here many live in one."""
    yield
    while _OPEN:
        _OPEN.pop().close()


def source_at(url: str, token: str = "") -> HttpSource:
    _OPEN.append(Connection(url, deadline=DEADLINE, largest=LARGEST))
    return HttpSource(
        url,
        connection=_OPEN[-1],
        token=lambda: token,
        normaliser=Normaliser(source="recommendations", hosts=None, fallback_image=""),
        clock=lambda: NOW,
    )


def failure(source: HttpSource) -> SourceFailed:
    """How a request failed, and that it failed in time."""
    began = time.monotonic()
    with pytest.raises(SourceFailed) as failed:
        source.ask(QUESTION)
    assert time.monotonic() - began < DEADLINE + 2
    return failed.value


def the_fake(service: Service) -> ContentSource:
    del service
    fake = FakeSource()
    fake.answers.append(SourceFailed("no"))
    fake.answers.append(Answer())
    return fake


def the_real_one(service: Service) -> ContentSource:
    service.answers(Reply(status=500), Reply())
    return source_at(service.url)


@pytest.mark.parametrize("made", [the_fake, the_real_one])
def test_source_can_be_queried_again_after_success_or_failure(
    service: Service, made: object
) -> None:
    source = made(service)  # type: ignore[operator]
    with pytest.raises(SourceFailed):
        source.ask(QUESTION)
    assert source.ask(QUESTION) == Answer()


def test_source_request_contains_every_documented_parameter(service: Service) -> None:
    source_at(service.url, "the-token").ask(QUESTION)
    (asked,) = service.requests
    assert asked.query == {
        "lang": "all",
        "user_id": "ann & bo",
        "digest": "daily",
        "limit": "5",
        "locale": "de-AT",
        "time_zone": "Europe/Vienna",
        "since": "2026-11-21T07:03:00+00:00",
        "until": "2026-11-22T07:03:00+00:00",
    }
    assert asked.headers["authorization"] == "Bearer the-token"
    assert asked.headers["accept"] == "application/json"


def test_authorization_header_is_omitted_without_a_token(service: Service) -> None:
    source_at(service.url).ask(QUESTION)
    assert "authorization" not in service.requests[0].headers


def test_source_requests_share_a_connection(service: Service) -> None:
    service.answers(Reply(body=items("a")), Reply(status=204, body=b""), Reply(status=500), Reply())
    source = source_at(service.url)
    assert [item.id for item in source.ask(QUESTION).items] == ["a"]
    assert source.ask(QUESTION) == Answer()
    failure(source)
    source.ask(QUESTION)
    assert len({asked.connection for asked in service.requests}) == 1


def test_connection_closed_by_the_service_is_reopened(service: Service) -> None:
    service.answers(Reply(closes=True), Reply())
    source = source_at(service.url)
    source.ask(QUESTION)
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        try:
            source.ask(QUESTION)
            break
        except SourceFailed:
            continue
    assert len({asked.connection for asked in service.requests}) == 2


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (Reply(status=500), "status 500"),
        (Reply(status=404), "status 404"),
        (Reply(status=301, headers={"Location": "/elsewhere"}), "redirects are not followed"),
        (Reply(body=b"<html>"), "not JSON"),
        (Reply(body=b" " * (LARGEST + 1)), "larger than 2,000 bytes"),
        (Reply(body=items("a"), cut=10), "IncompleteRead"),
        (Reply(headers={"Content-Encoding": "gzip"}), "content encoding"),
        (Reply(delay=1), "did not answer completely within 0.4 s"),
        (Reply(body=items("a"), drip=0.05), "did not answer completely within 0.4 s"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_invalid_response_fails_within_the_time_limit(
    service: Service, reply: Reply, says: str
) -> None:
    service.answers(reply)
    failed = failure(source_at(service.url))
    assert says in str(failed)
    assert not failed.refuses
    assert len(service.requests) == 1


@pytest.mark.parametrize(
    "reply", [Reply(delay=1), Reply(body=items("a"), cut=10), Reply(body=b"x")]
)
def test_request_after_a_failure_gets_its_own_response(service: Service, reply: Reply) -> None:
    service.answers(reply, Reply(body=items("mine")))
    source = source_at(service.url)
    failure(source)
    assert [item.id for item in source.ask(QUESTION).items] == ["mine"]


@pytest.mark.parametrize("status", [429, 503])
def test_refusal_contains_the_retry_delay(service: Service, status: int) -> None:
    service.answers(Reply(status=status, headers={"Retry-After": "120"}))
    failed = failure(source_at(service.url))
    assert (failed.refuses, failed.retry_after) == (True, timedelta(minutes=2))


def test_response_of_exactly_the_maximum_size_is_read(service: Service) -> None:
    body = items("a")
    service.answers(Reply(body=body + b" " * (LARGEST - len(body))))
    assert len(source_at(service.url).ask(QUESTION).items) == 1


def test_refused_connection_is_reported_as_a_failure() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/"
    assert "connection failed" in str(failure(source_at(url)))


def test_deadline_covers_all_addresses_of_a_host(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A load balancer has one in each zone; none of these answers."""
    spent = [0.0]

    def hang(address: tuple[str, int], timeout: float) -> socket.socket:
        assert address[1] == 81
        spent.append(timeout)
        raise TimeoutError("timed out")

    eight = [(socket.AF_INET, 1, 6, "", (f"192.0.2.{each}", 81)) for each in range(8)]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: eight)
    monkeypatch.setattr(socket, "create_connection", hang)
    connection = Connection(
        "http://many.example:81/", deadline=3, largest=LARGEST, clock=lambda: sum(spent)
    )
    with pytest.raises(SourceFailed, match="did not answer completely within 3 s"):
        connection.get("/", {})
    assert sum(spent) == 3


def test_next_address_is_tried_after_a_refused_connection(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = urlsplit(service.url).port
    two = [(socket.AF_INET, 1, 6, "", (host, port)) for host in ("127.0.0.2", "127.0.0.1")]
    connect = socket.create_connection

    def refuse(address: tuple[str, int], timeout: float) -> socket.socket:
        if address[0] == "127.0.0.2":
            raise ConnectionRefusedError("refused")
        return connect(address, timeout)

    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: two)
    assert source_at(service.url).ask(QUESTION) == Answer()
    assert len(service.requests) == 1


def test_silent_server_is_abandoned_at_the_deadline() -> None:
    """Over TLS too: the deadline holds for the handshake."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        for scheme in ("http", "https"):
            url = f"{scheme}://127.0.0.1:{silent.getsockname()[1]}/"
            assert "did not answer completely" in str(failure(source_at(url)))


def test_untrusted_certificate_is_rejected(service: Service) -> None:
    """The service speaks no TLS: neither is that taken for an answer."""
    failed = failure(source_at(service.url.replace("http://", "https://")))
    assert "connection failed" in str(failed).lower() or "did not answer completely" in str(failed)
    assert service.requests == []
    assert ssl.create_default_context().verify_mode is ssl.CERT_REQUIRED


@pytest.mark.parametrize(
    ("given_", "waits"),
    [
        ("", timedelta(0)),
        ("soon", timedelta(0)),
        ("-1", timedelta(0)),
        ("7", timedelta(seconds=7)),
        ("9" * 40, timedelta(seconds=999_999_999)),
        ("Sun, 22 Nov 2026 07:05:00 GMT", timedelta(minutes=2)),
        ("Sun, 22 Nov 2025 07:05:00 GMT", timedelta(0)),
        (f"Sun, 22 Nov {'9' * 20} 07:05:00 GMT", timedelta(0)),
        (f"Sun, 22 Nov 2026 {'9' * 20}:05:00 GMT", timedelta(0)),
        (f"Sun, 22 Nov 2026 07:05:00 +{'9' * 20}", timedelta(0)),
    ],
)
def test_retry_after_may_be_seconds_or_a_date(given_: str, waits: timedelta) -> None:
    assert retry_after(given_, now=NOW) == waits


@pytest.mark.long
@given(st.text(), st.datetimes(timezones=st.just(UTC)))
def test_any_retry_after_text_is_handled(text: str, now: datetime) -> None:
    assert retry_after(text, now=now) >= timedelta(0)
