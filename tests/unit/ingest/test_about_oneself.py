"""An event about oneself comes if a service addresses it; an activity of one's own does not."""

from dataclasses import replace

import pytest
from gazette.adapters.contract.details import ActorDetail
from gazette.domain.commands import CreateActivity
from gazette.domain.model import Actor, Event
from gazette.domain.outcome import Outcome
from gazette.domain.subscribers.frequency import Frequency

from tests.builders import NOW, an_activity, an_event
from tests.explained import explained
from tests.world import World

ANN = Actor("ann", "Ann")


def about_oneself(category: str = "comment") -> Event:
    return replace(an_event(category=category), actor=ANN)


def a_world(often: Frequency = Frequency.DAILY) -> World:
    world = World(critical=frozenset({"security"}))
    world.choose(comment=often, security=Frequency.NEVER)
    return world


def lines(world: World) -> list[str]:
    world.send_everything()
    return [line for email in world.emails() for line in email.lines]


@pytest.mark.parametrize("often", [Frequency.DAILY, Frequency.WEEKLY, Frequency.IMMEDIATE])
def test_event_caused_by_reader_follows_category_frequency(often: Frequency) -> None:
    world = a_world(often)
    assert world.create(about_oneself()) == [Outcome.STORED]
    assert lines(world) == ["post1: 1"]


def test_critical_event_caused_by_reader_is_always_sent() -> None:
    """Such as a new sign-in."""
    world = a_world(Frequency.NEVER)
    world.create(about_oneself("security"))
    assert lines(world) == ["post1: 1"]


def test_event_amended_to_be_caused_by_reader_is_sent() -> None:
    world = a_world()
    world.create(an_event())
    assert world.create(replace(about_oneself(), amended_at=NOW)) == [Outcome.AMENDED]
    assert lines(world) == ["post1: 1"]


def test_event_caused_by_reader_moves_with_choices() -> None:
    world = a_world()
    world.create(about_oneself())
    world.choose(at=world.clock(), comment=Frequency.WEEKLY)
    assert world.waiting() == {"e1": "weekly"}


def test_event_caused_by_reader_can_be_muted() -> None:
    world = a_world(Frequency.NEVER)
    assert world.create(about_oneself()) == [Outcome.MUTED]


def test_explain_lists_event_caused_by_reader() -> None:
    world = a_world()
    world.create(about_oneself())
    assert [each.count for each in explained(world).waiting] == [1]


@pytest.mark.parametrize("category", ["comment", "security"])
def test_own_activity_is_not_sent_to_its_actor(category: str) -> None:
    world = a_world(Frequency.IMMEDIATE)
    world.follow(at=NOW)
    world.say(CreateActivity(replace(an_activity(category=category), actor=ANN)))
    assert world.waiting() == {}
    assert lines(world) == []


def test_schema_documents_delivery_of_own_events_and_activities() -> None:
    description = ActorDetail.model_fields["id"].description
    assert description is not None
    assert "that subscriber does not receive the actor's activities" in description
    assert "`event.created` is sent to its `user_id` even if that is the actor" in description
