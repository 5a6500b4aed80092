"""Events out as the bus gets them."""

import json
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest
from botocore.exceptions import ReadTimeoutError
from gazette.adapters.aws.events_out import EventBridgeOut, detail_of
from gazette.domain.delivery.run import Certainty
from gazette.domain.errors import Unavailable
from gazette.domain.events_out.events import (
    By,
    EmailEvent,
    EventOut,
    EventType,
    PreferencesChanged,
    Setting,
    SubscriberEvent,
)
from gazette.domain.scheduling.calendar import Days, DigestTimes
from gazette.domain.subscribers.choices import Preferences
from gazette.domain.subscribers.frequency import DEFAULT, EVERYTHING, Frequency

from tests.builders import KEY, NOW

LEFT = SubscriberEvent(
    type=EventType.SUBSCRIBER_LEFT,
    user_id="ann",
    revision=3,
    erased_at=None,
    at=NOW,
    by=By.READER,
    address="ann@example.com",
)
CHANGED = PreferencesChanged(
    user_id="ann",
    revision=4,
    erased_at=NOW - timedelta(days=1),
    at=NOW,
    by=By.SERVICE,
    frequencies=((EVERYTHING, DEFAULT), ("comment", Frequency.NEVER)),
    settings=frozenset({Setting.CLOCK, Setting.PAUSED_UNTIL}),
    preferences=Preferences(
        (),
        DigestTimes(9, None, 5, Days(frozenset({2, 5}), every=2, phase=1), date(2026, 12, 14)),
        "Europe/Berlin",
    ),
)
SENT = EmailEvent(
    type=EventType.EMAIL_SENT,
    run=KEY,
    slot=NOW,
    at=NOW,
    categories=("comment", "like"),
    events=12,
    certainty=Certainty.ACCEPTED,
)


def detail(event: EventOut, *, with_address: bool = False) -> dict[str, Any]:
    return detail_of(event, with_address=with_address)


def test_subscriber_event_has_the_address_only_if_asked() -> None:
    expected = {
        "version": 1,
        "id": "ann::3:status",
        "user_id": "ann",
        "revision": 3,
        "at": "2026-11-22T07:03:00.000Z",
        "by": "reader",
    }
    assert detail(LEFT) == expected
    assert detail(LEFT, with_address=True) == expected | {"email": "ann@example.com"}


def test_preferences_event_has_only_what_changed() -> None:
    assert detail(CHANGED, with_address=True) == {
        "version": 1,
        "id": "ann:20261121T070300000000Z:4:preferences",
        "user_id": "ann",
        "revision": 4,
        "erased_at": "2026-11-21T07:03:00.000Z",
        "at": "2026-11-22T07:03:00.000Z",
        "by": "service",
        "frequency": "default",
        "frequencies": {"comment": "never"},
        "digest": {"hour": 9, "minute": None, "paused_until": "2026-12-14"},
    }


def test_told_state_has_all_preferences() -> None:
    state = replace(
        CHANGED, by=None, is_retold=True, frequencies=(), settings=frozenset(Setting), revision=5
    )
    told = detail(state)
    assert (told["retold"], told["frequency"], told["frequencies"]) == (True, "default", {})
    assert "by" not in told
    assert told["time_zone"] == "Europe/Berlin"
    assert told["digest"] == {
        "hour": 9,
        "minute": None,
        "weekly": {"day": "friday"},
        "custom": {"days": ["tuesday", "friday"], "every_weeks": 2, "starting": "2026-01-12"},
        "paused_until": "2026-12-14",
    }


def test_ended_pause_is_null() -> None:
    times = replace(CHANGED.preferences.times, paused_until=None)
    ended = replace(CHANGED, preferences=replace(CHANGED.preferences, times=times))
    assert detail(ended)["digest"]["paused_until"] is None


def test_email_event_names_the_email() -> None:
    assert detail(SENT, with_address=True) == {
        "version": 1,
        "id": "ann-daily-1:sent",
        "user_id": "ann",
        "email": "ann-daily-1",
        "schedule": "daily",
        "slot": "2026-11-22T07:03:00.000Z",
        "at": "2026-11-22T07:03:00.000Z",
        "categories": ["comment", "like"],
        "events": 12,
        "certainty": "accepted",
    }


class Client:
    """EventBridge: answers each call with the numbers of the entries that it rejects, or raises."""

    def __init__(self, *answers: set[int] | Exception) -> None:
        self.answers = [*answers]
        self.calls: list[list[dict[str, Any]]] = []

    def put_events(self, **request: list[dict[str, Any]]) -> dict[str, Any]:
        entries = request["Entries"]
        self.calls.append(entries)
        answer = self.answers.pop(0) if self.answers else set()
        if isinstance(answer, Exception):
            raise answer
        failed = {"ErrorCode": "ThrottlingException"}
        return {
            "Entries": [failed if n in answer else {"EventId": "1"} for n in range(len(entries))]
        }


def publish(client: Client, number: int = 1) -> None:
    events = [replace(LEFT, revision=each) for each in range(number)]
    bus: Any = client
    EventBridgeOut(bus, "gazette-prod-out", source="gazette.prod", with_address=False).publish(
        events
    )


@pytest.mark.parametrize("number", [1, 10, 11, 100])
def test_ten_entries_per_call(number: int) -> None:
    client = Client()
    publish(client, number)
    entries = [entry for call in client.calls for entry in call]
    assert [json.loads(entry["Detail"])["revision"] for entry in entries] == [*range(number)]
    assert max(map(len, client.calls)) <= 10
    assert len(client.calls) == -(-number // 10)
    assert {(each["EventBusName"], each["Source"], each["DetailType"]) for each in entries} == {
        ("gazette-prod-out", "gazette.prod", "subscriber.left")
    }


def test_rejected_entries_alone_are_repeated() -> None:
    client = Client({1, 3}, {0})
    publish(client, 4)
    revisions = [[json.loads(each["Detail"])["revision"] for each in call] for call in client.calls]
    assert revisions == [[0, 1, 2, 3], [1, 3], [1]]


@pytest.mark.parametrize("rejected", [{0}, {0, 1}])
def test_entry_that_stays_rejected_fails_the_batch(rejected: set[int]) -> None:
    client = Client(rejected, *[{0, 1}] * 9)
    with pytest.raises(Unavailable):
        publish(client, 2)
    assert len(client.calls) == 3


def test_silence_of_the_bus_fails_the_batch() -> None:
    with pytest.raises(Unavailable):
        publish(Client(ReadTimeoutError(endpoint_url="https://events.example")))
