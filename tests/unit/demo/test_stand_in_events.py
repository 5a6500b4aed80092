"""The events that the stand-in for SES makes, and what befalls them on their way."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from queue import Queue
from typing import Any

import pytest
from gazette.adapters.mail.ses_events import decode_delivery_event
from gazette.domain.feedback.delivery_events import DeliveryEventType
from gazette.domain.identity import address_hash, run_id
from gazette.domain.model import RunKey

from demo.ses_events import Channel, Entry, Postman, Publish, Taken, chance, entries, travelling
from tests.builders import NOW

PATIENCE = 10
"""Seconds after which a test that would wait for ever fails."""


def taken(number: int = 1) -> Taken:
    return Taken(
        message_id=f"message{number}",
        sender="digest@example.com",
        to=f"reader{number}@example.com",
        tags={"run": run_id(RunKey(f"reader{number}", "daily", 1)), "attempt": "1"},
        configuration_set="digest",
        at=NOW,
    )


def kinds(some: Sequence[Entry]) -> list[DeliveryEventType]:
    return [
        delivery_event.type
        for entry in some
        if (delivery_event := decode_delivery_event(delivered(entry)))
    ]


def delivered(entry: Entry) -> str:
    """The entry as EventBridge hands it to a queue."""
    return json.dumps(
        {
            "version": "0",
            "source": entry["Source"],
            "detail-type": entry["DetailType"],
            "detail": json.loads(entry["Detail"]),
        }
    )


def travelled(channel: Channel, number: int = 1) -> list[Entry]:
    mail = taken(number)
    dice = chance("events", channel.seed, mail.to, mail.tags)
    return list(travelling(entries(mail), channel, dice))


def test_gazette_can_read_events_of_ses_stand_in() -> None:
    delivery_events = [decode_delivery_event(delivered(entry)) for entry in entries(taken())]
    assert [delivery_event.type for delivery_event in delivery_events if delivery_event] == [
        DeliveryEventType.SENT,
        DeliveryEventType.DELIVERED,
    ]
    for delivery_event in delivery_events:
        assert delivery_event is not None
        assert delivery_event.run == RunKey("reader1", "daily", 1)
        assert (delivery_event.attempt, delivery_event.message_id, delivery_event.sent_at) == (
            1,
            "message1",
            NOW,
        )


@pytest.mark.parametrize(
    ("channel", "expected"),
    [
        (Channel(), ["sent", "delivered"]),
        (Channel(lost=1.0), []),
        (Channel(duplicated=1.0), ["sent", "sent", "delivered", "delivered"]),
        (Channel(reordered=1.0), ["delivered", "sent"]),
    ],
)
def test_ses_stand_in_loses_duplicates_and_reorders_events(
    channel: Channel, expected: list[str]
) -> None:
    assert kinds(travelled(channel)) == expected


def test_seed_gives_same_outcome_in_any_message_order() -> None:
    channel = Channel(lost=0.3, seed=7)
    there = {number: kinds(travelled(channel, number)) for number in range(500)}
    back = {number: kinds(travelled(channel, number)) for number in reversed(range(500))}
    assert there == back
    assert there != {
        number: kinds(travelled(Channel(lost=0.3, seed=8), number)) for number in range(500)
    }
    assert 600 < sum(map(len, there.values())) < 800


def test_events_are_published_in_calls_of_at_most_ten() -> None:
    calls: Queue[Sequence[Entry]] = Queue()
    with Postman(lambda: calls.put, Channel(delay=timedelta(milliseconds=5))) as postman:
        for number in range(30):
            postman.carry(taken(number))
        arrived: list[Entry] = []
        while len(arrived) < 60:
            call = calls.get(timeout=PATIENCE)
            assert 1 <= len(call) <= 10
            arrived.extend(call)
    assert len({entry["Detail"] for entry in arrived}) == 60


def test_ses_stand_in_publishes_only_after_bus_is_connected() -> None:
    calls: Queue[Sequence[Entry]] = Queue()
    publish: list[Publish] = []
    with Postman(lambda: publish[0] if publish else None, Channel()) as postman:
        postman.carry(taken(1))
        publish.append(calls.put)
        postman.carry(taken(2))
        first = calls.get(timeout=PATIENCE)
    assert json.loads(first[0]["Detail"])["mail"]["messageId"] == "message2"


def test_event_bus_failure_loses_events_without_stopping_stand_in() -> None:
    calls: Queue[Sequence[Entry]] = Queue()

    def fails_once(some: Sequence[Entry]) -> Any:
        calls.put(some)
        if calls.qsize() == 1 and not postman.failures:
            raise ConnectionError("no bus")

    with Postman(lambda: fails_once, Channel()) as postman:
        postman.carry(taken(1))
        lost = calls.get(timeout=PATIENCE)
        postman.carry(taken(2))
        assert calls.get(timeout=PATIENCE) != lost
    assert [str(failure) for failure in postman.failures] == ["no bus"]


def test_owner_can_wait_until_all_events_are_published() -> None:
    published: list[Entry] = []
    with Postman(lambda: published.extend, Channel(delay=timedelta(milliseconds=5))) as postman:
        for number in range(30):
            postman.carry(taken(number))
        postman.wait_until_carried()
        assert len(published) == 60


def test_events_pending_at_shutdown_are_dropped() -> None:
    calls: Queue[Sequence[Entry]] = Queue()
    with Postman(lambda: calls.put, Channel(delay=timedelta(hours=1))) as postman:
        postman.carry(taken())
    assert calls.empty()


SIMULATED = {
    "success+a1@simulator.amazonses.com": ["sent", "delivered"],
    "bounce+a1@simulator.amazonses.com": ["sent", "bounced"],
    "bounce@simulator.amazonses.com": ["sent", "bounced"],
    "suppressionlist@simulator.amazonses.com": ["sent", "bounced"],
    "complaint+a1@simulator.amazonses.com": ["sent", "delivered", "complained"],
    "ooto@simulator.amazonses.com": ["sent", "delivered"],
    "bounce@example.com": ["sent", "delivered"],
}


@pytest.mark.parametrize("to", SIMULATED)
def test_addresses_of_the_mailbox_simulator_bounce_or_complain(to: str) -> None:
    made = entries(replace(taken(), to=to))
    assert kinds(made) == SIMULATED[to]
    last = decode_delivery_event(delivered(made[-1]))
    assert last
    is_fault = SIMULATED[to][-1] in {"bounced", "complained"}
    assert bool(last.fault) == is_fault
    assert last.address == (address_hash(to) if is_fault else "")
