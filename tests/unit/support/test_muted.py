"""All steps that read a reader's mutes agree on which events the mutes apply to."""

from dataclasses import replace
from itertools import product

import pytest
from gazette.domain.links import NEW_LINK
from gazette.domain.model import DAILY, Event
from gazette.domain.outcome import Outcome
from gazette.domain.scheduling.kinds import critical_schedule, immediate_schedule, urgent_schedule
from gazette.steps.api.reader import read_reader
from gazette.steps.routing.target import routing_inputs, target_of
from gazette.steps.support.pending import read_pending

from tests.builders import an_event
from tests.explained import explained
from tests.services import reader_context
from tests.world import World

POST = "post#post1"
SCHEDULES = {
    "daily": DAILY,
    "immediate": immediate_schedule(POST),
    "urgent": urgent_schedule(POST),
    "critical": critical_schedule(POST),
}
CONCERNED = {
    "its entity": an_event("e"),
    "its way": an_event("e", entity_id="below", via=(POST,)),
    "nothing": an_event("e", entity_id="other"),
}


def with_waiting(event: Event, schedule: str) -> World:
    """A world in which the event waits under this schedule, and the reader has muted the post."""
    world = World(critical=frozenset({"password"}))
    world.choose()
    world.create(an_event("first", entity_id="third"))
    world.mute(POST)
    world.events.store(event, schedule)
    return world


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_everything_that_reads_mutes_agrees_on_every_event(schedule: str) -> None:
    """An event may wait where its category was sent before the settings changed."""
    for (concerned, event), category in product(
        CONCERNED.items(), ("comment", "password", NEW_LINK)
    ):
        event = replace(event, category=category)
        world = with_waiting(event, SCHEDULES[schedule])
        (inputs,) = routing_inputs([event], world.context)
        is_muted = concerned != "nothing" and category == "comment"
        where = (schedule, concerned, category)
        assert (target_of(event, inputs, world.context) is Outcome.MUTED) == is_muted, where

        found = explained(world)
        assert sum(each.count for each in found.muted) == is_muted, where
        assert sum(each.count for each in found.waiting) == 1 + (not is_muted), where

        pending = read_pending(
            "ann",
            subscribers=world.subscribers,
            runs=world.runs,
            events=world.events,
            withdrawals=world.withdrawals.current,
            clock=world.clock,
            critical=world.critical,
        )
        assert pending
        waiting = {each.id for some in pending.by_schedule.values() for each in some}
        assert waiting == {"first", *(() if is_muted else ("e",))}, where

        if SCHEDULES[schedule] == DAILY:
            state = read_reader("ann", context=reader_context(world))
            assert state
            assert sum(each.events for each in state.waiting) == 1 + (not is_muted), where
