"""Existing readers get the content sources of their stage by a command that is safe to repeat."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from gazette.domain.content.asking import ContentSources
from gazette.domain.content.items import EVENTS, RECOMMENDATIONS
from gazette.domain.errors import UnreadableRow
from gazette.domain.model import DAILY, ScheduleState
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.subscriber import Reader, SubscriberStatus

from gazette_support.steps.sources import Armed, arm_sources
from tests.fake_stores import FakeSubscribers
from tests.world import World, crashes, interleavings

BOTH = (EVENTS, RECOMMENDATIONS)


@dataclass
class FakeReaders:
    """The port `Readers` in memory."""

    subscribers: FakeSubscribers

    def each(self) -> Iterator[Reader | UnreadableRow]:
        yield from list(self.subscribers.rows.values())


def a_world(*readers: str) -> World:
    """Readers who were there before the stage had a source."""
    world = World()
    for reader in readers or ("ann", "bo"):
        world.choose(reader)
    with_source(world)
    return world


def with_source(world: World) -> None:
    world.context = replace(world.context, content=ContentSources(sources=BOTH))


def arm(world: World, *, dry_run: bool = False) -> dict[Armed, int]:
    return dict(arm_sources(FakeReaders(world.subscribers), context=world.context, dry_run=dry_run))


def test_existing_readers_are_armed_once_for_new_source() -> None:
    world = a_world()
    assert arm(world) == {Armed.ARMED: 2}
    for row in world.schedules.rows.values():
        assert (row.sources, row.state) == (BOTH, ScheduleState.ARMED)
    with world.calls() as called:
        assert arm(world) == {Armed.RIGHT: 2}
    assert called == ["schedules.get_many"]


def test_count_only_mode_changes_nothing() -> None:
    world = a_world()
    before = dict(world.schedules.rows)
    assert arm(world, dry_run=True) == {Armed.ARMED: 2}
    assert world.schedules.rows == before


def test_readers_without_digests_are_armed_at_next_activity() -> None:
    world = a_world()
    world.unsubscribe("bo", "bo@example.com")
    assert arm(world) == {Armed.ARMED: 1, Armed.INACTIVE: 1}
    assert world.schedules.rows["bo", DAILY].sources == ()


def test_new_source_order_is_stored_on_every_schedule() -> None:
    world = a_world("ann")
    arm(world)
    world.context = replace(world.context, content=ContentSources(sources=BOTH[::-1]))
    assert arm(world) == {Armed.ARMED: 1}
    assert world.schedules.rows["ann", DAILY].sources == BOTH[::-1]


def test_schedules_are_read_33_readers_at_a_time() -> None:
    world = a_world(*(f"reader{number}" for number in range(100)))
    arm(world)
    with world.calls() as called:
        assert arm(world) == {Armed.RIGHT: 100}
    assert called == ["schedules.get_many"] * 4


def test_unreadable_schedule_does_not_block_other_readers() -> None:
    world = a_world()
    world.schedules.unreadable.add(("ann", DAILY))
    assert arm(world) == {Armed.ARMED: 1, Armed.UNREADABLE: 1}


def test_content_is_not_fetched_after_category_is_muted() -> None:
    def mute(world: World) -> None:
        world.clock.pass_time(seconds=1)
        world.choose("ann", recommendation=Frequency.NEVER)

    for world, where in interleavings(lambda: a_world("ann"), arm, mute):
        assert world.schedules.rows["ann", DAILY].sources == (), where


def test_reader_who_unsubscribes_during_arming_is_not_in_due_index() -> None:
    for world, where in interleavings(lambda: a_world("ann"), arm, World.unsubscribe):
        reader = world.subscribers.rows["ann"]
        assert reader.status is SubscriberStatus.UNSUBSCRIBED, where  # type: ignore[union-attr]
        assert not world.schedules.listed, where


def test_rerun_completes_arming_after_any_crash() -> None:
    for world, where in crashes(lambda: a_world("ann", "bo", "cy"), arm):
        arm(world)
        assert {row.sources for row in world.schedules.rows.values()} == {BOTH}, where
        assert len(world.schedules.listed) == 3, where
