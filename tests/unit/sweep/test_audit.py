"""The audit finds what waits in a schedule that is idle, although nobody should leave it there."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from gazette.domain.delivery.run import BEGINNING, Status
from gazette.domain.errors import Unavailable
from gazette.domain.model import DAILY, Schedule, ScheduleState, StoredEvent, Window
from gazette.domain.scheduling.calendar import next_occurrence, slot_of
from gazette.steps.sweep.audit import AuditContext, Audited, audit

from tests.builders import a_run, a_schedule, an_event
from tests.world import World

DUE = datetime.fromisoformat("2026-11-23T07:00Z")
SWEEPS_A_DAY = 24 * 60 // 5
PARTITIONS = 2


@pytest.fixture
def world() -> World:
    """Nothing waits for Ann, and her schedule is idle."""
    world = World()
    world.choose()
    world.clock.now = DUE
    world.fan_out(slot_of(DUE))
    assert daily(world).is_idle
    return world


def daily(world: World) -> Schedule:
    """Ann's daily schedule."""
    return world.schedules.rows["ann", DAILY]


def leave_behind(world: World) -> None:
    """An event is stored, and its worker dies each time before it reads the schedule."""

    def die() -> None:
        raise Unavailable("The table does not answer.")

    with world.meanwhile("schedules.get_many", die, before=True), pytest.raises(Unavailable):
        world.create(an_event(occurred_at=world.clock()))
    assert daily(world).is_idle


def audited(world: World, partition: int, tick: datetime | None = None) -> Audited:
    """The audit of one message on the sweep queue; without a tick, of the version before."""
    context = AuditContext(
        schedules=world.schedules, runs=world.runs, events=world.events, clock=world.clock
    )
    return audit(
        partition,
        partitions=PARTITIONS,
        tick=tick,
        context=context,
        time_left=lambda: world.time_left(),
    )


def sweeps(world: World) -> Iterator[tuple[int, Audited]]:
    """Every sweep of the next thirty days, of each partition, if it audits something."""
    for _ in range(30 * SWEEPS_A_DAY):
        for partition in range(PARTITIONS):
            if (found := audited(world, partition)) != Audited():
                yield partition, found
        world.clock.pass_time(minutes=5)


@pytest.fixture
def turn(world: World) -> tuple[int, datetime]:
    """The partition whose sweep audits Ann's schedule, and when."""
    [(partition, at)] = [
        (partition, world.clock()) for partition, found in sweeps(world) if found == Audited(idle=1)
    ]
    return partition, at + timedelta(days=30)


def test_each_idle_schedule_is_audited_once_in_thirty_days(world: World) -> None:
    for number in range(10):
        schedule = a_schedule(f"reader{number}")
        world.schedules.put(schedule.idle() if number % 2 else schedule, replacing=None)
    world.schedules.put(a_schedule("bo").withdrawn(), replacing=None)
    found = [each for _, each in sweeps(world)]
    assert sum(each.idle for each in found) == 6
    assert not any(each.armed for each in found)


def test_trace_ag_audit_arms_a_schedule_with_a_forgotten_event(
    world: World, turn: tuple[int, datetime]
) -> None:
    partition, world.clock.now = turn
    world.clock.now -= timedelta(hours=1)
    leave_behind(world)
    world.clock.pass_time(hours=1)
    idle = daily(world)
    found = audited(world, partition)
    assert found == Audited(idle=1, armed=(daily(world),))
    assert daily(world) == idle.armed(next_occurrence(idle.recurrence, after=world.clock()))
    world.send_digest()
    assert [email.lines for email in world.emails()] == [("post1: 1",)]
    assert audited(world, partition) == Audited()


def test_audit_skips_events_of_the_last_hour(world: World, turn: tuple[int, datetime]) -> None:
    """Its message comes again, and arms the schedule; no rule is broken."""
    partition, world.clock.now = turn
    world.clock.now -= timedelta(minutes=59, seconds=59)
    leave_behind(world)
    world.clock.now = turn[1]
    assert audited(world, partition) == Audited(idle=1)
    assert daily(world).is_idle


def test_audit_ignores_sent_and_given_up_events(world: World, turn: tuple[int, datetime]) -> None:
    partition, world.clock.now = turn
    world.clock.now -= timedelta(hours=2)
    leave_behind(world)
    sent = replace(a_run(2), status=Status.SENT, window=Window(BEGINNING, world.clock()))
    world.runs.create(sent)
    world.clock.now = turn[1]
    assert audited(world, partition) == Audited(idle=1)


@pytest.mark.parametrize("status", [each for each in Status if not each.is_final])
def test_audit_skips_events_of_open_runs(
    world: World, turn: tuple[int, datetime], status: Status
) -> None:
    """The sweep looks at each of them until it has ended; an armed schedule would say that a rule
    is broken.
    """
    partition, world.clock.now = turn
    world.clock.now -= timedelta(hours=2)
    leave_behind(world)
    world.runs.create(replace(a_run(2), status=status))
    world.clock.now = turn[1]
    assert audited(world, partition) == Audited(idle=1)
    assert daily(world).is_idle


def test_audit_does_not_change_a_concurrently_armed_schedule(
    world: World, turn: tuple[int, datetime]
) -> None:
    partition, world.clock.now = turn
    world.clock.now -= timedelta(hours=2)
    leave_behind(world)
    world.clock.now = turn[1]
    (stored,) = world.events.rows.values()
    assert isinstance(stored, StoredEvent)
    with world.meanwhile("schedules.put", lambda: world.create(stored.event), before=True):
        assert audited(world, partition) == Audited(idle=1)
    assert daily(world).state is ScheduleState.ARMED


def test_audit_skips_an_unreadable_row(world: World, turn: tuple[int, datetime]) -> None:
    partition, world.clock.now = turn
    world.schedules.unreadable.add(("ann", DAILY))
    assert audited(world, partition) == Audited()


def test_audit_without_enough_time_is_cut_off_and_retried(
    world: World, turn: tuple[int, datetime]
) -> None:
    partition, world.clock.now = turn
    tick = world.clock()
    world.time_left = lambda: timedelta(seconds=14)
    assert audited(world, partition, tick) == Audited(is_cut_off=True)
    world.clock.pass_time(minutes=20)
    world.time_left = lambda: timedelta(seconds=60)
    assert audited(world, partition, tick) == Audited(idle=1)


@pytest.mark.parametrize("late", [timedelta(minutes=2), timedelta(hours=1), timedelta(days=3)])
def test_late_or_repeated_audit_message_covers_the_partition_of_its_tick(
    world: World, turn: tuple[int, datetime], late: timedelta
) -> None:
    """Also where the clock of its worker is off: a partition that is skipped waits thirty days."""
    partition, tick = turn
    tick += timedelta(minutes=3)
    for now in (tick + late, tick - late):
        world.clock.now = now
        assert [audited(world, partition, tick) for _ in range(2)] == [Audited(idle=1)] * 2
        assert audited(world, partition, tick + timedelta(minutes=5)) == Audited()


def test_audit_with_and_without_a_tick_covers_the_same_partition(
    world: World, turn: tuple[int, datetime]
) -> None:
    """So a new version audits what the one before would have audited next."""
    partition, world.clock.now = turn
    assert audited(world, partition) == audited(world, partition, world.clock()) == Audited(idle=1)
