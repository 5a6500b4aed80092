"""Ingest: the effect of every type of message; messages that do not fit are quarantined."""

from datetime import timedelta

import pytest
from gazette.domain.commands import (
    ChangeFollow,
    ChangeSubscriber,
    Command,
    CreateActivity,
    CreateEvents,
    EraseSubscriber,
    MarkActive,
    RetractActivity,
    RetractEvent,
)
from gazette.domain.errors import InvalidEvent, NotYet, Unavailable
from gazette.domain.outcome import Outcome
from gazette.domain.subscribers.following import FollowState

from tests.builders import NOW, SettableClock, a_subscriber, an_activity, an_event
from tests.world import World

AN_HOUR = timedelta(hours=1)
A_SECOND = timedelta(seconds=1)
FOLLOWS = FollowState(following=True)


@pytest.fixture
def world(clock: SettableClock) -> World:
    return World(clock)


@pytest.mark.parametrize(
    ("command", "outcomes", "changed"),
    [
        (CreateEvents((an_event(), an_event("e2"))), [Outcome.STORED] * 2, "events"),
        (CreateEvents(()), [], None),
        (CreateActivity(an_activity()), [Outcome.STORED], "activities"),
        (RetractEvent("ann", "e1"), [Outcome.RETRACTED], "events"),
        (RetractActivity("post#post1", "a1"), [Outcome.RETRACTED], "activities"),
        (ChangeSubscriber(a_subscriber()), [Outcome.CHANGED], "subscribers"),
        (MarkActive("ann", NOW), [Outcome.ACTIVE], None),
        (EraseSubscriber("ann", NOW), [Outcome.ERASED], "subscribers"),
        (ChangeFollow("ann", "post#post1", FOLLOWS, NOW), [Outcome.CHANGED], "follows"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_command_is_executed(
    world: World, command: Command, outcomes: list[Outcome], changed: str | None
) -> None:
    assert world.say(command) == outcomes
    tables = ("subscribers", "events", "activities", "follows")
    assert [name for name in tables if getattr(world, name).rows] == ([changed] if changed else [])
    assert not world.quarantine.kept


def test_invalid_message_is_quarantined_with_reason(world: World) -> None:
    assert world.say(InvalidEvent("detail.user_id: missing")) == [Outcome.QUARANTINED]
    assert world.quarantine.kept == [("the body", "detail.user_id: missing")]
    assert not world.events.rows


def test_partly_invalid_list_stores_valid_events_and_quarantines_body(world: World) -> None:
    """A person corrects and puts it again: what was stored is then a duplicate."""
    command = CreateEvents((an_event(), an_event("e3")), problems="detail.events[1].id: missing")
    assert world.say(command, "the list") == [
        Outcome.STORED,
        Outcome.STORED,
        Outcome.QUARANTINED,
    ]
    assert world.quarantine.kept == [("the list", "detail.events[1].id: missing")]
    corrected = CreateEvents((an_event(), an_event("e2"), an_event("e3")))
    assert world.say(corrected) == [Outcome.DUPLICATE, Outcome.STORED, Outcome.DUPLICATE]


def test_list_without_valid_events_is_quarantined(world: World) -> None:
    assert world.say(CreateEvents((), problems="all wrong")) == [Outcome.QUARANTINED]
    assert world.quarantine.kept == [("the body", "all wrong")]


def test_decoder_receives_original_body(world: World) -> None:
    bodies: list[str] = []

    def decode(body: str) -> Command:
        bodies.append(body)
        return MarkActive("ann", NOW)

    world.ingest("the original", decode)
    assert bodies == ["the original"]


def dated(ahead: timedelta) -> list[Command]:
    """Every command with an instant that decides what came last, so far ahead of now."""
    at = NOW + ahead
    return [
        ChangeSubscriber(a_subscriber(changed_at=at)),
        MarkActive("ann", at),
        EraseSubscriber("ann", at),
        ChangeFollow("ann", "post#post1", FOLLOWS, at),
        CreateActivity(an_activity(amended_at=at)),
        CreateEvents((an_event(amended_at=at),)),
    ]


@pytest.mark.parametrize("command", dated(AN_HOUR + A_SECOND), ids=lambda one: type(one).__name__)
def test_future_timestamp_is_rejected_with_remedy(world: World, command: Command) -> None:
    """It would outlast every later, true one."""
    assert world.say(command) == [Outcome.QUARANTINED]
    [(body, reason)] = world.quarantine.kept
    assert body == "the body"
    assert (NOW + AN_HOUR + A_SECOND).isoformat() in reason
    assert "Check the clock of the service" in reason
    assert not world.subscribers.rows
    assert not world.events.rows


def test_future_amendment_does_not_block_other_events_in_list(world: World) -> None:
    ahead = NOW + AN_HOUR + A_SECOND
    events = (an_event("e0"), an_event("e1", amended_at=ahead), an_event("e2", amended_at=NOW))
    assert world.say(CreateEvents(events, "another problem")) == [
        Outcome.STORED,
        Outcome.STORED,
        Outcome.QUARANTINED,
    ]
    assert set(world.events.rows) == {("ann", "e0"), ("ann", "e2")}
    [(_, reason)] = world.quarantine.kept
    assert ahead.isoformat() in reason
    assert reason.endswith("another problem")


@pytest.mark.parametrize("command", dated(AN_HOUR), ids=lambda one: type(one).__name__)
def test_timestamp_up_to_an_hour_ahead_is_accepted(world: World, command: Command) -> None:
    assert Outcome.QUARANTINED not in world.say(command)


def test_occurrence_time_in_the_future_is_accepted(world: World) -> None:
    """When something occurred is shown, and decides nothing about what came last."""
    ahead = NOW + 2 * AN_HOUR
    assert world.say(CreateEvents((an_event(occurred_at=ahead),))) == [Outcome.STORED]
    assert world.say(CreateActivity(an_activity(occurred_at=ahead))) == [Outcome.STORED]


def test_message_is_retried_if_quarantine_fails(world: World) -> None:
    def refuse(body: str, reason: str) -> None:
        raise Unavailable("SQS")

    world.quarantine.keep = refuse  # type: ignore[method-assign]
    with pytest.raises(Unavailable):
        world.say(InvalidEvent("no"))


def test_message_is_not_started_near_end_of_invocation(world: World) -> None:
    """A long list would be cut off in the middle, and all the messages beside it come again."""
    world.time_left = lambda: timedelta(seconds=29)
    with pytest.raises(NotYet):
        world.say(CreateEvents((an_event(),)))
    assert not world.events.rows
