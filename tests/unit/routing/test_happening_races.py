"""The row of a happening, while emails are being made and workers die (rule 30)."""

from datetime import timedelta
from functools import partial

import pytest
from gazette.domain.commands import RetractEvent
from gazette.domain.errors import NotYet
from gazette.domain.model import DAILY, RunKey
from gazette.domain.scheduling.calendar import slot_of
from gazette.domain.subscribers.frequency import Frequency

from tests.builders import NOW, an_event
from tests.unit.routing.test_happening import (
    IMMEDIATE,
    a_world,
    comment,
    mention,
    retract_mention,
    sent,
    the_row,
    waits_under_idle,
)
from tests.unit.routing.test_move import strike
from tests.world import World, crashes, interleavings


def with_a_due_digest(mentions: Frequency, *, both: bool = False) -> World:
    """The comment waits for a digest that is due; with `both`, the mention does too."""
    world = a_world(mentions, Frequency.DAILY)
    comment(world)
    if both:
        mention(world)
    due = world.schedules.rows["ann", DAILY].next_due_at
    world.clock.now = due + timedelta(minutes=1)
    world.fan_out(slot_of(due))
    world.collect_everything()
    return world


def test_mention_that_takes_its_row_from_a_digest_that_is_being_made_is_in_one_email() -> None:
    world = with_a_due_digest(IMMEDIATE)
    with world.meanwhile("rate_limiter.reserve", partial(mention, world)):
        world.generate(RunKey("ann", DAILY, 1))
    world.send_everything()
    world.send_everything()
    assert sent(world) == ["mention"]


def test_retraction_before_the_claim_is_not_in_the_email() -> None:
    is_claimed = False
    for world, where in interleavings(
        partial(with_a_due_digest, Frequency.DAILY, both=True),
        World.deliver_queued,
        retract_mention,
    ):
        world.send_everything()
        world.send_everything()
        assert sent(world) == (["mention"] if is_claimed else ["comment"]), where
        is_claimed |= where.startswith("before runs.swap")
    assert is_claimed


def send_daily_digest(world: World) -> None:
    """Send the digest, but not the immediate email, which still collects."""
    world.clock.pass_time(seconds=18)
    queued, world.generate_queue.sent = world.generate_queue.sent, []
    world.fan_out(slot_of(world.schedules.rows["ann", DAILY].next_due_at))
    world.deliver_queued()
    world.generate_queue.sent += queued


@pytest.mark.parametrize("dies", [False, True])
def test_row_that_returns_to_a_digest_is_not_behind_a_closed_window(*, dies: bool) -> None:
    """The digest closes its window between the stamp and the write."""
    world = a_world()
    world.create(an_event("other", category="comment", entity_id="other"))
    world.clock.now = world.schedules.rows["ann", DAILY].next_due_at - timedelta(seconds=2)
    mention(world)
    comment(world)
    strike(world, partial(send_daily_digest, world), dies=dies)
    if dies:
        with pytest.raises(NotYet):
            retract_mention(world)
        world.clock.pass_time(minutes=9)
    retract_mention(world)
    for _ in range(3):
        world.send_digest()
    assert sent(world) == ["comment", "comment"]


def test_run_that_dies_while_it_routes_a_row_again_loses_nothing() -> None:
    def make() -> World:
        world = a_world(IMMEDIATE, IMMEDIATE)
        mention(world)
        comment(world)
        daily = Frequency.DAILY
        world.choose(at=NOW + timedelta(seconds=1), comment=daily, mention=daily)
        return world

    for world, where in crashes(make, World.send_everything):
        world.send_everything()
        world.send_everything()
        assert sent(world) == ["mention"], where


def test_change_of_choices_arms_for_a_worker_that_died() -> None:
    daily = Frequency.DAILY
    for world, where in crashes(partial(a_world, daily, daily), mention):
        world.choose(at=NOW + timedelta(seconds=1), comment=Frequency.WEEKLY, mention=daily)
        assert not waits_under_idle(world), where
        if ("ann", "c1") in world.events.rows:
            assert the_row(world).schedule == DAILY


def test_body_that_comes_after_a_retraction_during_the_digest_is_sent() -> None:
    world = a_world(Frequency.DAILY, Frequency.DAILY)
    mention(world)
    world.create(an_event("other", category="like", entity_id="other"))
    due = world.schedules.rows["ann", DAILY].next_due_at
    world.clock.now = due + timedelta(minutes=1)
    world.fan_out(slot_of(due))
    retract_mention(world)
    world.deliver_queued()
    assert sent(world) == ["like"]
    comment(world)
    world.send_digest()
    assert sent(world) == ["like", "comment"]


def test_body_that_comes_after_a_claim_long_after_the_retraction_is_sent() -> None:
    """The run was created before the retraction, but read its events a day later."""
    world = a_world(IMMEDIATE, IMMEDIATE)
    world.create(an_event("c1", category="comment"), an_event("other", category="comment"))
    world.generate_queue.sent.clear()
    world.say(RetractEvent("ann", "c1"))
    world.clock.pass_time(days=1)
    for run in list(world.runs.rows.values()):
        world.generate(run.key)
    assert sent(world) == ["comment"]
    mention(world)
    world.send_everything()
    assert sent(world) == ["comment", "mention"]
