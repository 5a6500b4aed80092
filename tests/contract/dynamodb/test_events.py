"""What the port `Events` promises of one event, held against our fake and the adapter on moto."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.client import BaseClient
from botocore.exceptions import ClientError
from gazette.adapters.dynamodb.tables import EventRow
from gazette.domain.delivery.run import BEGINNING
from gazette.domain.errors import Unavailable
from gazette.domain.model import DAILY, Event, Retracted, StoredEvent
from gazette.domain.ports.stores import Events, EventToStore, Guard
from gazette.domain.scheduling.calendar import Days, Recurrence
from gazette.domain.scheduling.kinds import Unsent
from gazette.domain.scheduling.lifetime import MARGIN
from gazette.domain.stored import readable

from tests.builders import NOW, RETENTION, SettableClock, a_stored_event, an_event
from tests.contract.conftest import SECOND, dynamo_events
from tests.every_field import EVENT

HERE = a_stored_event(an_event(), DAILY, NOW)
"""Where an event is that was stored before the clock was moved."""


def test_stored_event_is_read_unchanged(events: Events) -> None:
    event = an_event(
        excerpt='Größe "x"\n\u202e😀',
        occurred_at=NOW - timedelta(microseconds=1),
        amended_at=NOW + SECOND,
        via=("comment#c1", "post#Größe"),
    )
    assert events.get("ann", "e1") is None
    assert events.store(event, DAILY) == (True, a_stored_event(event, DAILY, NOW))
    assert events.get("ann", "e1") == a_stored_event(event, DAILY, NOW)


def test_every_field_of_an_event_and_its_amendment_is_stored(events: Events) -> None:
    less = an_event(EVENT.id, user_id=EVENT.user_id)
    events.store(less, DAILY)
    assert events.amend(a_stored_event(less), EVENT)
    assert events.get(EVENT.user_id, EVENT.id) == a_stored_event(EVENT)


def test_trace_m_duplicate_event_reports_the_stored_place(
    events: Events, clock: SettableClock
) -> None:
    """The producer repeats it after a change of preferences."""
    events.store(an_event(), DAILY)
    clock.now += SECOND
    assert events.store(an_event(excerpt="again"), "weekly") == (False, HERE)
    assert events.get("ann", "e1") == HERE


def test_event_id_is_unique_per_user(events: Events) -> None:
    events.store(an_event(), DAILY)
    theirs = an_event(user_id="bo")
    assert events.store(theirs, Unsent.WAITING) == (
        True,
        a_stored_event(theirs, Unsent.WAITING, NOW),
    )
    assert events.get("ann", "e1") == HERE


def test_amended_event_keeps_its_place(events: Events, clock: SettableClock) -> None:
    events.store(an_event(), DAILY)
    clock.now += SECOND
    better = an_event(excerpt="better", amended_at=NOW)
    assert events.amend(HERE, better)
    assert events.get("ann", "e1") == replace(HERE, event=better)


@pytest.mark.parametrize(
    "read",
    [
        replace(HERE, schedule="weekly"),
        replace(HERE, stored_at=NOW - SECOND),
        replace(HERE, event=an_event(excerpt="other")),
        replace(HERE, event=an_event(amended_at=NOW)),
        replace(HERE, event=an_event("e2")),
    ],
)
def test_event_is_amended_only_if_unchanged_since_read(events: Events, read: StoredEvent) -> None:
    events.store(an_event(), DAILY)
    assert not events.amend(read, replace(read.event, excerpt="better", amended_at=NOW + SECOND))
    assert events.get("ann", "e1") == HERE
    assert events.get("ann", "e2") is None


def test_retracted_event_is_not_amended(events: Events) -> None:
    events.store(an_event(), DAILY)
    events.retract("ann", "e1", early=False)
    assert not events.amend(HERE, an_event(amended_at=NOW))
    assert events.get("ann", "e1") == Retracted("e1", DAILY)


def test_removed_event_leaves_no_trace_and_can_be_stored_again(
    events: Events, clock: SettableClock
) -> None:
    events.store(an_event(), DAILY)
    assert events.remove(HERE, Guard())
    assert events.get("ann", "e1") is None
    assert not events.remove(HERE, Guard())
    clock.now += SECOND
    assert events.store(an_event(), "weekly") == (
        True,
        a_stored_event(an_event(), "weekly", clock.now),
    )


@pytest.mark.parametrize(
    "read", [replace(HERE, schedule="weekly"), replace(HERE, stored_at=NOW - SECOND)]
)
def test_event_is_removed_only_from_its_current_place(events: Events, read: StoredEvent) -> None:
    events.store(an_event(), DAILY)
    assert not events.remove(read, Guard())
    assert events.get("ann", "e1") == HERE


def test_amended_event_can_be_removed(events: Events) -> None:
    events.store(an_event(), DAILY)
    events.amend(HERE, an_event(amended_at=NOW))
    assert events.remove(HERE, Guard())


@pytest.mark.parametrize("early", [True, False])
def test_retracted_event_leaves_a_trace_of_its_place(events: Events, early: bool) -> None:
    events.store(an_event(), DAILY)
    for _ in range(2):
        assert events.retract("ann", "e1", early=early) == Retracted("e1", DAILY)
    assert events.get("ann", "e1") == Retracted("e1", DAILY)
    assert list(events.stored_under("ann", DAILY, after=BEGINNING)) == []


def test_retracted_event_is_never_stored_again(events: Events) -> None:
    events.store(an_event(), DAILY)
    events.retract("ann", "e1", early=True)
    assert events.store(an_event(amended_at=NOW), DAILY) == (False, Retracted("e1", DAILY))
    assert not events.remove(HERE, Guard())
    assert events.move(HERE, "weekly", Guard()) is None
    assert events.get("ann", "e1") == Retracted("e1", DAILY)


def test_event_can_be_retracted_before_creation(events: Events) -> None:
    for _ in range(2):
        assert events.retract("ann", "e1", early=True) == Retracted("e1")
    assert events.get("ann", "e1") == Retracted("e1")
    assert events.store(an_event(), DAILY) == (False, Retracted("e1"))


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
def test_retraction_of_a_changing_event_fails_after_three_attempts(
    events: Events, monkeypatch: pytest.MonkeyPatch
) -> None:
    events.store(an_event(), DAILY)
    real: Any = BaseClient._make_api_call  # type: ignore[attr-defined]
    refused: list[str] = []

    def changed_before(caller: BaseClient, operation: str, request: dict[str, Any]) -> Any:
        if operation != "PutItem":
            return real(caller, operation, request)
        assert len(refused) < 9, "it asks without end"
        refused.append(operation)
        raise ClientError({"Error": {"Code": "ConditionalCheckFailedException"}}, operation)

    monkeypatch.setattr(BaseClient, "_make_api_call", changed_before)
    with pytest.raises(Unavailable, match="kept changing"):
        events.retract("ann", "e1", early=False)
    assert len(refused) == 3


def test_only_an_early_retraction_of_a_missing_event_leaves_a_trace(events: Events) -> None:
    assert events.retract("ann", "e1", early=False) is None
    assert events.get("ann", "e1") is None
    assert events.store(an_event(), DAILY)[0]


def test_events_under_a_schedule_are_listed_oldest_first(
    events: Events, clock: SettableClock
) -> None:
    stored = []
    for number in (3, 1, 2):
        event = an_event(f"e{number}")
        stored.append(a_stored_event(event, DAILY, clock.now))
        events.store(event, DAILY)
        clock.now += SECOND
    events.store(an_event("elsewhere"), "weekly")
    events.store(an_event("theirs", user_id="bo"), DAILY)
    events.retract("ann", "e0", early=True)
    assert list(events.stored_under("ann", DAILY, after=BEGINNING)) == stored
    assert list(events.stored_under("ann", DAILY, after=NOW)) == stored[1:]
    assert list(events.stored_under("ann", DAILY, after=NOW - timedelta(microseconds=1))) == stored
    assert list(events.stored_under("ann", DAILY, after=NOW + 2 * SECOND)) == []


def test_erasure_deletes_every_event_and_retraction_trace_of_the_user(events: Events) -> None:
    for number in range(60):
        events.store(an_event(f"e{number}"), DAILY)
    events.store(an_event("waiting", occurred_at=NOW + timedelta(days=9)), Unsent.WAITING)
    events.retract("ann", "early", early=True)
    events.store(an_event(user_id="bo"), DAILY)
    for _ in range(2):
        assert events.erase("ann", None) == ""
        assert list(events.stored_under("ann", DAILY, after=BEGINNING)) == []
        assert list(events.stored_under("ann", Unsent.WAITING, after=BEGINNING)) == []
        assert events.get("ann", "early") is None
    assert events.get("bo", "e1") == a_stored_event(an_event(user_id="bo"), DAILY, NOW)


def test_erasure_up_to_an_instant_keeps_later_events(events: Events) -> None:
    """It is of somebody who came back."""
    for number in range(3):
        events.store(an_event(f"e{number}", occurred_at=NOW + number * SECOND), DAILY)
    early = events.retract("ann", "early", early=True)
    events.erase("ann", NOW + SECOND)
    assert events.get("ann", "early") == early, "it may have been retracted since"
    assert [
        stored.event.id for stored in readable(events.stored_under("ann", DAILY, after=BEGINNING))
    ] == ["e2"]


def test_erasure_of_many_events_is_paged(events: Events) -> None:
    ids = [f"e{number:03d}" for number in range(600)]
    for event_id in ids:
        events.store(an_event(event_id), DAILY)
    after = events.erase("ann", None)
    assert after in ids
    left = [
        stored.event.id for stored in readable(events.stored_under("ann", DAILY, after=BEGINNING))
    ]
    assert sorted(left) == [event_id for event_id in ids if event_id > after]
    assert events.erase("ann", None, after=after) == ""
    assert list(events.stored_under("ann", DAILY, after=BEGINNING)) == []


def some_events(number: int = 3) -> list[Event]:
    return [an_event(f"e{each}") for each in range(number)]


def in_the_window(events: Events, schedule: str = DAILY) -> list[str]:
    return [
        stored.event.id
        for stored in readable(events.stored_under("ann", schedule, after=BEGINNING))
    ]


def test_events_stored_together_keep_their_order_within_the_clock(
    events: Events, clock: SettableClock
) -> None:
    stored = events.store_together([EventToStore(event, DAILY) for event in some_events(100)])
    assert stored
    assert [each.event for each in stored] == some_events(100)
    assert all(NOW - SECOND < each.stored_at <= NOW for each in stored)
    assert {events.get("ann", each.event.id) == each for each in stored} == {True}
    assert in_the_window(events) == [event.id for event in some_events(100)]


def test_events_are_stored_together_atomically(events: Events) -> None:
    events.retract("ann", "e1", early=True)
    assert events.store_together([EventToStore(event, DAILY) for event in some_events()]) is None
    assert in_the_window(events) == []


def test_many_events_are_read_by_id(events: Events, clock: SettableClock) -> None:
    here = events.store(an_event("e0"), DAILY)[1]
    trace = events.retract("ann", "e1", early=True)
    events.store(an_event("e0", user_id="bo"), DAILY)
    ids = [f"e{number}" for number in range(150)]
    assert events.get_many("ann", ids) == {"e0": here, "e1": trace}
    assert events.get_many("ann", []) == {}
    clock.now += RETENTION
    assert events.get_many("ann", ids) == {}


def test_events_move_together_atomically(events: Events, clock: SettableClock) -> None:
    stored = events.store_together([EventToStore(event, DAILY) for event in some_events()])
    assert stored
    clock.now += SECOND
    gone = replace(stored[1], stored_at=NOW - SECOND)
    assert events.move_together([stored[0], gone], "weekly", Guard()) is None
    assert in_the_window(events) == ["e0", "e1", "e2"]
    moved = events.move_together(stored, "weekly", Guard())
    assert moved
    assert [events.get("ann", each.event.id) for each in stored] == [*moved]
    assert in_the_window(events, "weekly") == ["e0", "e1", "e2"]
    assert all(NOW < each.stored_at <= clock.now for each in moved)
    assert events.move_together(stored, "custom", Guard()) is None


def test_events_do_not_move_together_after_the_guard_expires(
    events: Events, clock: SettableClock
) -> None:
    stored = events.store_together([EventToStore(event, DAILY) for event in some_events()])
    assert stored
    clock.now += SECOND
    assert events.move_together(stored, "weekly", Guard(not_after=NOW)) is None


def test_events_are_removed_together_atomically(events: Events) -> None:
    stored = events.store_together([EventToStore(event, DAILY) for event in some_events()])
    assert stored
    gone = replace(stored[1], schedule="weekly")
    assert not events.remove_together([stored[0], gone], Guard())
    assert in_the_window(events) == ["e0", "e1", "e2"]
    assert events.remove_together(stored, Guard())
    assert in_the_window(events) == []
    assert not events.remove_together(stored, Guard())


def test_events_are_extended_together_atomically(events: Events) -> None:
    stored = events.store_together([EventToStore(event, DAILY) for event in some_events()])
    assert stored
    until = NOW + RETENTION + SECOND
    assert events.extend(stored[2], until + SECOND)
    assert not events.extend_together(stored, until)
    assert events.get("ann", "e0") == stored[0]
    assert events.extend_together(stored[:2], until)
    assert events.get("ann", "e0") == replace(stored[0], lasts_until=until)


def test_expired_event_counts_as_missing(events: Events, clock: SettableClock) -> None:
    """DynamoDB takes days to delete it."""
    events.store(an_event(), DAILY)
    clock.now += RETENTION - SECOND
    assert events.get("ann", "e1") == HERE
    assert list(events.stored_under("ann", DAILY, after=BEGINNING)) == [HERE]
    clock.now += SECOND
    assert events.get("ann", "e1") is None
    assert list(events.stored_under("ann", DAILY, after=BEGINNING)) == []
    assert events.retract("ann", "e1", early=False) is None
    anew = a_stored_event(an_event(excerpt="anew"), "weekly", clock.now)
    assert events.store(anew.event, "weekly") == (True, anew)
    assert events.get("ann", "e1") == anew


def test_expired_event_leaves_no_trace_of_its_place(events: Events, clock: SettableClock) -> None:
    events.store(an_event(), DAILY)
    clock.now += RETENTION
    assert events.retract("ann", "e1", early=True) == Retracted("e1")


def test_retraction_trace_is_kept_for_the_event_retention(
    events: Events, clock: SettableClock
) -> None:
    events.store(an_event(), DAILY)
    clock.now += RETENTION - SECOND
    events.retract("ann", "e1", early=False)
    clock.now += RETENTION - SECOND
    assert events.get("ann", "e1") == Retracted("e1", DAILY)
    clock.now += SECOND
    assert events.get("ann", "e1") is None
    assert events.store(an_event(), DAILY)[0]


def test_moving_or_amending_does_not_extend_the_lifetime(
    events: Events, clock: SettableClock
) -> None:
    events.store(an_event(), Unsent.WAITING)
    clock.now += SECOND
    moved = events.move(replace(HERE, schedule=Unsent.WAITING), DAILY, Guard())
    assert moved
    assert events.amend(moved, an_event(amended_at=NOW))
    clock.now = NOW + RETENTION
    assert events.get("ann", "e1") is None


MONTHLY = Recurrence(8, 0, "Europe/Berlin", Days(month_day=21))
"""The next ones are on 21 December and 21 January."""

LONG = datetime(2027, 1, 21, 7, 0, tzinfo=UTC) + MARGIN
"""Up to when what waits for the latter lasts."""


def test_event_of_a_monthly_digest_lasts_longer(events: Events, clock: SettableClock) -> None:
    there = StoredEvent(an_event(), "custom", NOW, LONG)
    assert events.store(an_event(), "custom", MONTHLY) == (True, there)
    clock.now = LONG - SECOND
    assert events.get("ann", "e1") == there
    assert not events.store(an_event(), DAILY)[0]
    clock.now = LONG
    assert events.get("ann", "e1") is None
    assert events.store(an_event(), DAILY)[0], "while its row is there"


def test_moved_event_gets_the_longer_lifetime_of_its_schedule(
    events: Events, clock: SettableClock
) -> None:
    events.store(an_event(), Unsent.WAITING)
    clock.now += SECOND
    moved = events.move(replace(HERE, schedule=Unsent.WAITING), "custom", Guard(), MONTHLY)
    assert moved == StoredEvent(an_event(), "custom", clock.now, LONG)
    assert moved
    assert events.get("ann", "e1") == moved
    clock.now += SECOND
    back = events.move(moved, DAILY, Guard())
    assert back == StoredEvent(an_event(), DAILY, clock.now, LONG)
    assert events.get("ann", "e1") == back


def test_lifetime_is_extended_and_never_shortened(events: Events, clock: SettableClock) -> None:
    events.store(an_event(), DAILY)
    assert events.extend(HERE, LONG)
    longer = replace(HERE, lasts_until=LONG)
    assert events.get("ann", "e1") == longer
    for read in (HERE, longer):
        assert not events.extend(read, LONG - SECOND)
    assert events.get("ann", "e1") == longer
    assert events.extend(HERE, LONG), "by whoever gets no answer the first time"
    clock.now = LONG - SECOND
    assert list(events.stored_under("ann", DAILY, after=BEGINNING)) == [longer]


@pytest.mark.parametrize(
    "read",
    [
        replace(HERE, schedule="weekly"),
        replace(HERE, stored_at=NOW - SECOND),
        replace(HERE, event=an_event("e2")),
    ],
)
def test_lifetime_is_extended_only_in_the_current_place(events: Events, read: StoredEvent) -> None:
    events.store(an_event(), DAILY)
    assert not events.extend(read, LONG)
    assert events.get("ann", "e1") == HERE
    assert events.get("ann", "e2") is None


def test_move_based_on_an_outdated_lifetime_fails(events: Events) -> None:
    """Who moves it reads it again."""
    events.store(an_event(), DAILY)
    events.extend(HERE, LONG)
    assert events.move(HERE, "weekly", Guard()) is None
    longer = replace(HERE, lasts_until=LONG)
    assert events.get("ann", "e1") == longer
    assert events.move(longer, "weekly", Guard())


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
@pytest.mark.usefixtures("engine")
def test_row_of_an_earlier_version_lasts_until_its_deletion(clock: SettableClock) -> None:
    events = dynamo_events(clock)
    events.store(an_event(), DAILY)
    row = EventRow.get("ann", "e1")
    end = row.expires_at
    row.update([EventRow.lasts_until.remove()])
    found = events.get("ann", "e1")
    assert found == replace(HERE, lasts_until=end)
    assert isinstance(found, StoredEvent)
    assert not events.store(an_event(), DAILY)[0]
    clock.now = end
    assert events.get("ann", "e1") is None
    assert events.store(an_event(), DAILY)[0]


def test_event_instants_are_read_in_utc(events: Events, clock: SettableClock) -> None:
    berlin = datetime.fromisoformat("2026-11-22T08:00:00.000001+01:00")
    clock.now = berlin
    events.store(an_event(occurred_at=berlin), DAILY)
    utc = berlin.astimezone(UTC)
    assert events.get("ann", "e1") == a_stored_event(an_event(occurred_at=utc), DAILY, utc)


@pytest.fixture
def ticking(clock: SettableClock) -> Callable[[], datetime]:
    """A clock that goes on by a second each time that it is read."""

    def tick() -> datetime:
        clock.now += SECOND
        return clock.now

    return tick


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
@pytest.mark.usefixtures("engine")
def test_trace_l_each_write_attempt_has_a_new_timestamp(
    ticking: Callable[[], datetime], answers: list[str]
) -> None:
    """The stamp of the first would lie before windows that were closed meanwhile (rule 14)."""
    events = dynamo_events(ticking)
    answers += ["lost before", "lost before"]
    third = a_stored_event(an_event(), DAILY, NOW + 3 * SECOND)
    assert events.store(an_event(), DAILY) == (True, third)
    assert events.get("ann", "e1") == third


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
@pytest.mark.usefixtures("engine")
def test_trace_l_write_retried_after_a_transaction_conflict_has_a_new_timestamp(
    ticking: Callable[[], datetime], answers: list[str]
) -> None:
    events = dynamo_events(ticking)
    answers += ["in the way", "in the way"]
    third = a_stored_event(an_event(), DAILY, NOW + 3 * SECOND)
    assert events.store(an_event(), DAILY) == (True, third)


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
@pytest.mark.usefixtures("engine")
def test_event_with_a_lost_response_is_stored_once(
    ticking: Callable[[], datetime], answers: list[str]
) -> None:
    events = dynamo_events(ticking)
    answers += ["lost after"]
    first = a_stored_event(an_event(), DAILY, NOW + SECOND)
    assert events.store(an_event(), DAILY) == (False, first)


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
@pytest.mark.usefixtures("engine")
def test_write_without_a_response_fails_after_three_attempts(
    clock: SettableClock, answers: list[str]
) -> None:
    events = dynamo_events(clock)
    answers += ["lost before"] * 3
    with pytest.raises(Unavailable):
        events.store(an_event(), DAILY)
    assert events.get("ann", "e1") is None


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
@pytest.mark.usefixtures("engine")
def test_event_is_written_by_a_single_request_per_timestamp(clock: SettableClock) -> None:
    """Else the client would repeat a write with a stamp that has grown old (rule 14)."""
    config: Any = dynamo_events(clock)._writes._get_connection().connection.client.meta.config
    assert config.retries["total_max_attempts"] == 1
    assert config.connect_timeout + config.read_timeout == 1.5


def test_row_rejected_by_dynamodb_is_not_stored(events: Events) -> None:
    """Of 400 KB and more: the longest event of the contract is far below."""
    with pytest.raises(Unavailable):
        events.store(an_event(excerpt="x" * 410_000), DAILY)
    assert events.get("ann", "e1") is None
