"""Whole batches: every event at least once, whatever call a worker dies at."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from gazette.adapters.dynamodb.changes import StreamDecoder
from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.errors import Unavailable
from gazette.domain.events_out.events import EventType
from gazette.steps.outbox.publish import Published, publish_changes

from tests.builders import NOW, a_claimed_run
from tests.fakes import FakeEventsOut
from tests.streams import ENGAGEMENT, RUNS, SUBSCRIBERS, Image, a_record, run_image

DECODE = StreamDecoder(subscribers=SUBSCRIBERS, runs=RUNS, engagement=ENGAGEMENT)
READER: Image = {
    "user_id": {"S": "ann"},
    "email": {"S": "ann@example.com"},
    "name": {"S": "Ann"},
    "locale": {"S": "en"},
    "time_zone": {"S": "Europe/Berlin"},
    "status": {"S": "active"},
    "changed_at": {"S": "2026-11-22T07:03:00.000000Z"},
    "hour": {"N": "8"},
    "weekly_on": {"N": "1"},
    "custom_on": {"S": "[[1, 2, 3, 4, 5], 1, 0]"},
    "choices": {"S": '[["2026-11-22T07:03:00+00:00",{}]]'},
    "revision": {"N": "1"},
}
LEFT: Image = READER | {"status": {"S": "unsubscribed"}, "revision": {"N": "2"}}


def a_sent(sequence: int) -> tuple[Run, Run]:
    claimed = a_claimed_run(sequence, status=Status.SENDING, reason=Reason.CLAIMED)
    return claimed, replace(claimed, status=Status.SENT, reason=Reason.ACCEPTED, sent_at=NOW)


def a_batch(runs: int) -> list[dict[str, object]]:
    sent = [a_sent(number) for number in range(1, runs + 1)]
    ended = (a_record(RUNS, run_image(before), run_image(after)) for before, after in sent)
    return [a_record(SUBSCRIBERS, READER, LEFT), *ended]


def publish(
    records: Sequence[dict[str, object]],
    bus: FakeEventsOut,
    types: Sequence[EventType] = tuple(EventType),
) -> Published:
    return publish_changes(records, decode=DECODE, types=types, bus=bus)


@pytest.mark.parametrize("size", [1, 9, 10, 11, 100])
def test_batch_is_published_in_order(size: int) -> None:
    bus = FakeEventsOut()
    assert publish(a_batch(size - 1), bus) == Published(size, ())
    ids = ["ann::2:status", *(f"ann-daily-{number}:sent" for number in range(1, size))]
    assert [event.id for event in bus.taken] == ids


@pytest.mark.parametrize("size", [1, 2, 25])
def test_batch_is_repeated_after_a_failure_at_any_event(size: int) -> None:
    """Lambda repeats the whole batch, also if the worker died after the bus took all events."""
    records = a_batch(size - 1)
    whole = FakeEventsOut()
    publish(records, whole)
    for taken in range(size + 1):
        bus = FakeEventsOut()
        bus.answers.append(taken)
        with pytest.raises(Unavailable):
            publish(records, bus)
        publish(records, bus)
        assert {event.id for event in bus.taken} == {event.id for event in whole.taken}
        assert bus.taken == whole.taken[:taken] + whole.taken


def test_only_the_types_of_the_stage_are_published() -> None:
    bus = FakeEventsOut()
    assert publish(a_batch(3), bus, [EventType.SUBSCRIBER_LEFT]).events == 1
    assert [event.type for event in bus.taken] == [EventType.SUBSCRIBER_LEFT]


def test_batch_without_events_calls_no_bus() -> None:
    bus = FakeEventsOut()
    bus.answers.append(0)
    seen = a_record(SUBSCRIBERS, READER, READER | {"active_on": {"S": "2026-11-22"}})
    assert publish([seen], bus) == Published(0, ())
    assert publish(a_batch(3), bus, []) == Published(0, ())


def test_unreadable_row_is_reported_and_left_out() -> None:
    bus = FakeEventsOut()
    broken = a_record(SUBSCRIBERS, READER, LEFT | {"changed_at": {"S": "yesterday"}})
    published = publish([broken, *a_batch(1)], bus)
    assert published.events == 2
    (error,) = published.unreadable
    assert error == (
        "The row ann of the table subscribers cannot be read: `changed_at` is malformed."
    )
    assert "@" not in error


def test_row_behind_an_unreadable_one_publishes_its_state() -> None:
    bus = FakeEventsOut()
    before = READER | {"hour": {"N": "77"}}
    published = publish([a_record(SUBSCRIBERS, before, LEFT)], bus)
    assert [event.id for event in bus.taken] == ["ann::2:status", "ann::2:state"]
    assert len(published.unreadable) == 1


def test_run_behind_an_unreadable_one_is_published() -> None:
    bus = FakeEventsOut()
    before, after = map(run_image, a_sent(1))
    assert before
    record = a_record(RUNS, before | {"attempt": {"N": "-1"}}, after)
    assert publish([record], bus).events == 1


def test_status_of_a_newer_version_is_not_published() -> None:
    bus = FakeEventsOut()
    _, sent = map(run_image, a_sent(1))
    assert sent
    newer = sent | {"status": {"S": "queued_twice"}, "orbit": {"S": "new"}}
    snoozed = LEFT | {"status": {"S": "snoozed"}}
    records = [a_record(RUNS, None, newer), a_record(SUBSCRIBERS, READER, snoozed)]
    assert publish(records, bus) == Published(0, ())
    assert publish([a_record(RUNS, newer, sent)], bus).events == 1
    assert publish([a_record(SUBSCRIBERS, snoozed, LEFT | {"revision": {"N": "3"}})], bus).events


def test_expired_and_erased_rows_are_silent() -> None:
    _, sent = map(run_image, a_sent(1))
    marker: Image = {"user_id": {"S": "ann"}, "erased_at": {"S": "2026-11-22T07:03:00.000000Z"}}
    records = [a_record(RUNS, sent, None), a_record(SUBSCRIBERS, LEFT, marker)]
    assert publish(records, FakeEventsOut()) == Published(0, ())


def test_early_choices_are_silent_until_the_profile_arrives() -> None:
    early: Image = {
        "user_id": {"S": "ann"},
        "reader_choices": {"S": '{"frequency":[["2026-11-22T07:03:00+00:00","never"]]}'},
    }
    assert publish([a_record(SUBSCRIBERS, None, early)], FakeEventsOut()) == Published(0, ())


def test_time_is_that_of_the_write() -> None:
    bus = FakeEventsOut()
    at = NOW + timedelta(seconds=7)
    publish([a_record(SUBSCRIBERS, READER, LEFT, at)], bus)
    assert [event.at for event in bus.taken] == [at]


def test_record_of_another_table_fails() -> None:
    with pytest.raises(KeyError, match="pace"):
        publish([a_record("pace", None, READER)], FakeEventsOut())
