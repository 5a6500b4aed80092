"""Late events go with the digest, and events of unknown past are refused with the reason."""

from dataclasses import replace
from datetime import timedelta

import pytest
from gazette.domain.commands import CreateActivity, CreateEvents, RetractEvent
from gazette.domain.model import DAILY, StoredEvent
from gazette.domain.outcome import Outcome
from gazette.domain.scheduling.kinds import Unsent, is_critical
from gazette.domain.subscribers.frequency import Frequency
from gazette.steps.routing.reroute import reroute
from gazette.steps.routing.target import LATE_AFTER

from tests.builders import NOW, RETENTION, an_activity, an_event
from tests.world import World

SECOND = timedelta(seconds=1)
DAY = timedelta(days=1)
OLD = NOW - RETENTION - SECOND


@pytest.fixture
def world() -> World:
    """Ann gets comments immediately."""
    world = World(critical=frozenset({"security"}))
    world.choose(at=NOW - 300 * DAY, comment=Frequency.IMMEDIATE)
    return world


def is_immediate(world: World, event_id: str = "e1") -> bool:
    stored = world.events.get("ann", event_id)
    assert isinstance(stored, StoredEvent)
    return stored.is_immediate


@pytest.mark.parametrize(("age", "immediate"), [(LATE_AFTER, True), (LATE_AFTER + SECOND, False)])
def test_event_that_occurred_more_than_a_day_ago_waits_for_the_digest(
    world: World, age: timedelta, immediate: bool
) -> None:
    world.create(an_event(occurred_at=NOW - age))
    assert is_immediate(world) is immediate
    if not immediate:
        assert world.waiting() == {"e1": DAILY}
        assert world.generate_queue.sent == []


def test_late_event_in_a_less_frequent_digest_stays_there(world: World) -> None:
    world.choose(at=NOW - 200 * DAY, comment=Frequency.WEEKLY)
    world.create(an_event(occurred_at=NOW - 2 * DAY))
    assert world.waiting() == {"e1": "weekly"}


def test_late_activity_of_a_follow_waits_for_the_digest(world: World) -> None:
    world.follow(at=NOW - 10 * DAY)
    world.say(CreateActivity(an_activity(occurred_at=NOW - 2 * DAY)))
    world.work_off_followers()
    assert set(world.waiting().values()) == {DAILY}


def test_late_critical_event_is_still_immediate(world: World) -> None:
    world.create(an_event(category="security", occurred_at=NOW - 10 * DAY))
    stored = world.events.get("ann", "e1")
    assert isinstance(stored, StoredEvent)
    assert is_critical(stored.schedule)


def test_event_that_became_late_while_its_message_waited_is_not_sent_twice(world: World) -> None:
    """The message comes again after the email was sent. The event stays where it was sent."""
    event = an_event(occurred_at=NOW)
    world.create(event)
    world.deliver_queued()
    assert len(world.emails()) == 1
    world.clock.now += 2 * DAY
    assert world.create(event) == [Outcome.DUPLICATE]
    assert is_immediate(world)
    world.deliver_queued()
    assert len(world.emails()) == 1


def test_event_of_a_new_reader_waits_for_the_digest_if_its_profile_is_late() -> None:
    world = World()
    world.create(an_event())
    assert world.waiting() == {"e1": Unsent.WAITING}
    world.clock.now += 2 * DAY
    world.choose(at=NOW - 300 * DAY, comment=Frequency.IMMEDIATE)
    assert world.waiting() == {"e1": DAILY}


def test_choice_of_immediate_email_leaves_late_events_in_the_digest(world: World) -> None:
    """Otherwise, a reader with many waiting events would get as many emails."""
    world.choose(at=NOW - 250 * DAY, comment=Frequency.DAILY)
    world.create(an_event("old", occurred_at=NOW - 2 * DAY), an_event("new", occurred_at=NOW))
    world.choose(at=NOW, comment=Frequency.IMMEDIATE)
    reroute("ann", context=world.context)
    assert not is_immediate(world, "old")
    assert is_immediate(world, "new")


def test_event_older_than_its_record_is_refused_with_the_reason(world: World) -> None:
    assert world.create(an_event(occurred_at=OLD)) == [Outcome.TOO_OLD]
    assert world.events.rows == {}
    ((body, reason),) = world.quarantine.kept
    assert body == "the body"
    assert "is more than 35 days ago (event_retention_days)" in reason
    assert "Publish" not in reason
    assert "publish it with a new id and the current time" in reason


def test_event_as_old_as_its_record_is_stored(world: World) -> None:
    """A dead letter waits for 14 days, and an archive keeps 30 days."""
    assert world.create(an_event(occurred_at=OLD + SECOND)) == [Outcome.STORED]


def test_critical_event_older_than_its_record_is_refused(world: World) -> None:
    """It may have been sent before, and an operator sees it in the quarantine."""
    old = an_event(category="security", occurred_at=OLD)
    assert world.create(old) == [Outcome.TOO_OLD]


def test_only_outdated_events_of_a_list_are_refused(world: World) -> None:
    new, old = an_event("new"), an_event("old", occurred_at=OLD)
    assert world.create(old, new) == [Outcome.STORED, Outcome.TOO_OLD]
    assert set(world.waiting()) == {"new"}
    assert len(world.quarantine.kept) == 1


def test_invalid_and_outdated_events_of_a_list_are_quarantined_together(world: World) -> None:
    command = CreateEvents((an_event("new"), an_event("old", occurred_at=OLD)), "detail[2]: bad")
    assert world.say(command) == [Outcome.STORED, Outcome.TOO_OLD]
    ((_, reason),) = world.quarantine.kept
    assert reason.endswith("detail[2]: bad")


def test_repetition_of_an_old_event_is_recognised(world: World) -> None:
    event = an_event(occurred_at=OLD + SECOND)
    world.create(event)
    world.clock.now += 10 * DAY
    assert world.create(event) == [Outcome.DUPLICATE]
    assert world.quarantine.kept == []


def test_amendment_of_an_old_event_is_accepted(world: World) -> None:
    event = an_event(occurred_at=OLD + SECOND)
    world.create(event)
    world.clock.now += 10 * DAY
    amended = replace(event, excerpt="better", amended_at=world.clock())
    assert world.create(amended) == [Outcome.AMENDED]


def test_retraction_that_arrived_first_is_recognised(world: World) -> None:
    world.say(RetractEvent("ann", "e1"))
    assert world.create(an_event(occurred_at=OLD)) == [Outcome.RETRACTED]


def test_outdated_activity_is_refused_unless_it_is_stored(world: World) -> None:
    world.follow(at=NOW - 100 * DAY)
    activity = an_activity(occurred_at=OLD)
    assert world.say(CreateActivity(activity)) == [Outcome.TOO_OLD]
    assert len(world.quarantine.kept) == 1
    assert world.followers_queue.sent == []
    in_time = replace(activity, occurred_at=OLD + SECOND)
    assert world.say(CreateActivity(in_time)) == [Outcome.STORED]
    world.clock.now += 10 * DAY
    assert world.say(CreateActivity(in_time)) == [Outcome.DUPLICATE]


def test_only_outdated_events_cost_a_read(world: World) -> None:
    with world.calls() as made:
        world.create(an_event("new"))
    assert "events.get_many" not in made
    with world.calls() as made:
        world.create(an_event("old", occurred_at=OLD))
    assert made == ["events.get_many", "quarantine.keep"]
