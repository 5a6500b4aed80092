"""A sequence whose run belongs to another occurrence is skipped."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.model import DAILY, RunKey, Schedule
from gazette.domain.ports.ledgers import ScheduleKey
from gazette.domain.scheduling.calendar import slot_of
from gazette.domain.subscribers.frequency import Frequency

from tests.builders import an_event
from tests.fake_stores import FakeSchedules
from tests.world import World, crashes


@dataclass
class Lagging(FakeSchedules):
    """A due index that still shows removed schedules."""

    shown: list[Schedule] = field(default_factory=list)

    def due(self, slot: datetime, shard: int) -> Iterator[Sequence[ScheduleKey]]:
        yield from super().due(slot, shard)
        yield [
            (each.user_id, each.name) for each in self.shown if slot_of(each.next_due_at) == slot
        ]


def put(world: World, number: int) -> None:
    world.create(an_event(f"e{number}", entity_id=f"post{number}", occurred_at=world.clock()))


def erased_and_back() -> World:
    """In the slot in which the digest is due, which the index shows still."""
    world = World(schedules=Lagging())
    world.choose(comment=Frequency.DAILY)
    put(world, 1)
    world.send_digest()
    before = world.schedules.rows["ann", DAILY]
    world.clock.now = before.next_due_at + timedelta(seconds=10)
    world.erase()
    world.clock.pass_time(seconds=30)
    world.choose(comment=Frequency.DAILY)
    world.clock.pass_time(seconds=30)
    assert isinstance(world.schedules, Lagging)
    world.schedules.shown.append(before)
    world.fan_out(slot_of(before.next_due_at))
    world.schedules.shown.clear()
    world.deliver_queued()
    return world


def shown(world: World) -> list[tuple[str, ...]]:
    return [email.lines for email in world.emails()]


def test_trace_y_reader_returning_soon_after_erasure_misses_no_digest() -> None:
    world = erased_and_back()
    schedule = world.schedules.rows["ann", DAILY]
    assert RunKey("ann", DAILY, schedule.sequence) not in world.runs.rows, "the row was read"
    put(world, 2)
    world.clock.pass_time(hours=1)
    world.send_digest()
    assert shown(world) == [("post1: 1",), ("post2: 1",)]
    assert world.schedules.rows["ann", DAILY].next_due_at > schedule.next_due_at


def test_crash_before_the_next_sequence_loses_no_digest() -> None:
    def make() -> World:
        world = erased_and_back()
        put(world, 2)
        world.clock.now = world.schedules.rows["ann", DAILY].next_due_at + timedelta(minutes=1)
        return world

    def go(world: World) -> None:
        world.fan_out(slot_of(world.clock()))

    for world, where in crashes(make, go):
        go(world)
        world.deliver_queued()
        assert shown(world) == [("post1: 1",), ("post2: 1",)], where


def test_trace_y_sequence_taken_by_another_run_counts_for_no_date() -> None:
    """The hour is changed: the occurrence that is given up has had no digest."""
    world = World()
    world.choose(comment=Frequency.DAILY)
    schedule = world.schedules.rows["ann", DAILY]
    taken = Run(
        RunKey("ann", DAILY, schedule.sequence),
        due_at=schedule.next_due_at - timedelta(days=1),
        check_at=world.clock(),
        status=Status.SKIPPED,
        reason=Reason.EMPTY,
    )
    world.runs.create(taken)
    world.schedules.rows["ann", DAILY] = replace(schedule, last_due_at=None)
    put(world, 1)
    world.send_digest()
    assert shown(world) == [("post1: 1",)]
    assert world.runs.rows[taken.key] == taken
