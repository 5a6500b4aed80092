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
def test_an_event_about_oneself_comes_as_often_as_its_category(often: Frequency) -> None:
    world = a_world(often)
    assert world.create(about_oneself()) == [Outcome.STORED]
    assert lines(world) == ["post1: 1"]


def test_a_critical_event_about_oneself_comes_whatever_was_chosen() -> None:
    """Such as a new sign-in."""
    world = a_world(Frequency.NEVER)
    world.create(about_oneself("security"))
    assert lines(world) == ["post1: 1"]


def test_an_event_that_is_amended_to_be_about_oneself_comes() -> None:
    world = a_world()
    world.create(an_event())
    assert world.create(replace(about_oneself(), amended_at=NOW)) == [Outcome.AMENDED]
    assert lines(world) == ["post1: 1"]


def test_an_event_about_oneself_stays_where_choices_move_it() -> None:
    world = a_world()
    world.create(about_oneself())
    world.choose(at=world.clock(), comment=Frequency.WEEKLY)
    assert world.waiting() == {"e1": "weekly"}


def test_an_event_about_oneself_is_muted_as_any() -> None:
    world = a_world(Frequency.NEVER)
    assert world.create(about_oneself()) == [Outcome.MUTED]


def test_an_event_about_oneself_waits_in_explain() -> None:
    world = a_world()
    world.create(about_oneself())
    assert [each.count for each in explained(world).waiting] == [1]


@pytest.mark.parametrize("category", ["comment", "security"])
def test_an_activity_of_ones_own_does_not_come(category: str) -> None:
    world = a_world(Frequency.IMMEDIATE)
    world.follow(at=NOW)
    world.say(CreateActivity(replace(an_activity(category=category), actor=ANN)))
    assert world.waiting() == {}
    assert lines(world) == []


def test_the_schema_says_which_of_both_comes() -> None:
    description = ActorDetail.model_fields["id"].description
    assert description is not None
    assert "`activity.created` does not come to that subscriber" in description
    assert "`event.created` comes to its `user_id`, also if that is the actor" in description
