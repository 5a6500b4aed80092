"""What the port `EventHistory` promises, held against our fake and the real adapter on moto."""

from datetime import timedelta

from gazette.domain.explanation import EventHistory
from gazette.domain.model import DAILY, StoredEvent
from gazette.domain.ports.stores import Events, Guard
from gazette.domain.scheduling.kinds import Unsent
from gazette.domain.stored import readable

from tests.builders import RETENTION, SettableClock, a_stored_event, an_event
from tests.contract.conftest import SECOND


def test_event_history_is_sorted_by_schedule_and_time(
    events: Events, history: EventHistory, clock: SettableClock
) -> None:
    found: dict[str, list[StoredEvent]] = {Unsent.WAITING: [], DAILY: []}
    for number in (3, 1, 2):
        for schedule, stored in found.items():
            event = an_event(f"{schedule}{number}")
            stored.append(a_stored_event(event, schedule, clock.now))
            events.store(event, schedule)
            clock.now += SECOND
    events.store(an_event("theirs", user_id="bo"), DAILY)
    assert list(history.of_user("ann")) == found[DAILY] + found[Unsent.WAITING]
    assert list(history.of_user("cy")) == []


def test_moved_event_is_listed_under_its_current_schedule(
    events: Events, history: EventHistory, clock: SettableClock
) -> None:
    _, stored = events.store(an_event(), Unsent.WAITING)
    assert isinstance(stored, StoredEvent)
    clock.now += SECOND
    moved = events.move(stored, DAILY, Guard())
    assert list(history.of_user("ann")) == [moved]


def test_retracted_events_are_not_listed_but_expired_events_are(
    events: Events, history: EventHistory, clock: SettableClock
) -> None:
    events.store(an_event("e1"), DAILY)
    events.store(an_event("e2"), DAILY)
    events.retract("ann", "e1", early=False)
    events.retract("ann", "early", early=True)
    assert [stored.event.id for stored in readable(history.of_user("ann"))] == ["e2"]
    clock.now += RETENTION + timedelta(days=4) - SECOND
    assert [stored.event.id for stored in readable(history.of_user("ann"))] == ["e2"]
    clock.now += SECOND
    assert list(history.of_user("ann")) == []


def test_history_of_several_pages_is_complete(events: Events, history: EventHistory) -> None:
    """A page of a Query is a megabyte."""
    ids = [f"e{number:03}" for number in range(400)]
    for each in ids:
        events.store(an_event(each, excerpt="x" * 3000), DAILY)
    assert sorted(stored.event.id for stored in readable(history.of_user("ann"))) == ids
