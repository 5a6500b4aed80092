"""One happening together with lifetimes, expiry, critical email and other entities (rule 30)."""

from dataclasses import replace
from datetime import timedelta

import pytest
from gazette.domain.commands import CreateEvents, RetractEvent
from gazette.domain.delivery.signals import Uncertain
from gazette.domain.errors import TooOld
from gazette.domain.model import StoredEvent
from gazette.domain.receipts.receipt import State
from gazette.domain.scheduling.kinds import is_critical
from gazette.domain.subscribers.frequency import Frequency
from gazette.steps.ingest.age import without_outdated

from tests.builders import NOW, RETENTION, an_event
from tests.receipts import receipt_of
from tests.unit.routing.test_happening import (
    ADDRESSED,
    IMMEDIATE,
    MENTION,
    a_world,
    addressed,
    comment,
    mention,
    mute_mentions,
    sent,
    the_row,
    unfollow,
)
from tests.world import World

DAY, HOUR = timedelta(days=1), timedelta(hours=1)
DAILY_OFTEN = Frequency.DAILY


@pytest.mark.parametrize("event", [MENTION, an_event("m1", category="mention")])
def test_repetition_is_too_old_once_the_row_of_the_pointer_has_expired(event: object) -> None:
    world = a_world(IMMEDIATE, IMMEDIATE)
    mention(world)
    world.send_everything()
    command = CreateEvents((event,))  # type: ignore[arg-type]

    def check() -> object:
        return without_outdated(
            command,
            world.clock() + DAY,
            oldest=DAY,
            activities=world.activities,
            events=world.events,
        )

    assert check() == (command, False)
    world.clock.now = NOW + RETENTION + 9 * DAY
    with pytest.raises(TooOld):
        check()


def a_critical_world() -> World:
    world = World(critical=frozenset({"alert"}))
    world.choose(at=NOW - DAY, comment=DAILY_OFTEN, mention=IMMEDIATE)
    world.create(an_event("c1", category="alert"))
    return world


def test_mention_in_a_critical_event_is_alone() -> None:
    world = a_critical_world()
    mention(world)
    assert set(world.waiting()) == {"c1", "m1"}


def test_nothing_that_is_not_critical_enters_a_critical_email_that_may_have_been_sent() -> None:
    world = World(critical=frozenset({"alert"}))
    world.choose(at=NOW - DAY, mention=IMMEDIATE)
    mention(world)
    world.create(an_event("c1", category="alert"))
    assert is_critical(the_row(world).schedule)
    world.mailer.script.append(Uncertain(1, "no answer"))
    world.send_everything()
    world.say(RetractEvent("ann", "c1"))
    world.unsubscribe()
    world.recover()
    assert "mention" not in sent(world)


def test_amendment_that_adds_an_end_does_not_remove_the_other_event() -> None:
    world = a_world(DAILY_OFTEN, DAILY_OFTEN)
    comment(world)
    mention(world)
    world.create(replace(MENTION, expires_at=NOW + HOUR, amended_at=NOW))
    world.clock.pass_time(hours=2)
    world.send_everything()
    assert sent(world) == ["mention"]


def test_event_that_lapses_at_the_id_of_the_activity_does_not_remove_the_mention() -> None:
    world = a_world(Frequency.WEEKLY, DAILY_OFTEN)
    mention(world)
    world.create(replace(ADDRESSED, expires_at=NOW + HOUR))
    assert the_row(world).event == MENTION
    world.clock.pass_time(hours=2)
    world.send_everything()
    assert sent(world) == ["mention"]


def test_mention_in_an_event_that_lapses_is_alone() -> None:
    world = a_world(DAILY_OFTEN, DAILY_OFTEN)
    world.create(replace(ADDRESSED, expires_at=NOW + HOUR))
    mention(world)
    assert set(world.waiting()) == {"c1", "m1"}


def test_event_of_another_entity_with_the_id_of_the_activity_is_alone() -> None:
    world = a_world(DAILY_OFTEN, DAILY_OFTEN)
    world.create(an_event("c1", entity_id="post9"))
    mention(world)
    assert set(world.waiting()) == {"c1", "m1"}


@pytest.mark.parametrize("has_profile", [True, False])
def test_event_that_joins_an_old_row_is_kept_as_long_as_any_event(*, has_profile: bool) -> None:
    world = World()
    if has_profile:
        world.choose(at=NOW - 9 * DAY, comment=DAILY_OFTEN, mention=DAILY_OFTEN)
    addressed(world)
    world.clock.pass_time(days=20)
    world.create(replace(MENTION, occurred_at=world.clock()))
    row = the_row(world)
    assert row.lasts_until == world.clock() + RETENTION
    found = world.events.get("ann", "c1")
    assert isinstance(found, StoredEvent)
    world.clock.pass_time(days=20)
    if not has_profile:
        world.choose(at=NOW - DAY, comment=DAILY_OFTEN, mention=DAILY_OFTEN)
        world.send_everything()
        assert len(sent(world)) == 1


@pytest.mark.parametrize("is_followed", [True, False])
def test_unwanted_event_stays_in_a_row_that_was_sent(*, is_followed: bool) -> None:
    world = a_world(IMMEDIATE, IMMEDIATE)
    comment(world)
    mention(world)
    world.send_everything()
    mute_mentions(world)
    if not is_followed:
        unfollow(world)
    mention(world)
    comment(world)
    assert len(the_row(world).bodies) == 2
    m1 = receipt_of(world, "m1")
    assert (m1.state, m1.shown_as) == (State.EMAILED, "")
    assert receipt_of(world, "c1").shown_as == "m1"


def test_unwanted_event_leaves_a_row_that_waits() -> None:
    world = a_world(DAILY_OFTEN, DAILY_OFTEN)
    comment(world)
    mention(world)
    mute_mentions(world)
    mention(world)
    assert [each.category for each in the_row(world).bodies] == ["comment"]
