"""Receipts of events that share a row, because they are about one happening (rule 30)."""

import pytest
from gazette.domain.delivery.run import Certainty
from gazette.domain.receipts.receipt import Because, Receipt, State
from gazette.domain.subscribers.frequency import Frequency
from gazette.steps.support.activity_receipt import follower_outcomes
from gazette.steps.support.words.receipts import sentences

from tests.receipts import activity_context, receipt_of
from tests.unit.routing.test_happening import (
    ADDRESSED,
    IMMEDIATE,
    MENTION,
    a_world,
    addressed,
    comment,
    mention,
    mute_mentions,
    retract_addressed,
    retract_comment,
    retract_mention,
    unfollow,
)
from tests.world import World

DAILY = Frequency.DAILY


def of(world: World) -> tuple[Receipt, Receipt]:
    """The receipts of the comment and of the mention."""
    return receipt_of(world, "c1"), receipt_of(world, "m1")


def states(world: World) -> tuple[State, State]:
    c1, m1 = of(world)
    return c1.state, m1.state


def test_both_events_of_a_waiting_pair_wait() -> None:
    world = a_world(DAILY, DAILY)
    comment(world)
    mention(world)
    c1, m1 = of(world)
    assert (c1.state, m1.state) == (State.WAITING, State.WAITING)
    assert (c1.shown_as, m1.shown_as) == ("m1", "")
    assert (c1.category, m1.category) == ("comment", "mention")
    assert c1.next_digest == m1.next_digest is not None
    assert (c1.id, m1.id) == ("c1", "m1")


def test_email_of_a_pair_is_in_both_receipts() -> None:
    world = a_world(IMMEDIATE, IMMEDIATE)
    comment(world)
    mention(world)
    world.send_everything()
    c1, m1 = of(world)
    assert (c1.state, m1.state) == (State.EMAILED, State.EMAILED)
    assert c1.emails == m1.emails
    assert (c1.shown_as, m1.shown_as) == ("m1", "")
    assert list(sentences(c1))[1] == (
        "Emails show the event m1 instead of it, because both are about the same happening "
        "(part_of)."
    )


def test_mention_after_the_email_of_its_comment_is_shown_as_the_comment() -> None:
    world = a_world(IMMEDIATE, IMMEDIATE)
    comment(world)
    world.send_everything()
    mention(world)
    c1, m1 = of(world)
    assert (c1.shown_as, m1.shown_as) == ("", "c1")
    assert m1.state is State.EMAILED


def test_event_alone_in_its_row_is_shown_itself() -> None:
    world = a_world(DAILY, DAILY)
    mention(world)
    c1, m1 = of(world)
    assert (c1.state, c1.because) == (State.NOT_STORED, Because.NEVER_OR_GONE)
    assert (m1.state, m1.shown_as) == (State.WAITING, "")


def test_retracted_event_is_in_no_email_of_the_event_that_remains() -> None:
    world = a_world(IMMEDIATE, IMMEDIATE)
    comment(world)
    mention(world)
    world.clock.pass_time(seconds=30)
    retract_mention(world)
    world.clock.pass_time(hours=1)
    world.send_everything()
    c1, m1 = of(world)
    assert (c1.state, m1.state, m1.emails) == (State.EMAILED, State.RETRACTED, ())
    assert m1.because is None
    assert next(iter(sentences(m1))).endswith("No email contains it.")


def test_email_right_after_a_retraction_is_never_said_to_contain_the_event() -> None:
    world = a_world(IMMEDIATE, IMMEDIATE)
    comment(world)
    mention(world)
    retract_mention(world)
    world.send_everything()
    _, m1 = of(world)
    assert {each.certainty for each in m1.emails} <= {Certainty.UNKNOWN}


def test_event_that_is_retracted_after_its_email_names_the_email() -> None:
    world = a_world(IMMEDIATE, IMMEDIATE)
    mention(world)
    comment(world)
    world.send_everything()
    world.clock.pass_time(hours=1)
    retract_mention(world)
    _, m1 = of(world)
    assert m1.state is State.RETRACTED
    assert [each.certainty for each in m1.emails] == [Certainty.UNKNOWN]


def test_retraction_that_moves_the_row_is_not_in_the_email_that_follows() -> None:
    world = a_world(IMMEDIATE, DAILY)
    comment(world)
    mention(world)
    retract_mention(world)
    world.clock.pass_time(hours=1)
    world.send_everything()
    c1, m1 = of(world)
    assert (c1.state, m1.state, m1.emails) == (State.EMAILED, State.RETRACTED, ())


def test_row_that_moves_after_a_retraction_has_no_email_of_the_event() -> None:
    world = a_world(IMMEDIATE, DAILY)
    comment(world)
    mention(world)
    retract_mention(world)
    world.clock.pass_time(minutes=10)
    world.choose(comment=IMMEDIATE, mention=IMMEDIATE)
    world.send_everything()
    c1, m1 = of(world)
    assert (c1.state, m1.state, m1.emails) == (State.EMAILED, State.RETRACTED, ())


@pytest.mark.parametrize("is_sent", [False, True])
def test_retraction_of_both_events(is_sent: bool) -> None:
    world = a_world(IMMEDIATE, IMMEDIATE)
    comment(world)
    mention(world)
    if is_sent:
        world.send_everything()
    world.clock.pass_time(hours=1)
    retract_comment(world)
    retract_mention(world)
    c1, m1 = of(world)
    assert (c1.state, m1.state) == (State.RETRACTED, State.RETRACTED)
    assert bool(m1.emails) is is_sent


def test_retraction_of_both_addressed_events() -> None:
    world = a_world(IMMEDIATE, IMMEDIATE)
    addressed(world)
    mention(world)
    world.clock.pass_time(hours=1)
    retract_addressed(world)
    assert states(world) == (State.RETRACTED, State.COLLECTING)
    retract_mention(world)
    assert states(world) == (State.RETRACTED, State.RETRACTED)


def test_early_retraction_is_a_retraction() -> None:
    world = a_world()
    retract_mention(world)
    comment(world)
    _, m1 = of(world)
    assert (m1.state, m1.because) == (State.RETRACTED, Because.WAS_NOT_STORED)


def test_unwanted_event_is_not_stored() -> None:
    world = a_world(DAILY, DAILY)
    comment(world)
    mention(world)
    mute_mentions(world)
    assert states(world) == (State.COLLECTING, State.NOT_STORED)


def test_event_whose_follow_ended_is_not_stored() -> None:
    world = a_world(DAILY, DAILY)
    comment(world)
    mention(world)
    unfollow(world)
    assert states(world) == (State.NOT_STORED, State.WAITING)


def test_repeated_events_change_no_receipt() -> None:
    world = a_world(DAILY, DAILY)
    world.create(ADDRESSED, MENTION)
    before = of(world)
    world.create(MENTION, ADDRESSED)
    assert of(world) == before


def test_receipt_of_a_part_costs_one_more_read() -> None:
    world = a_world(DAILY, DAILY)
    comment(world)
    mention(world)
    with world.calls() as calls:
        receipt_of(world, "m1")
    assert calls.count("events.find") == 2


@pytest.mark.parametrize("is_retracted", [False, True])
def test_followers_of_an_activity_count_only_its_own_event(is_retracted: bool) -> None:
    world = a_world(DAILY, DAILY)
    comment(world)
    mention(world)
    if is_retracted:
        unfollow(world)
    found = follower_outcomes("post#post1", "c1", context=activity_context(world), at_most=10)
    assert found is not None
    assert found.outcomes == {State.NOT_STORED if is_retracted else State.WAITING: 1}


def test_time_of_a_retraction_is_that_of_the_event() -> None:
    world = a_world(DAILY, DAILY)
    comment(world)
    mention(world)
    world.clock.pass_time(hours=3)
    retract_mention(world)
    _, m1 = of(world)
    assert m1.at == world.clock()
