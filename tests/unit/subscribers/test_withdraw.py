"""The schedules of a reader who left or is dormant leave the due index."""

from dataclasses import replace
from datetime import timedelta

from gazette.domain.model import DAILY
from gazette.domain.subscribers.subscriber import SubscriberStatus
from gazette.steps.subscribers.schedules import withdraw

from tests.builders import a_schedule, a_subscriber
from tests.world import World, crashes


def test_schedule_due_now_is_withdrawn_last() -> None:
    """After a crash anywhere fan-out finds it again, and withdraws the others with it."""
    left = []
    for world, where in crashes(dormant, go):
        listed = [row.name for row in world.schedules.rows.values() if row.listed]
        assert not listed or DAILY in listed, where
        left.append(listed)
    assert [DAILY] in left, "one was withdrawn, and the other not"


def dormant() -> World:
    """A dormant reader; the daily digest is due before the weekly one."""
    world = World()
    reader = replace(a_subscriber(), status=SubscriberStatus.DORMANT)
    world.subscribers.put(reader, replacing=None)
    due = a_schedule()
    later = replace(due, name="weekly", next_due_at=due.next_due_at + timedelta(days=3))
    for schedule in (due, later):
        world.schedules.put(schedule, replacing=None)
    return world


def go(world: World) -> None:
    withdraw("ann", subscribers=world.subscribers, schedules=world.schedules)
