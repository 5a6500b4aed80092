"""What goes wrong with one row stops no other one, whatever it is (rule 20).

The schedules here decode, and cannot be computed with: as if a check of the adapter were missing.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta

import pytest
from gazette.domain.commands import CreateActivity, RetractActivity
from gazette.domain.content.asking import ContentPlan
from gazette.domain.delivery.run import Run, Status
from gazette.domain.errors import Unavailable, UnreadableRow
from gazette.domain.model import DAILY, RunKey, Schedule, ScheduleState
from gazette.domain.ports.queues import QueuedRun, Shard
from gazette.domain.scheduling.calendar import slot_of
from gazette.domain.stored import of_one_row
from gazette.steps.routing.route import route
from gazette.steps.runs import raise_epochs
from gazette.steps.subscribers.schedules import arm
from gazette.steps.sweep.audit import AuditContext, audit
from gazette.steps.sweep.sweep import sweep
from gazette.steps.sweep.unknown import Swept

from tests.builders import NOW, a_run, a_schedule, a_subscriber, an_activity, an_event
from tests.fake_stores import FakeRuns
from tests.world import SETTLE_LAG, World

DUE = a_schedule().next_due_at
READERS = ("ann", "cy", "di")


def incomputable(schedule: Schedule) -> Schedule:
    """At the 24th hour."""
    return replace(schedule, recurrence=replace(schedule.recurrence, hour=24))


def a_world(state: ScheduleState = ScheduleState.ARMED) -> World:
    """Three readers, for whom something waits; of the second one the schedule is damaged."""
    world = World()
    for user_id in READERS:
        world.subscribers.put(a_subscriber(user_id), replacing=None)
        schedule = replace(a_schedule(user_id), state=state)
        world.schedules.put(incomputable(schedule) if user_id == "cy" else schedule, replacing=None)
    return world


def put_events(world: World) -> None:
    world.clock.now = NOW - timedelta(hours=2)
    for user_id in READERS:
        world.events.store(an_event(user_id=user_id), DAILY)
    world.clock.now = NOW


def test_fan_out_starts_all_readable_schedules_and_records_the_slot() -> None:
    world = a_world()
    put_events(world)
    done = world.fan_out(slot_of(DUE))
    assert done.queued == 2
    (told,) = done.unreadable
    assert told.startswith(
        "The row cy / daily of the table schedules cannot be read: processing it fails"
    )
    assert "(ValueError, calendar.py:" in told
    assert world.batches.checkpoints() == {0: slot_of(DUE)}
    assert list(world.batches.left_behind()) == [(0, slot_of(DUE))]


def test_fan_out_does_not_treat_an_outage_as_a_bad_row() -> None:
    world = a_world()
    put_events(world)

    def refuse(messages: Iterable[QueuedRun]) -> None:
        raise Unavailable("SQS")

    world.generate_queue.send = refuse  # type: ignore[method-assign]
    with pytest.raises(Unavailable):
        world.fan_out(slot_of(DUE))
    assert world.batches.checkpoints() == {}


def test_look_ahead_queries_content_for_all_readable_schedules() -> None:
    plan = ContentPlan(sources=("events", "recommendations"), lead=6, fresh_for=timedelta(hours=4))
    world = World(content=plan)
    for user_id in READERS:
        schedule = replace(a_schedule(user_id), sources=plan.sources)
        if user_id == "cy":
            naive = NOW.replace(tzinfo=None)
            schedule = replace(schedule, fetched_at=naive, fetched_for=DUE)
        world.schedules.put(schedule, replacing=None)
    world.clock.now = DUE - timedelta(hours=1)
    done = world.look_ahead(Shard(0, slot_of(world.clock.now), DUE - timedelta(minutes=10)))
    assert done.fetches == 2
    assert {each.fetch.user_id for each in world.fetch_queue.sent} == {"ann", "di"}


def armed(world: World) -> set[str]:
    return {user_id for (user_id, _), row in world.schedules.rows.items() if row.listed}


def test_event_list_arms_all_readable_schedules() -> None:
    world = a_world(ScheduleState.IDLE)
    events = [an_event(user_id=user_id) for user_id in READERS]
    with pytest.raises(ValueError, match="hour"):
        route(events, context=world.context)
    assert armed(world) == {"ann", "di"}
    assert {key[0] for key in world.events.rows} == {*READERS}


def test_arming_continues_after_a_failing_schedule() -> None:
    world = a_world(ScheduleState.IDLE)
    readers = {(user_id, DAILY): a_subscriber(user_id) for user_id in READERS}
    with pytest.raises(ValueError, match="hour"):
        arm(readers, context=world.context)
    assert armed(world) == {"ann", "di"}


def test_activity_and_retraction_reach_the_remaining_followers() -> None:
    world = a_world(ScheduleState.IDLE)
    for user_id in READERS:
        world.follow(user_id, at=NOW - timedelta(days=1))
    with pytest.raises(ValueError, match="hour"):
        world.say(CreateActivity(an_activity()))
    assert armed(world) == {"ann", "di"}
    original = world.events.retract

    def retract(user_id: str, event_id: str, *, early: bool) -> object:
        if user_id == "ann":
            raise ValueError("damaged")
        return original(user_id, event_id, early=early)

    world.events.retract = retract  # type: ignore[method-assign, assignment]
    activity = an_activity()
    with pytest.raises(ValueError, match="damaged"):
        world.say(RetractActivity(activity.entity.key, activity.id))
    left = {row.event.user_id for row in world.events.rows.values() if hasattr(row, "event")}
    assert left == {"ann"}


class DamagedRuns(FakeRuns):
    """Runs of which that of one reader cannot be changed."""

    def swap(self, before: Run, after: Run) -> Run:
        if before.key.user_id == "cy":
            raise LookupError("There is no such run.")
        return super().swap(before, after)


def overdue_runs() -> DamagedRuns:
    runs = DamagedRuns()
    for user_id in READERS:
        runs.create(replace(a_run(user_id=user_id), check_at=NOW))
    return runs


def test_sweep_processes_all_readable_runs() -> None:
    world = World()
    world.runs = overdue_runs()
    swept = [
        each
        for partition in range(16)
        for each in sweep(
            partition, context=world.sweeping(), time_left=lambda: timedelta(minutes=1)
        )
    ]
    assert sorted(what for _, what in swept) == [Swept.QUEUED, Swept.QUEUED, Swept.UNREADABLE]
    (told,) = (key for key, what in swept if what is Swept.UNREADABLE)
    assert isinstance(told, UnreadableRow)
    assert told.key == ("cy", DAILY, "1")


def test_cancel_reaches_all_readable_runs() -> None:
    runs = overdue_runs()
    with pytest.raises(LookupError):
        raise_epochs(list(runs.rows.values()), runs=runs)
    assert {run.key.user_id: run.epoch for run in runs.rows.values()} == {
        "ann": 1,
        "cy": 0,
        "di": 1,
    }


@pytest.mark.parametrize("damaged", ["schedule", "run"])
def test_audit_arms_all_readable_schedules(damaged: str) -> None:
    world = a_world(ScheduleState.IDLE)
    put_events(world)
    world.clock.now += 2 * SETTLE_LAG
    if damaged == "run":
        for key, row in world.schedules.rows.items():
            world.schedules.rows[key] = replace(row, recurrence=a_schedule().recurrence)
        broken = RunKey("cy", DAILY, 1)
        world.runs.create(replace(a_run(user_id="cy"), status=Status.SENT))
        world.runs.unreadable.add(broken)
    context = AuditContext(
        schedules=world.schedules, runs=world.runs, events=world.events, clock=world.clock
    )
    world.schedules.idle = lambda *_: iter(list(world.schedules.rows.values()))  # type: ignore[method-assign]
    audited = audit(
        0, partitions=16, tick=None, context=context, time_left=lambda: timedelta(minutes=1)
    )
    assert armed(world) == {"ann", "di"}
    (told,) = audited.unreadable
    assert "cy" in told


def test_error_about_a_row_contains_none_of_its_data() -> None:
    with pytest.raises(UnreadableRow) as told, of_one_row("schedules", "ann", DAILY):
        int("ann@example.com")
    assert "example.com" not in str(told.value)
    assert "test_one_row.py:" in str(told.value)
    assert told.value.__suppress_context__, "a log has what led to it, which says more"
