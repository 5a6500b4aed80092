"""What the preference page shows, and what its button does."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from gazette.domain.choosing import NOTHING, Choice
from gazette.domain.commands import ChangeFollow, ChoosePreferences, CreateActivity
from gazette.domain.errors import Unavailable
from gazette.domain.following import FollowState
from gazette.domain.frequency import Frequency
from gazette.domain.overview import Overview
from gazette.domain.subscriber import Subscriber
from gazette.steps.centre import SHOWN

from tests.builders import NOW, an_activity
from tests.world import World, crashes

POST = "post#post1"
WEEKLY = Choice(cadence=Frequency.WEEKLY)


def known() -> World:
    """Ann has been there for a day."""
    world = World()
    world.choose(at=NOW - timedelta(days=1))
    return world


@pytest.fixture
def world() -> World:
    return known()


def seen(world: World) -> Overview:
    overview = world.look()
    assert overview
    return overview


# What is shown.


def test_nobody_is_shown_who_is_unknown_or_erased() -> None:
    world = World()
    assert world.look() is None
    world.erase()
    assert world.look() is None


def test_the_next_digest_is_that_of_the_schedules_as_stored(world: World) -> None:
    assert seen(world).next_due_at == datetime(2026, 11, 23, 7, 0, tzinfo=UTC)


def test_a_digest_that_nothing_goes_into_any_more_is_no_promise(world: World) -> None:
    """The daily schedule stays; with everything weekly, Monday's is the next."""
    world.save(Choice(cadence=Frequency.WEEKLY, weekly_on=5))
    assert ("ann", "daily") in world.schedules.rows
    assert seen(world).next_due_at == datetime(2026, 11, 27, 7, 0, tzinfo=UTC)


@pytest.mark.parametrize("often", [Frequency.NEVER, Frequency.IMMEDIATE])
def test_who_wants_no_digest_has_no_next_one(world: World, often: Frequency) -> None:
    world.save(Choice(cadence=often))
    assert seen(world).next_due_at is None


def test_a_category_or_a_follow_alone_may_want_a_digest(world: World) -> None:
    world.save(Choice(cadence=Frequency.NEVER, frequencies=(("like", Frequency.WEEKLY),)))
    assert seen(world).next_due_at == datetime(2026, 11, 23, 7, 0, tzinfo=UTC)
    world.save(Choice(frequencies=()))
    assert seen(world).next_due_at is None
    world.save(NOTHING, (POST, FollowState(True, Frequency.DAILY)))
    assert seen(world).next_due_at == datetime(2026, 11, 23, 7, 0, tzinfo=UTC)


def test_in_a_pause_what_is_wanted_at_once_comes_with_the_digest_after_it(world: World) -> None:
    world.save(Choice(cadence=Frequency.IMMEDIATE, paused_until=date(2026, 12, 1)))
    assert seen(world).is_paused
    assert seen(world).next_due_at == datetime(2026, 12, 1, 7, 0, tzinfo=UTC)


def test_who_left_has_no_next_digest(world: World) -> None:
    world.unsubscribe()
    assert seen(world).next_due_at is None


def test_follows_that_hold_are_shown_by_title_up_to_a_hundred_and_counted(world: World) -> None:
    for number in range(SHOWN + 5):
        state = FollowState(True, None, f"Title {number:03}")
        world.say(ChangeFollow("ann", f"post#{1000 - number}", state, NOW))
    world.say(ChangeFollow("ann", "post#ended", FollowState(True), NOW - timedelta(hours=1)))
    world.follow(entity="post#ended", following=False)
    world.follow("bo", "post#other")
    overview = seen(world)
    assert overview.follow_count == SHOWN + 5
    titles = [f"Title {number:03}" for number in range(SHOWN)]
    assert [follow.title for follow in overview.follows] == titles


def test_a_title_stays_when_somebody_does_not_repeat_it(world: World) -> None:
    titled = FollowState(True, None, "On digests")
    world.say(ChangeFollow("ann", POST, titled, NOW - timedelta(hours=1)))
    world.follow(often=Frequency.WEEKLY)
    (follow,) = seen(world).follows
    assert (follow.title, follow.latest.frequency) == ("On digests", Frequency.WEEKLY)


# What is saved.


def test_what_is_chosen_is_on_the_bus_and_done_at_once(world: World) -> None:
    assert world.save(WEEKLY, (POST, FollowState(True, Frequency.NEVER)))
    assert world.bus.taken == [
        ChoosePreferences("ann", WEEKLY, NOW),
        ChangeFollow("ann", POST, FollowState(True, Frequency.NEVER), NOW),
    ]
    assert seen(world).subscriber.own.cadence == ((NOW, Frequency.WEEKLY),)
    assert world.follows.rows[POST, "ann"].latest.frequency is Frequency.NEVER
    assert ("ann", "weekly") in world.schedules.rows


def test_the_message_on_the_bus_changes_nothing_more_and_moves_what_waits(world: World) -> None:
    world.save(WEEKLY)
    before = seen(world).subscriber
    world.work_off_bus()
    assert replace(seen(world).subscriber, placed="") == replace(before, placed="")


def test_an_entity_that_is_muted_here_is_taken_back_by_the_message(world: World) -> None:
    world.follow(at=NOW - timedelta(hours=1))
    world.say(CreateActivity(an_activity()))
    assert world.events.rows
    world.save(NOTHING, (POST, FollowState(False)))
    assert world.events.rows, "left to ingest"
    world.work_off_bus()
    assert not world.events.rows


def test_where_nothing_is_chosen_nothing_is_put_on_the_bus(world: World) -> None:
    with world.calls() as calls:
        assert world.save()
    assert calls == ["subscribers.get", "subscribers.mark_active"], "a visit is a sign of life"
    assert not world.bus.taken


def test_where_the_bus_takes_nothing_nothing_is_changed(world: World) -> None:
    before = seen(world)
    world.bus.answers.append(False)
    assert not world.save(WEEKLY, (POST, FollowState(True)))
    assert seen(world) == before
    assert not world.bus.taken


def test_where_nobody_knows_what_the_bus_took_nothing_is_done_here(world: World) -> None:
    before = seen(world)
    world.bus.answers.append(Unavailable("no answer"))
    with pytest.raises(Unavailable):
        world.save(WEEKLY)
    assert seen(world) == before


def test_a_choice_survives_a_crash_wherever_the_bus_had_taken_it() -> None:
    """It counts in any case once ingest has had it; before the bus had it, nothing is done."""
    ends = set()
    for world, where in crashes(known, lambda world: world.save(WEEKLY)):
        taken = bool(world.bus.taken)
        world.work_off_bus()
        reader = world.subscribers.get("ann")
        assert isinstance(reader, Subscriber)
        assert bool(reader.own.cadence) == taken, where
        assert (("ann", "weekly") in world.schedules.rows) == taken, where
        ends.add(taken)
    assert ends == {True, False}
