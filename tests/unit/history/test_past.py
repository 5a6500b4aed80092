"""The rows of a past are as the real steps leave them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from gazette.domain.commands import CreateActivity
from gazette.domain.delivery.run import Head, Run
from gazette.domain.feedback.delivery_events import Fault
from gazette.domain.identity import address_hash
from gazette.domain.model import DAILY
from gazette.domain.scheduling.chain import PAGE
from gazette.domain.scheduling.kinds import critical_schedule, immediate_schedule
from gazette.domain.subscribers.suppression import Cause

from proofs.history.furnish import on_fakes
from proofs.history.past import (
    AT_ONCE,
    BUSY,
    CRITICAL,
    EMAIL,
    HOT,
    READER,
    VAULT,
    Past,
    comment,
    follow,
    past,
)
from tests.builders import NOW, a_bounce, an_activity
from tests.world import World


@pytest.fixture
def world() -> World:
    return on_fakes(Past(follows=(follow(BUSY),)))


def shape(run: Run) -> object:
    """What the steps decide by."""
    return (
        run.status,
        run.reason,
        run.attempt,
        run.uncertain,
        run.is_open,
        run.closes_a_window,
        run.window is not None,
        run.key.is_immediate,
        run.key.is_critical,
    )


def digest(world: World) -> None:
    world.create(comment("e1", NOW))
    world.clock.pass_time(minutes=1)
    world.send_digest(user_id=READER)


def thread(world: World) -> None:
    world.create(comment("e1", NOW, category=AT_ONCE, on="post#thread0"))
    world.deliver_queued()


def bounced(world: World) -> None:
    """The address was suppressed after the event was stored."""
    world.create(comment("e1", NOW, category=CRITICAL, on=VAULT))
    world.suppressions.add(address_hash(EMAIL), Cause.BOUNCED)
    world.deliver_queued()


def stopped(world: World) -> None:
    world.create(comment("e1", NOW, category=AT_ONCE, on="post#stopped0"))


def passed(world: World) -> None:
    world.create(comment("e1", NOW))
    del world.events.rows[READER, "e1"]
    world.send_digest(user_id=READER)


@pytest.mark.parametrize(
    ("kind", "act", "schedule"),
    [
        ("runs", digest, DAILY),
        ("threads", thread, immediate_schedule("post#thread0")),
        ("suppressed", bounced, critical_schedule(VAULT)),
        ("stopped", stopped, immediate_schedule("post#stopped0")),
        ("skipped", passed, DAILY),
    ],
)
def test_generated_run_matches_real_run(
    world: World, kind: str, act: Callable[[World], None], schedule: str
) -> None:
    act(world)
    (made,) = (run for run in world.runs.rows.values() if run.key.schedule == schedule)
    runs = [run for run in past(kind, 1).runs if run.key.schedule == schedule]
    assert shape(runs[-1]) == shape(made)


def test_generated_activity_matches_real_activity(world: World) -> None:
    at = NOW - timedelta(minutes=1)
    activity = an_activity("a0", category="comment", entity_id="busy", occurred_at=at)
    world.say(CreateActivity(activity))
    (made,) = world.activities.rows.values()
    (old,) = past("activities", 1).activities
    assert replace(old, occurred_at=at) == made


def test_generated_waiting_thread_runs_match_real_runs(world: World) -> None:
    """Each event comes when the run before has ended its own predecessor, and found no permit."""
    world.immediate_rate_limiter.open_by_hand("a person stopped it", world.clock())
    size = PAGE + 4
    for each in range(size):
        world.create(comment(f"e{each}", world.clock(), category=AT_ONCE, on=HOT))
        keys = sorted(world.runs.rows, key=lambda key: key.sequence)
        world.clock.pass_time(hours=1)
        if each < size - 1:
            world.generate(keys[-1])
    made = [run for _, run in sorted(world.runs.rows.items(), key=lambda each: each[0].sequence)]
    runs = [run for run in past("paused", size).runs if run.key.is_immediate]
    assert [shape(run) for run in runs] == [shape(run) for run in made]
    assert [place(run.head, runs) for run in runs[:-1]] == [
        place(run.head, made) for run in made[:-1]
    ]


def place(head: Head | None, runs: Sequence[Run]) -> int | None:
    """How many runs a head is about."""
    if head is None:
        return None
    return sum(run.key.sequence <= head.sequence for run in runs)


def test_generated_status_matches_status_after_bounce(world: World) -> None:
    world.feedback(a_bounce(Fault.HARD))
    reader, there = world.subscribers.get(READER), on_fakes(past("suppressed", 1))
    assert reader
    assert there.subscribers.get(READER).status is reader.status  # type: ignore[union-attr]
    assert there.suppressions.rows == world.suppressions.rows
