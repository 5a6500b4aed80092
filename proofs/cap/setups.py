"""The setups of the search. Ann's stage allows one immediate email, unless a setup says more.

In the last setup, a run ends between a worker's read and its write. The worker then starts a run
without a token, so the limit is soft by the number of workers.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta

from gazette.domain.model import DAILY, Event, RunKey
from gazette.domain.scheduling.calendar import slot_of
from gazette.domain.scheduling.cap import ImmediateLimit
from gazette.domain.scheduling.kinds import immediate_schedule
from gazette.domain.subscribers.frequency import Frequency

from proofs.cap.worlds import Act, Setup
from tests.builders import NOW, an_event
from tests.world import ROUTING, World

_DAY, _MINUTE = timedelta(days=1), timedelta(minutes=1)
_ONE = ImmediateLimit(per_hour=1, per_day=1)


def _ann(like: Frequency = Frequency.DAILY, limit: ImmediateLimit = _ONE) -> World:
    """Return a world in which Ann wants comments at once, and likes in a digest."""
    world = World(limit=limit)
    world.choose(at=NOW - _DAY, comment=Frequency.IMMEDIATE, like=like)
    return world


def _on(number: int, name: str = "", category: str = "comment") -> Event:
    """Return an event about an entity of its own."""
    entity = f"post{number}"
    return an_event(name or f"e{number}", entity_id=entity, category=category)


def _create(*events: Event) -> Act:
    return lambda world: world.create(*events)


def _switch(world: World) -> None:
    """Let Ann want likes at once, too."""
    world.choose(at=NOW + _MINUTE, comment=Frequency.IMMEDIATE, like=Frequency.IMMEDIATE)


def _with_likes(like: Frequency = Frequency.DAILY) -> Callable[[], World]:
    """Return a function that makes a world in which two likes wait for a digest."""

    def make() -> World:
        world = _ann(like)
        world.create(_on(1, category="like"), _on(2, category="like"))
        return world

    return make


def _collecting() -> World:
    """Return a world in which a run about post1 collects until now, and took the only token."""
    world = _ann()
    world.create(_on(1, "first"))
    world.clock.now += ROUTING.collapse - timedelta(seconds=1)
    return world


def _send_first(world: World) -> None:
    """Let two minutes pass, and send the run about post1.

    The worker first reads the runs, so that others can act before the time passes.
    """
    key = RunKey("ann", immediate_schedule("post#post1"), int(NOW.timestamp()))
    world.runs.chain(key)
    world.clock.now = max(world.clock.now, NOW + 2 * _MINUTE)
    world.generate(key)


def _at_digest() -> World:
    """Return a world in which the daily digest with two likes is about to be sent."""
    world = _with_likes()()
    schedule = world.schedules.rows["ann", DAILY]
    world.clock.now = schedule.next_due_at + 2 * _MINUTE
    world.fan_out(slot_of(schedule.next_due_at))
    return world


def _send_digest(world: World) -> None:
    world.generate(RunKey("ann", DAILY, 1))


def _switch_late(world: World) -> None:
    world.choose(at=world.clock(), comment=Frequency.IMMEDIATE, like=Frequency.IMMEDIATE)


def setups() -> Iterator[tuple[str, Setup]]:
    """Yield the setups by name, each also with a worker that dies."""
    for name, setup in _without_deaths():
        yield name, setup
        yield f"{name}; a worker dies", replace(setup, switches=1, deaths=1)


def _without_deaths() -> Iterator[tuple[str, Setup]]:
    two = ("post1", "post2")
    yield (
        "two events of two entities",
        Setup(_ann, (_create(_on(1)), _create(_on(2))), two, most=1),
    )
    yield (
        "three workers with an event each, two tokens",
        Setup(
            lambda: _ann(limit=ImmediateLimit(per_hour=2, per_day=2)),
            tuple(_create(_on(number)) for number in (1, 2, 3)),
            (*two, "post3"),
            most=2,
            switches=1,
        ),
    )
    yield (
        "two events of one entity",
        Setup(
            _ann,
            (_create(_on(1, "a")), _create(_on(1, "b"))),
            ("post1", "post1"),
            most=1,
        ),
    )
    yield (
        "the same event twice",
        Setup(_ann, (_create(_on(1)), _create(_on(1))), ("post1",), most=1),
    )
    yield (
        "a switch to immediate, and an event",
        Setup(_with_likes(), (_switch, _create(_on(3))), (*two, "post3"), most=1),
    )
    yield (
        "a switch from weekly to immediate, and an event",
        Setup(_with_likes(Frequency.WEEKLY), (_switch, _create(_on(3))), (*two, "post3"), most=1),
    )
    yield (
        "a switch to immediate, twice",
        Setup(_with_likes(), (_switch, _switch), two, most=1),
    )
    yield (
        "a switch to immediate, and the digest",
        Setup(_at_digest, (_switch_late, _send_digest), two, most=1),
    )
    yield (
        "a run that ends before an event joins it",
        Setup(_collecting, (_create(_on(1, "second")), _send_first), ("post1", "post1"), most=3),
    )
