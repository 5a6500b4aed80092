"""What `EventShelf` promises, held against our fake and the real adapter on moto."""

import pytest
from gazette.adapters.shelf import DynamoEventShelf
from gazette.domain.identity import ASIDE
from gazette.domain.model import DAILY, Placed
from gazette.domain.stores import EventReader, Events, EventShelf, Guard

from tests.builders import NOW, SettableClock, a_window, an_event
from tests.fake_stores import FakeEvents


@pytest.fixture
def shelf(events: Events, clock: SettableClock) -> EventShelf:
    return events if isinstance(events, FakeEvents) else DynamoEventShelf("events", clock=clock)


def test_what_is_set_aside_is_in_no_window(
    events: Events, reader: EventReader, shelf: EventShelf
) -> None:
    events.store(an_event(), DAILY)
    assert shelf.set_aside(an_event(), DAILY, "cannot be shown")
    assert list(reader.read("ann", DAILY, a_window())) == []
    assert events.get("ann", "e1") == Placed(an_event(), ASIDE, NOW)


@pytest.mark.parametrize("name", ["weekly", "dail", "daily2"])
def test_what_has_moved_meanwhile_stays(
    events: Events, reader: EventReader, shelf: EventShelf, name: str
) -> None:
    events.store(an_event(), DAILY)
    assert not shelf.set_aside(an_event(), name, "cannot be shown")
    assert len(list(reader.read("ann", DAILY, a_window()))) == 1


def test_what_is_gone_is_not_brought_back(events: Events, shelf: EventShelf) -> None:
    assert not shelf.set_aside(an_event(), DAILY, "cannot be shown")
    assert events.get("ann", "e1") is None


def test_what_was_set_aside_can_be_moved_to_where_it_belongs(
    events: Events, reader: EventReader, shelf: EventShelf
) -> None:
    """As by its producer, who puts it again."""
    events.store(an_event(), DAILY)
    shelf.set_aside(an_event(), DAILY, "cannot be shown " * 100)
    _, found = events.store(an_event(), DAILY)
    assert isinstance(found, Placed)
    assert events.move(found, DAILY, Guard())
    assert [event.id for event in reader.read("ann", DAILY, a_window())] == ["e1"]
