"""What the stand-in for SES does on the wire, so that tests can lean on it."""

import http.client
import json
import socket
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from queue import Queue
from urllib.parse import urlsplit

import pytest

from demo.ses import Answer, Chances, StandIn
from demo.ses_events import Entry
from demo.ses_http import Loss

PATIENCE = 10
"""Seconds after which a test that would wait for ever fails."""

pytestmark = pytest.mark.enable_socket


def post(stand_in: StandIn, to: str = "ann@example.com", html: str = "<p>News</p>") -> int:
    """The status of the answer to one SendEmail; 0 where there is none."""
    message = {
        "FromEmailAddress": "digest@example.com",
        "Destination": {"ToAddresses": [to]},
        "Content": {
            "Simple": {
                "Subject": {"Data": "News"},
                "Body": {"Text": {"Data": "News"}, "Html": {"Data": html}},
            }
        },
        "ConfigurationSetName": "digest",
        "EmailTags": [{"Name": "run", "Value": "ann-daily-1"}],
    }
    connection = http.client.HTTPConnection(urlsplit(stand_in.url).netloc, timeout=PATIENCE)
    try:
        connection.request("POST", "/v2/email/outbound-emails", json.dumps(message))
        with connection.getresponse() as response:
            return response.status
    except (ConnectionError, http.client.HTTPException):
        return 0
    finally:
        connection.close()


def test_stand_in_stops_despite_a_waiting_client_and_serves_more_clients() -> None:
    came: list[int] = []
    published: Queue[Sequence[Entry]] = Queue()
    with StandIn() as stand_in:
        stand_in.publish = published.put
        stand_in.script.append(Answer(200, "", taken=True, loss=Loss.HANG))
        waiting = threading.Thread(target=lambda: came.append(post(stand_in)))
        waiting.start()
        published.get(timeout=PATIENCE)  # it was taken: the script is used up
        assert post(stand_in) == 200
        assert not came
    waiting.join(PATIENCE)
    assert came == [0]
    assert len(stand_in.accepted) == 2


def test_stand_in_reports_accepted_messages_and_no_rejected_messages() -> None:
    published: Queue[Sequence[Entry]] = Queue()
    with StandIn() as stand_in:
        stand_in.publish = published.put
        stand_in.script.append(Answer(400, "MessageRejected"))
        stand_in.script.append(Answer(200, "", taken=True, loss=Loss.CLOSE))
        assert [post(stand_in, "bo@example.com"), post(stand_in)] == [400, 0]
        details = [json.loads(entry["Detail"]) for entry in published.get(timeout=PATIENCE)]
    (taken,) = stand_in.accepted
    assert details[0]["mail"]["messageId"] == taken.message_id
    assert details[0]["mail"]["destination"] == ["ann@example.com"]
    assert details[0]["mail"]["tags"] == {
        "ses:configuration-set": ["digest"],
        "run": ["ann-daily-1"],
    }


def test_scripted_send_response_waits_for_a_send_request() -> None:
    """Each tick asks for the quota, and would use it up."""
    with StandIn() as stand_in:
        stand_in.script.append(Answer(200, "", taken=True, loss=Loss.CLOSE))
        assert stand_in.account().status == 200
        assert [post(stand_in), post(stand_in)] == [0, 200]


def test_lost_responses_are_reproducible_for_a_seed() -> None:
    def lost(seed: int, order: Sequence[int]) -> set[int]:
        with StandIn(chances=Chances(close=0.5, seed=seed)) as stand_in:
            told = {number: post(stand_in, f"r{number}@example.com") for number in order}
        assert len(stand_in.accepted) == len(order)
        return {number for number, status in told.items() if status == 0}

    once = lost(1, range(20))
    assert 0 < len(once) < 20
    assert lost(1, list(reversed(range(20)))) == once
    assert lost(2, range(20)) != once


def test_stand_in_by_default_loses_no_response_and_publishes_no_event() -> None:
    with StandIn() as stand_in:
        assert [post(stand_in, f"r{number}@example.com") for number in range(20)] == [200] * 20
    assert stand_in.publish is None
    assert not stand_in.postman.failures


def test_stand_in_signals_only_the_first_message() -> None:
    told: list[int] = []
    with StandIn() as stand_in:
        stand_in.on_first = lambda: told.append(len(stand_in.accepted))
        assert [post(stand_in) for _ in range(3)] == [200] * 3
    assert told == [1]


def test_hundred_threads_can_connect_at_once() -> None:
    """It listens, and has not yet accepted anybody."""
    stand_in = StandIn()
    address = urlsplit(stand_in.url)
    with ExitStack() as connected:
        connected.callback(stand_in._server.server_close)
        for _ in range(100):
            made = socket.create_connection((address.hostname, address.port), timeout=1)
            connected.enter_context(made)


def test_mailbox_lists_the_latest_message_first_with_demo_images() -> None:
    with StandIn() as stand_in:
        picture = "https://campus.example/pictures/face1.jpg"
        assert post(stand_in) == post(stand_in, "bo@example.com", f'<img src="{picture}">') == 200
        inbox = _get(stand_in, "/").decode()
        assert inbox.index("/messages/1") < inbox.index("/messages/0")
        assert _get(stand_in, "/messages/1").strip() == b'<img src="/pictures/face1.jpg">'
        assert picture in stand_in.accepted[1].part("html")
        assert _get(stand_in, "/pictures/face1.jpg").startswith(b"\xff\xd8\xff")
        assert _get(stand_in, "/pictures/../README.md") == b"no such page"


def _get(stand_in: StandIn, path: str) -> bytes:
    connection = http.client.HTTPConnection(urlsplit(stand_in.url).netloc, timeout=PATIENCE)
    try:
        connection.request("GET", path)
        return connection.getresponse().read()
    finally:
        connection.close()
