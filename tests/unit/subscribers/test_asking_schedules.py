"""A schedule names the sources that it asks, and one that asks is armed although nothing waits."""

from datetime import timedelta

import pytest
from gazette.domain.commands import ChangeSubscriber
from gazette.domain.content.asking import ContentSources
from gazette.domain.content.items import EVENTS, RECOMMENDATIONS
from gazette.domain.model import DAILY, Schedule, ScheduleState
from gazette.domain.scheduling.calendar import DigestTimes
from gazette.domain.subscribers.frequency import Frequency, frequencies

from tests.builders import NOW, SettableClock, a_subscriber, an_event
from tests.world import World

BOTH = (EVENTS, RECOMMENDATIONS)
DAY = timedelta(days=1)


@pytest.fixture
def world(clock: SettableClock) -> World:
    return World(clock, content=ContentSources(sources=BOTH))


def change(
    world: World, *, hour: int = 8, changed_at: object = None, **chosen: Frequency
) -> Schedule:
    """`subscriber.changed`, now."""
    times = DigestTimes(hour=hour, minute=0)
    world.say(
        ChangeSubscriber(a_subscriber(changed_at=world.clock(), times=times, **chosen)),
    )
    return world.schedules.rows["ann", DAILY]


def test_digest_with_content_is_created_armed(world: World) -> None:
    daily = change(world)
    assert (daily.sources, daily.state) == (BOTH, ScheduleState.ARMED)
    assert daily.next_due_at > NOW


def test_digest_without_content_is_created_idle(world: World) -> None:
    change(world, recommendation=Frequency.WEEKLY)
    daily, weekly = (world.schedules.rows["ann", name] for name in (DAILY, "weekly"))
    assert (daily.sources, daily.state) == ((), ScheduleState.IDLE)
    assert (weekly.sources, weekly.state) == (BOTH, ScheduleState.ARMED)


def test_content_opt_out_creates_no_content_schedule(world: World) -> None:
    assert change(world, recommendation=Frequency.NEVER).state is ScheduleState.IDLE


def test_immediate_content_is_delivered_daily(world: World) -> None:
    assert change(world, recommendation=Frequency.IMMEDIATE).sources == BOTH


def test_schedule_has_no_sources_if_the_stage_has_none(clock: SettableClock) -> None:
    daily = change(World(clock))
    assert (daily.sources, daily.state) == ((), ScheduleState.IDLE)


def test_stage_default_applies_to_content_without_a_choice(clock: SettableClock) -> None:
    world = World(
        clock,
        content=ContentSources(sources=BOTH),
        defaults=frequencies({"recommendation": Frequency.WEEKLY}),
    )
    change(world)
    assert {name for (_, name), row in world.schedules.rows.items() if row.sources} == {"weekly"}


def test_idle_schedule_is_armed_when_content_is_enabled(world: World) -> None:
    idle = change(world, recommendation=Frequency.NEVER)
    world.clock.pass_time(days=3)
    armed = change(world)
    assert (armed.state, armed.sources) == (ScheduleState.ARMED, BOTH)
    assert world.clock() < armed.next_due_at <= world.clock() + DAY
    assert armed.sequence == idle.sequence
    assert armed.revision == idle.revision + 1


def test_schedule_stays_armed_and_keeps_memory_when_content_is_muted(world: World) -> None:
    asking = change(world)
    fetched = asking.fetched(NOW, asking.next_due_at, b"memory")
    assert world.schedules.put(fetched, replacing=asking)
    world.clock.pass_time(minutes=1)
    muted = change(world, recommendation=Frequency.NEVER)
    assert (muted.sources, muted.state, muted.shown) == ((), ScheduleState.ARMED, b"memory")
    assert muted.next_due_at == asking.next_due_at


def test_change_of_the_hour_keeps_fetched_content(world: World) -> None:
    asking = change(world)
    fetched = asking.fetched(NOW, asking.next_due_at, b"memory")
    assert world.schedules.put(fetched, replacing=asking)
    world.clock.pass_time(minutes=1)
    moved = change(world, hour=20)
    assert (moved.fetched_at, moved.shown, moved.sources) == (NOW, b"memory", BOTH)
    assert moved.next_due_at.hour == 19


def test_unchanged_profile_does_not_write_the_schedule(world: World) -> None:
    before = change(world)
    with world.calls() as called:
        world.say(ChangeSubscriber(a_subscriber(changed_at=NOW, times=DigestTimes(minute=0))))
    assert called.count("schedules.put") == 0
    assert world.schedules.rows["ann", DAILY] == before


def test_event_creates_a_missing_schedule_with_its_sources(world: World) -> None:
    change(world)
    del world.schedules.rows["ann", DAILY]
    world.create(an_event())
    daily = world.schedules.rows["ann", DAILY]
    assert (daily.sources, daily.state) == (BOTH, ScheduleState.ARMED)


def test_immediate_content_item_waits_for_the_daily_digest(world: World) -> None:
    change(world, recommendation=Frequency.IMMEDIATE)
    item = an_event("recommendations:1", category="recommendation", source=RECOMMENDATIONS)
    world.create(item, an_event("put", category="recommendation"))
    assert world.waiting()["recommendations:1"] == DAILY
    assert world.waiting()["put"].startswith("now")
