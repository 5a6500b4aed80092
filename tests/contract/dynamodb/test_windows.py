"""What the port `EventReader` promises, held against our fake and the real adapter on moto."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import boto3
import pytest
from botocore.client import BaseClient
from gazette.domain.errors import UnreadableRow
from gazette.domain.model import DAILY, Actor, Importance, Window
from gazette.domain.ports.stores import EventReader, Events, Guard
from gazette.domain.window.briefs import brief_of

from tests.builders import NOW, RETENTION, SettableClock, a_stored_event, a_window, an_event
from tests.contract.conftest import SECOND

NEXT = timedelta(microseconds=1)

BO = Actor("bo", "Bo", url="https://example.com/bo", avatar="https://example.com/bo.png")

KINDS_OF_EVENTS = (
    an_event("plain", excerpt='Größe "x"\n\u202e😀'),
    an_event("amended", amended_at=NOW + timedelta(minutes=1), via=("post#post1",)),
    replace(an_event("nobody"), actor=None),
    replace(an_event("blank"), actor=Actor("bo", " ")),
    replace(an_event("page"), actor=replace(BO, avatar="")),
    replace(an_event("both"), actor=BO, importance=Importance.HIGH),
    replace(an_event("child", via=("post#post1", "thread#t")), parent_title="A thread"),
    replace(an_event("parent", via=("post#post1",)), parent_title="A thread", data='{"a":1}'),
    replace(an_event("untitled", via=("post#post1", "thread#t"))),
    replace(an_event("lapses"), expires_at=NOW + timedelta(hours=1)),
    replace(an_event("item"), source="recommendations", score=0.5),
    replace(an_event("item2"), source="recommendations"),
)


def ids(reader: EventReader, window: Window, *, schedule: str = DAILY) -> list[str]:
    return [stored.event.id for stored in reader.read("ann", schedule, window)]


def test_event_in_a_window_is_read_as_stored(events: Events, reader: EventReader) -> None:
    event = an_event(excerpt='Größe "x"\n\u202e😀', via=("post#post1",), amended_at=NOW)
    events.store(event, DAILY)
    assert list(reader.read("ann", DAILY, a_window())) == [a_stored_event(event)]


def test_brief_contains_counting_and_ranking_fields_of_an_event(
    events: Events, reader: EventReader, clock: SettableClock
) -> None:
    """And holds the whole event, as it was read."""
    many = [*KINDS_OF_EVENTS, *(an_event(f"e{number}") for number in range(20))]
    for event in many:
        clock.now += SECOND
        events.store(event, DAILY)
    window = a_window(until=clock.now)
    whole = list(reader.read("ann", DAILY, window))
    briefs = list(reader.skim("ann", DAILY, window))
    assert [each.event for each in briefs] == [brief_of(event) for event in many]
    assert [each.decode() for each in briefs] == whole
    for brief, stored in zip(briefs, whole, strict=True):
        assert brief.stored_at == stored.stored_at
        assert brief.lapses_at == stored.event.expires_at
        for now in (NOW, NOW + timedelta(hours=1), NOW + RETENTION, NOW + 2 * RETENTION):
            assert (brief.over_at <= now) == stored.is_over(now)


def test_briefs_and_reads_return_the_same_events(
    events: Events, reader: EventReader, clock: SettableClock
) -> None:
    for number in range(4):
        clock.now = NOW + number * SECOND
        events.store(an_event(f"e{number}"), DAILY)
    events.retract("ann", "e1", early=False)
    for window in (a_window(), Window(NOW, NOW + 2 * SECOND), Window(NOW, NOW)):
        for later in (timedelta(0), RETENTION, RETENTION + timedelta(days=30)):
            clock.now = NOW + later
            briefs = reader.skim("ann", DAILY, window)
            assert [each.event.id for each in briefs] == ids(reader, window)


def test_events_are_found_by_id_in_their_current_state(
    events: Events, reader: EventReader, clock: SettableClock
) -> None:
    stored = {f"e{number}": events.store(an_event(f"e{number}"), DAILY)[1] for number in range(120)}
    events.store(an_event("e0", user_id="bo"), DAILY)
    better = an_event("e1", excerpt="better", amended_at=NOW)
    events.amend(stored["e1"], better)  # type: ignore[arg-type]
    events.move(stored["e2"], "weekly", Guard())  # type: ignore[arg-type]
    events.retract("ann", "e3", early=False)
    found = reader.load("ann", [*stored, "unknown"])
    assert found.keys() == stored.keys() - {"e3"}
    assert found["e1"].event == better
    assert found["e2"].schedule == "weekly"
    assert found["e0"] == stored["e0"]
    assert reader.load("ann", []) == {}


def test_trace_m_event_id_is_unique_across_schedules(events: Events, reader: EventReader) -> None:
    """The producer repeats it after a change of preferences."""
    events.store(an_event(), DAILY)
    events.store(an_event(), "weekly")
    assert ids(reader, a_window()) == ["e1"]
    assert ids(reader, a_window(), schedule="weekly") == []


def test_window_excludes_its_start_and_includes_its_end(
    events: Events, reader: EventReader, clock: SettableClock
) -> None:
    for number in range(4):
        clock.now = NOW + number * SECOND
        events.store(an_event(f"e{number}"), DAILY)
    clock.now = NOW + timedelta(minutes=1)
    assert ids(reader, Window(NOW, NOW + 2 * SECOND)) == ["e1", "e2"]
    assert ids(reader, Window(NOW, NOW)) == []
    assert ids(reader, Window(NOW + SECOND, NOW)) == []


def test_nonempty_window_is_detected(
    events: Events, reader: EventReader, clock: SettableClock
) -> None:
    for number in range(3):
        events.store(an_event(f"e{number}"), DAILY)
    for after, until, held in (
        (NOW - NEXT, NOW, True),
        (NOW - NEXT, None, True),
        (NOW, NOW + SECOND, False),
        (NOW, None, False),
        (NOW - SECOND, NOW - NEXT, False),
        (NOW, NOW, False),
    ):
        assert reader.holds("ann", DAILY, after=after, until=until) == held
        assert not reader.holds("ann", "weekly", after=after, until=until)
        assert not reader.holds("bo", DAILY, after=after, until=until)
    clock.now += NEXT
    events.store(an_event("e4"), DAILY)
    assert reader.holds("ann", DAILY, after=NOW), "behind three of one instant"


def test_consecutive_windows_contain_each_event_once(
    events: Events, reader: EventReader, clock: SettableClock
) -> None:
    edges = [NOW + timedelta(microseconds=number) for number in range(-1, 4)]
    for number, edge in enumerate(edges):
        clock.now = edge
        events.store(an_event(f"e{number}"), DAILY)
    windows = [Window(NOW - timedelta(days=1), NOW), Window(NOW, NOW + timedelta(days=1))]
    found = [event_id for window in windows for event_id in ids(reader, window)]
    assert found == [f"e{number}" for number in range(5)]


def test_events_of_different_users_and_schedules_are_separate(
    events: Events, reader: EventReader
) -> None:
    events.store(an_event("mine"), DAILY)
    events.store(an_event("theirs", user_id="bo"), DAILY)
    events.store(an_event("later"), "weekly")
    assert ids(reader, a_window()) == ["mine"]


def test_trace_n_moved_event_is_in_the_window_of_its_move(
    events: Events, reader: EventReader, clock: SettableClock
) -> None:
    _, stored = events.store(an_event(), "waiting")
    clock.now += SECOND
    assert events.move(stored, DAILY, Guard())  # type: ignore[arg-type]
    assert ids(reader, a_window(until=NOW)) == []
    assert ids(reader, Window(NOW, clock.now)) == ["e1"]


def test_amended_retracted_and_removed_events_are_read_in_their_current_state(
    events: Events, reader: EventReader
) -> None:
    stored = {number: events.store(an_event(f"e{number}"), DAILY)[1] for number in range(3)}
    better = an_event("e0", excerpt="better", amended_at=NOW)
    events.amend(stored[0], better)  # type: ignore[arg-type]
    events.remove(stored[1], Guard())  # type: ignore[arg-type]
    events.retract("ann", "e2", early=False)
    assert list(reader.read("ann", DAILY, a_window())) == [a_stored_event(better)]


@pytest.mark.parametrize(
    ("schedule", "days"), [(DAILY, 1), ("weekly", 7), ("custom", 31), ("waiting", 0)]
)
def test_expired_event_is_readable_until_the_next_run(
    events: Events, reader: EventReader, clock: SettableClock, schedule: str, days: int
) -> None:
    """And three days more, for a run that is late."""
    events.store(an_event(), schedule)
    (stored,) = reader.read("ann", schedule, a_window())
    assert stored.lasts_until == NOW + RETENTION
    clock.now += RETENTION + timedelta(days=days + 3) - SECOND
    assert ids(reader, a_window(), schedule=schedule) == ["e1"]
    assert reader.holds("ann", schedule, after=a_window().since)
    clock.now += SECOND
    assert ids(reader, a_window(), schedule=schedule) == []
    assert not reader.holds("ann", schedule, after=a_window().since)


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
def test_trace_l_window_is_read_strongly_consistently_from_a_local_index(
    reader: EventReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else an earlier stamp could appear after its window was read. DynamoDB allows it on local
    indexes alone. https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/LSI.html
    """
    asked: list[dict[str, Any]] = []
    real: Any = BaseClient._make_api_call  # type: ignore[attr-defined]

    def noted(client: BaseClient, operation: str, request: dict[str, Any]) -> Any:
        asked.append(request)
        return real(client, operation, request)

    with monkeypatch.context() as patch:
        patch.setattr(BaseClient, "_make_api_call", noted)
        list(reader.read("ann", DAILY, a_window()))
    assert [request["ConsistentRead"] for request in asked if "IndexName" in request] == [True]


def test_window_of_several_pages_is_read_completely(events: Events, reader: EventReader) -> None:
    """A page of a Query is a megabyte."""
    numbers = range(400)
    for number in numbers:
        events.store(an_event(f"e{number:03}", excerpt="x" * 3000), DAILY)
    assert sorted(ids(reader, a_window())) == [f"e{number:03}" for number in numbers]


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
@pytest.mark.parametrize("attribute", ["stored", "body", "lasts_until", "expires_at"])
def test_window_read_requires_every_attribute_of_an_event(
    events: Events, reader: EventReader, attribute: str
) -> None:
    """So the local index projects all of the row: one that projects what is read is no smaller."""
    events.store(an_event(), DAILY)
    table: Any = boto3.resource("dynamodb").Table("events")
    (row,) = table.scan()["Items"]
    assert row.keys() - {"user_id", "event_id"} == {"stored", "body", "lasts_until", "expires_at"}
    (whole,) = reader.read("ann", DAILY, a_window())
    table.put_item(Item={name: value for name, value in row.items() if name != attribute})
    try:
        found = list(reader.read("ann", DAILY, a_window()))
    except UnreadableRow:
        return
    assert found != [whole]
