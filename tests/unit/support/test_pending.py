"""The pending events of a reader, by schedule."""

from collections.abc import Iterator

import pytest
from gazette.domain.delivery.run import Run
from gazette.domain.model import DAILY, StoredEvent
from gazette.domain.scheduling.kinds import immediate_schedule
from gazette.domain.subscribers.frequency import Frequency
from gazette.steps.support.pending import Waiting, read_pending, unsent

from tests.builders import a_run, a_stored_event, an_event
from tests.world import World

AT_ONCE = immediate_schedule("post#post1")


@pytest.fixture
def world() -> World:
    """Ann is registered, and wants mentions at once."""
    world = World()
    world.choose(mention=Frequency.IMMEDIATE)
    return world


def waiting(world: World, user_id: str = "ann") -> Waiting | None:
    return read_pending(
        user_id,
        subscribers=world.subscribers,
        runs=world.runs,
        events=world.events,
        withdrawals=world.withdrawals.current,
        clock=world.clock,
        critical=world.critical,
    )


def ids(found: Waiting | None) -> dict[str, set[str]]:
    assert found
    return {schedule: {each.id for each in some} for schedule, some in found.by_schedule.items()}


def test_sent_events_no_longer_wait(world: World) -> None:
    world.create(an_event("e1"), an_event("e2"))
    assert ids(waiting(world)) == {DAILY: {"e1", "e2"}}
    world.send_digest()
    world.clock.pass_time(hours=1)
    world.create(an_event("e3"))
    assert ids(waiting(world)) == {DAILY: {"e3"}}


def test_waiting_events_are_grouped_by_schedule(world: World) -> None:
    world.create(an_event("e1"), an_event("e2", category="mention"))
    assert ids(waiting(world)) == {DAILY: {"e1"}, AT_ONCE: {"e2"}}


def test_reader_without_waiting_events_is_known(world: World) -> None:
    found = waiting(world)
    assert found
    assert (found.subscriber.user_id, found.by_schedule) == ("ann", {})


def test_unknown_reader_has_no_waiting_events(world: World) -> None:
    world.create(an_event("e1", user_id="bo"))
    assert waiting(world, "bo") is None


class Read(list[Run]):
    """Runs, and how often somebody went through them."""

    times = 0

    def __iter__(self) -> Iterator[Run]:
        self.times += 1
        return super().__iter__()


def test_runs_are_read_once_for_any_number_of_schedules() -> None:
    threads = [immediate_schedule(f"post#p{number}") for number in range(50)]
    stored: dict[str, list[StoredEvent]] = {
        name: [a_stored_event(schedule=name)] for name in threads
    }
    runs = Read([a_run()])
    assert len(list(unsent(stored, runs))) == 50
    assert runs.times == 1
