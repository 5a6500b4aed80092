"""A mention and the comment that it is part of are in one email (decision 156)."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from itertools import permutations, product

import pytest
from gazette.domain.commands import ChangeSubscriber, CreateActivity, RetractActivity, RetractEvent
from gazette.domain.delivery.run import Status
from gazette.domain.delivery.signals import Uncertain
from gazette.domain.model import DAILY, StoredEvent
from gazette.domain.outcome import Outcome
from gazette.domain.scheduling.calendar import DigestTimes, slot_of
from gazette.domain.subscribers.frequency import Frequency
from gazette.steps.routing.target import routing_inputs, target_of

from tests.builders import NOW, a_subscriber, an_activity, an_event
from tests.world import World, crashes, interleavings

NEVER, IMMEDIATE = Frequency.NEVER, Frequency.IMMEDIATE
OFTEN = (Frequency.IMMEDIATE, Frequency.DAILY, Frequency.WEEKLY)
COMMENT = an_activity("c1", excerpt="comment")
MENTION = replace(an_event("c1", category="mention", excerpt="mention"), own_id="m1")
REPLY = replace(an_event("c1", category="reply", excerpt="reply"), own_id="r1")
Act = Callable[[World], object]


def comment(world: World) -> object:
    return world.say(CreateActivity(COMMENT))


def mention(world: World) -> object:
    return world.create(MENTION)


def retract_comment(world: World) -> object:
    return world.say(RetractActivity("post#post1", "c1"))


def retract_mention(world: World) -> object:
    return world.say(RetractEvent("ann", "m1"))


def unfollow(world: World) -> object:
    return world.follow(at=NOW + timedelta(seconds=1), following=False)


def mute_mentions(world: World) -> object:
    return world.choose(at=NOW + timedelta(seconds=1), comment=IMMEDIATE, mention=NEVER)


def a_world(mentions: Frequency = IMMEDIATE, comments: Frequency = Frequency.DAILY) -> World:
    world = World()
    world.choose(at=NOW - timedelta(days=1), comment=comments, mention=mentions)
    world.follow(at=NOW - timedelta(days=1))
    return world


def sent(world: World) -> list[str]:
    """The categories of all emails, by email."""
    assert sum(int(line.split(": ")[1]) for each in world.emails() for line in each.lines) == sum(
        run.events or 0 for run in world.runs.rows.values() if run.status is Status.SENT
    )
    return [
        category
        for run in world.runs.rows.values()
        if run.status is Status.SENT
        for category in run.categories
    ]


def the_row(world: World) -> StoredEvent:
    row = world.events.rows["ann", "c1"]
    assert isinstance(row, StoredEvent)
    return row


@pytest.mark.parametrize(("mentions", "comments"), list(product(OFTEN, OFTEN)))
@pytest.mark.parametrize("acts", list(permutations((comment, mention))))
def test_happening_is_told_once_by_its_strongest_body(
    mentions: Frequency, comments: Frequency, acts: Sequence[Act]
) -> None:
    world = a_world(mentions, comments)
    for act in acts:
        act(world)
    row = the_row(world)
    assert (row.event.excerpt, [each.excerpt for each in row.others]) == ("mention", ["comment"])
    soonest = min(mentions, comments, key=OFTEN.index)
    assert row.schedule == soonest or (soonest is IMMEDIATE and row.is_immediate)
    world.send_everything()
    world.send_everything()
    assert sent(world) == ["mention"]


STOPS = (retract_comment, retract_mention, unfollow, mute_mentions)
GONE = {
    retract_comment: "comment",
    unfollow: "comment",
    retract_mention: "mention",
    mute_mentions: "mention",
}
SOON_AND_LATE = [(IMMEDIATE, Frequency.DAILY), (Frequency.DAILY, IMMEDIATE)]
ORDERS = [
    order
    for stops in (*((each,) for each in STOPS), STOPS[:2], STOPS[1:3], (STOPS[3], STOPS[0]))
    for order in permutations((comment, mention, *stops))
]


def expected(order: Sequence[Act]) -> list[str]:
    """The strongest body that is still wanted at the end."""
    gone = {GONE[act] for act in order if act in GONE}
    return [each for each in ("mention", "comment") if each not in gone][:1]


REPEATED = [
    order
    for stop in STOPS
    for again in (comment, mention)
    for order in dict.fromkeys(permutations((comment, mention, stop, again)))
]


@pytest.mark.parametrize(("mentions", "comments"), list(product(OFTEN, OFTEN)))
def test_order_of_messages_changes_nothing(mentions: Frequency, comments: Frequency) -> None:
    for order in (*ORDERS, *REPEATED):
        world = a_world(mentions, comments)
        for act in order:
            act(world)
            world.clock.pass_time(seconds=2)
        world.send_everything()
        world.send_everything()
        assert sent(world) == expected(order), order


ADDRESSED = an_event("c1", excerpt="comment")
"""The comment as an event of its own, instead of an activity."""


def addressed(world: World) -> object:
    return world.create(ADDRESSED)


def retract_addressed(world: World) -> object:
    return world.say(RetractEvent("ann", "c1"))


ADDRESSED_ORDERS = [
    order
    for stops in ((), (retract_addressed,), (retract_mention,), (mute_mentions,))
    for more in ((), (addressed,), (mention,), (retract_addressed,))
    for order in permutations((addressed, mention, *stops, *more))
]


@pytest.mark.parametrize(("mentions", "comments"), list(product(OFTEN, OFTEN)))
def test_order_of_messages_about_addressed_events_changes_nothing(
    mentions: Frequency, comments: Frequency
) -> None:
    for order in dict.fromkeys(ADDRESSED_ORDERS):
        world = a_world(mentions, comments)
        for act in order:
            act(world)
            world.clock.pass_time(seconds=2)
        world.send_everything()
        world.send_everything()
        gone = {"comment"} if retract_addressed in order else set[str]()
        gone |= {"mention"} if {retract_mention, mute_mentions} & set(order) else set()
        is_sooner = OFTEN.index(mentions) < OFTEN.index(comments)
        strongest = ("mention", "comment") if is_sooner else ("comment", "mention")
        expected = [each for each in strongest if each not in gone][:1]
        assert sent(world) == expected, order


def test_retraction_of_both_bodies_is_remembered() -> None:
    world = a_world()
    world.create(ADDRESSED, MENTION)
    retract_addressed(world)
    mute_mentions(world)
    for _ in range(2):
        assert world.create(ADDRESSED, MENTION) == [Outcome.RETRACTED, Outcome.MUTED]
    assert world.waiting() == {}


ONE_REMAINS = [
    order
    for stops in ((), *((each,) for each in STOPS), (STOPS[0], STOPS[2]), (STOPS[1], STOPS[3]))
    for order in permutations((comment, mention, *stops))
]
"""Orders of messages after which the reader still wants a body."""


@pytest.mark.parametrize(("mentions", "comments"), list(product(OFTEN, OFTEN)))
def test_one_email_is_sent_whenever_email_is_sent(mentions: Frequency, comments: Frequency) -> None:
    for order in ONE_REMAINS:
        for number in range(len(order) + 1):
            world = a_world(mentions, comments)
            for act in order[:number]:
                act(world)
            world.send_everything()
            for act in order[number:]:
                act(world)
            world.send_everything()
            world.send_everything()
            assert len(sent(world)) == 1, (order, number)


@pytest.mark.parametrize(("mentions", "comments"), [*SOON_AND_LATE, (IMMEDIATE, IMMEDIATE)])
@pytest.mark.parametrize("act", [comment, mention, *STOPS])
def test_email_that_is_sent_at_any_call_of_a_worker_is_the_only_one(
    mentions: Frequency, comments: Frequency, act: Act
) -> None:
    def make() -> World:
        world = a_world(mentions, comments)
        for each in (comment, mention):
            if each is not act:
                each(world)
        return world

    for world, where in interleavings(make, act, World.send_everything):
        world.send_everything()
        world.send_everything()
        assert len(sent(world)) == 1, where


@pytest.mark.parametrize(("mentions", "comments"), SOON_AND_LATE)
@pytest.mark.parametrize("number", [1, 2, 3])
def test_happening_that_is_sent_between_messages_is_sent_once(
    mentions: Frequency, comments: Frequency, number: int
) -> None:
    for order in ORDERS:
        world = a_world(mentions, comments)
        for act in order[:number]:
            act(world)
        world.send_everything()
        for act in order[number:]:
            act(world)
        world.send_everything()
        world.send_everything()
        assert len(sent(world)) <= 1, order
        assert len(sent(world)) == 1 or not expected(order), order


@pytest.mark.parametrize("order", list(permutations((comment, mention))))
def test_body_that_comes_after_the_email_is_not_sent_again(order: Sequence[Act]) -> None:
    world = a_world(IMMEDIATE, IMMEDIATE)
    order[0](world)
    world.send_everything()
    order[1](world)
    world.send_everything()
    world.send_everything()
    assert len(sent(world)) == 1
    assert the_row(world).event.excerpt == order[0].__name__
    assert len(the_row(world).bodies) == 2


def test_row_that_was_sent_shows_another_body_once_its_own_is_retracted() -> None:
    world = a_world(IMMEDIATE, IMMEDIATE)
    comment(world)
    world.send_everything()
    mention(world)
    retract_comment(world)
    assert the_row(world).event == MENTION
    world.send_everything()
    assert sent(world) == ["comment"]


def test_amendment_of_a_row_that_was_sent_is_stored() -> None:
    world = a_world(IMMEDIATE, IMMEDIATE)
    comment(world)
    world.send_everything()
    mention(world)
    world.say(CreateActivity(replace(COMMENT, excerpt="good", amended_at=NOW)))
    assert the_row(world).event.excerpt == "good"
    assert the_row(world).others == (MENTION,)


def test_body_that_comes_while_the_outcome_of_an_email_is_unknown_is_shown_by_the_next() -> None:
    world = a_world(IMMEDIATE, IMMEDIATE)
    comment(world)
    world.mailer.script.append(Uncertain(1, "no answer"))
    world.send_everything()
    mention(world)
    assert the_row(world).event == MENTION


def test_body_that_comes_after_a_retraction_of_a_sent_one_is_not_sent_again() -> None:
    world = a_world(IMMEDIATE, IMMEDIATE)
    mention(world)
    world.send_everything()
    retract_mention(world)
    comment(world)
    world.send_everything()
    world.send_everything()
    assert sent(world) == ["mention"]


def test_retraction_brings_the_row_back_to_an_idle_digest() -> None:
    world = a_world()
    mention(world)
    comment(world)
    assert the_row(world).is_immediate
    assert ("ann", DAILY) not in world.schedules.listed
    retract_mention(world)
    assert the_row(world).schedule == DAILY
    assert ("ann", DAILY) in world.schedules.listed


def test_repetition_of_an_unwanted_body_brings_the_row_back_to_an_idle_digest() -> None:
    world = a_world(mentions=Frequency.DAILY, comments=IMMEDIATE)
    comment(world)
    mention(world)
    unfollow(world)
    followed = next(body for body in the_row(world).bodies if not body.own_id)
    assert world.create(followed) == [Outcome.NOT_FOLLOWED]
    assert the_row(world).schedule == DAILY
    assert ("ann", DAILY) in world.schedules.listed
    world.send_digest()
    assert sent(world) == ["mention"]


def test_retracted_event_is_rejected_when_it_comes_again() -> None:
    world = a_world()
    mention(world)
    comment(world)
    retract_mention(world)
    assert world.create(MENTION) == [Outcome.RETRACTED]
    assert the_row(world).bodies == (COMMENT.event_for("ann"),)


@pytest.mark.parametrize("mentions", OFTEN)
def test_events_of_an_activity_that_was_retracted_early_are_in_one_email(
    mentions: Frequency,
) -> None:
    world = World()
    world.choose(at=NOW - timedelta(days=1), reply=Frequency.WEEKLY, mention=mentions)
    world.say(RetractEvent("ann", "c1"))
    world.create(REPLY)
    mention(world)
    world.create(an_event("c1", category="comment"))
    world.follow(at=NOW - timedelta(days=1))
    comment(world)
    world.send_everything()
    world.send_everything()
    assert sent(world) == ["mention"]


def test_event_that_was_retracted_early_is_rejected() -> None:
    world = a_world()
    retract_mention(world)
    assert world.create(MENTION) == [Outcome.RETRACTED]
    assert world.waiting() == {}


def test_repeated_event_changes_nothing() -> None:
    world = a_world()
    comment(world)
    assert world.create(MENTION) == [Outcome.STORED]
    row = the_row(world)
    assert world.create(MENTION) == [Outcome.DUPLICATE]
    comment(world)
    assert the_row(world) == row


def test_each_body_is_amended_by_itself() -> None:
    world = a_world()
    comment(world)
    mention(world)
    better = replace(MENTION, excerpt="better", amended_at=NOW)
    assert world.create(better) == [Outcome.AMENDED]
    world.say(CreateActivity(replace(COMMENT, excerpt="good", amended_at=NOW)))
    assert [each.excerpt for each in the_row(world).bodies] == ["good", "better"]
    assert world.create(MENTION) == [Outcome.DUPLICATE]
    assert the_row(world).event == better


def test_amendment_without_part_of_reaches_the_body() -> None:
    world = a_world()
    comment(world)
    mention(world)
    plain = replace(an_event("m1", category="mention", excerpt="better"), amended_at=NOW)
    assert world.create(plain) == [Outcome.AMENDED]
    assert the_row(world).event == replace(plain, id="c1", own_id="m1")
    assert set(world.waiting()) == {"c1"}


def test_several_addressed_bodies_share_the_row() -> None:
    world = a_world()
    world.choose(comment=Frequency.DAILY, mention=Frequency.DAILY, reply=IMMEDIATE)
    for event in (MENTION, REPLY):
        world.create(event)
    comment(world)
    assert the_row(world).event == REPLY
    world.send_everything()
    assert sent(world) == ["reply"]


def test_critical_event_and_event_that_lapses_are_alone() -> None:
    world = a_world()
    lapsing = replace(MENTION, expires_at=NOW + timedelta(days=3))
    comment(world)
    world.create(lapsing)
    assert set(world.waiting()) == {"c1", "m1"}
    assert the_row(world).is_plain


def test_critical_event_is_alone() -> None:
    world = World(critical=frozenset({"mention"}))
    world.choose(at=NOW - timedelta(days=1), comment=Frequency.DAILY)
    world.follow(at=NOW - timedelta(days=1))
    comment(world)
    mention(world)
    assert set(world.waiting()) == {"c1", "m1"}
    world.send_everything()
    assert sorted(sent(world)) == ["comment", "mention"]


def test_repetition_raises_the_epochs_for_a_worker_that_died() -> None:
    world = a_world(Frequency.DAILY, Frequency.DAILY)
    comment(world)
    mention(world)
    world.fan_out(slot_of(world.schedules.rows["ann", DAILY].next_due_at))
    (run,) = world.runs.rows.values()
    mention(world)
    assert world.runs.rows[run.key].epoch == run.epoch + 1
    retract_mention(world)
    retract_mention(world)
    assert world.runs.rows[run.key].epoch == run.epoch + 3


def test_event_that_was_stored_alone_stays_alone() -> None:
    world = a_world()
    world.create(an_event("m1", category="mention"))
    comment(world)
    assert world.create(MENTION) == [Outcome.DUPLICATE]
    assert set(world.waiting()) == {"c1", "m1"}


def test_event_beyond_the_maximum_is_alone() -> None:
    world = a_world()
    world.create(*(replace(MENTION, own_id=f"m{number}") for number in range(1, 13)))
    assert len(the_row(world).bodies) == 10
    assert set(world.waiting()) == {"c1", "m11", "m12"}


def test_happening_waits_for_the_profile() -> None:
    world = World()
    world.follow(at=NOW - timedelta(days=1))
    comment(world)
    mention(world)
    assert set(world.waiting().values()) == {"waiting"}
    world.choose(comment=Frequency.DAILY, mention=IMMEDIATE)
    assert the_row(world).is_immediate
    world.send_everything()
    assert sent(world) == ["mention"]


def test_event_without_other_bodies_costs_no_further_call() -> None:
    world = a_world()
    with world.calls() as calls:
        world.create(an_event("e1", category="mention"))
    assert calls.count("events.store") == 1
    assert not any(call in calls for call in ("events.rewrite", "events.get_many", "events.get"))


def test_retraction_of_an_addressed_event_is_remembered_beside_another_body() -> None:
    world = a_world()
    world.create(an_event("c1"), MENTION)
    world.say(RetractEvent("ann", "c1"))
    assert world.create(an_event("c1")) == [Outcome.RETRACTED]
    assert the_row(world).bodies == (MENTION,)


@pytest.mark.parametrize(("mentions", "comments"), SOON_AND_LATE)
@pytest.mark.parametrize("number", [0, 1, 2])
def test_worker_that_dies_at_any_call_loses_and_repeats_nothing(
    mentions: Frequency, comments: Frequency, number: int
) -> None:
    def make(order: Sequence[Act]) -> World:
        world = a_world(mentions, comments)
        for act in order[:number]:
            act(world)
        return world

    for order in (each for each in ORDERS if len(each) == 3):
        for world, where in crashes(partial(make, order), order[number]):
            for act in order[number:]:
                act(world)
            assert not waits_under_idle(world), where
            world.send_everything()
            world.send_everything()
            assert sent(world) == expected(order), (order, where)


def waits_under_idle(world: World) -> bool:
    row = world.events.rows.get(("ann", "c1"))
    if not isinstance(row, StoredEvent) or row.schedule != DAILY:
        return False
    return ("ann", DAILY) not in world.schedules.listed


PAIRS = list(permutations((comment, mention, *STOPS), 2))


@pytest.mark.parametrize(("mentions", "comments"), [*SOON_AND_LATE, (IMMEDIATE, IMMEDIATE)])
@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_worker_that_overtakes_another_at_any_call_loses_and_repeats_nothing(
    mentions: Frequency, comments: Frequency, first: Act, second: Act
) -> None:
    def make() -> World:
        world = a_world(mentions, comments)
        for act in (comment, mention):
            if act not in {first, second}:
                act(world)
        return world

    for world, where in interleavings(make, first, second):
        assert not _keeps_unwanted(world), where
        world.send_everything()
        world.send_everything()
        assert sent(world) == expected((comment, mention, first, second)), where


def _keeps_unwanted(world: World) -> bool:
    """Whether the row waits for a digest with a body that its reader does not want."""
    row = world.events.rows.get(("ann", "c1"))
    if not isinstance(row, StoredEvent) or row.schedule != DAILY:
        return False
    targets = [
        target_of(body, inputs, world.context)
        for body, inputs in zip(row.bodies, routing_inputs(row.bodies, world.context), strict=True)
    ]
    return any(isinstance(target, Outcome) for target in targets)


@pytest.mark.parametrize("often", [Frequency.DAILY, IMMEDIATE])
def test_email_that_is_being_made_shows_the_body_that_joins(often: Frequency) -> None:
    world = a_world(often, often)
    comment(world)
    if often is Frequency.DAILY:
        due = world.schedules.rows["ann", DAILY].next_due_at
        world.clock.now = due + timedelta(minutes=1)
        world.fan_out(slot_of(due))
    with world.meanwhile("events.skim", partial(mention, world)):
        world.collect_everything()
        world.deliver_queued()
    assert sent(world) == ["mention"]


def test_pause_extends_the_lifetime_of_a_row_with_several_bodies() -> None:
    daily = Frequency.DAILY
    world = a_world(daily, daily)
    for act in (comment, mention):
        act(world)
    world.create(an_event("alone", category="mention", entity_id="other"))
    times = DigestTimes(minute=0, paused_until=(NOW + timedelta(days=60)).date())
    paused = a_subscriber(
        times=times, comment=daily, mention=daily, changed_at=NOW + timedelta(seconds=1)
    )
    world.say(ChangeSubscriber(paused))
    alone = world.events.rows["ann", "alone"]
    assert isinstance(alone, StoredEvent)
    assert the_row(world).lasts_until == alone.lasts_until
    world.clock.pass_time(days=60)
    world.send_everything()
    assert sent(world) == ["mention"]


@pytest.mark.parametrize("is_sent_before", [False, True])
@pytest.mark.parametrize("minutes", [0, 60])
@pytest.mark.parametrize(
    ("first", "retract", "second"),
    [(mention, retract_mention, comment), (addressed, retract_addressed, mention)],
)
def test_body_that_comes_after_an_email_without_the_retracted_one_is_sent(
    first: Act, retract: Act, second: Act, minutes: int, *, is_sent_before: bool
) -> None:
    daily = Frequency.DAILY
    world = a_world(daily, daily)
    first(world)
    world.create(an_event("other", category="like", entity_id="other"))
    if is_sent_before:
        world.send_digest()
    retract(world)
    world.clock.pass_time(minutes=minutes)
    world.create(an_event("more", category="like", entity_id="more"))
    world.send_digest()
    second(world)
    world.send_digest()
    world.send_digest()
    told = {"mention", "comment"} & set(sent(world))
    assert told == {(first if is_sent_before else second).__name__.replace("addressed", "comment")}
