"""An event is routed right although its first read of the profile returns an earlier version.

Each change is made in two worlds. In one of them, eventually consistent reads are behind.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from gazette.domain.commands import ChangeSubscriber
from gazette.domain.model import Event, StoredEvent
from gazette.domain.subscribers.frequency import Frequency

from tests.builders import NOW, SettableClock, a_subscriber, an_event
from tests.world import World

IMMEDIATE, WEEKLY, NEVER = Frequency.IMMEDIATE, Frequency.WEEKLY, Frequency.NEVER


def registers(world: World) -> None:
    world.choose(comment=Frequency.DAILY)


def wants_immediate_email(world: World) -> None:
    registers(world)
    world.clock.pass_time(minutes=1)
    world.choose(comment=IMMEDIATE)


def wants_weekly_email(world: World) -> None:
    world.choose(comment=IMMEDIATE)
    world.clock.pass_time(minutes=1)
    world.choose(comment=WEEKLY)


def wants_nothing(world: World) -> None:
    registers(world)
    world.clock.pass_time(minutes=1)
    world.choose(comment=NEVER)


def wants_email_again(world: World) -> None:
    wants_nothing(world)
    world.clock.pass_time(minutes=1)
    registers(world)


def mutes(world: World) -> None:
    registers(world)
    world.mute()


def unmutes(world: World) -> None:
    mutes(world)
    world.clock.pass_time(minutes=1)
    world.unmute()


def unsubscribes(world: World) -> None:
    registers(world)
    world.unsubscribe()


def is_erased(world: World) -> None:
    registers(world)
    world.clock.pass_time(minutes=1)
    world.erase()


def is_erased_and_returns(world: World) -> None:
    is_erased(world)
    world.clock.pass_time(minutes=1)
    registers(world)


def pauses(world: World) -> None:
    registers(world)
    world.clock.pass_time(minutes=1)
    times = replace(a_subscriber().times, paused_until=NOW.date() + timedelta(days=60))
    world.say(ChangeSubscriber(a_subscriber(changed_at=world.clock(), times=times)))


CHANGES: list[Callable[[World], None]] = [
    registers,
    wants_immediate_email,
    wants_weekly_email,
    wants_nothing,
    wants_email_again,
    mutes,
    unmutes,
    unsubscribes,
    is_erased,
    is_erased_and_returns,
    pauses,
]


def routed(
    change: Callable[[World], None], behind: int, *, arrives_before: bool
) -> tuple[dict[str, str], list[datetime], list[object]]:
    """Where an event waits, until when, and which emails are sent in the end.

    A schedule may be armed without an event. Fan-out makes it idle again.
    """
    world = World(SettableClock())
    world.subscribers.behind = lambda: behind
    event: Event = an_event(occurred_at=NOW)
    if arrives_before:
        world.create(event)
    change(world)
    world.clock.pass_time(minutes=1)
    world.create(event)
    world.create(event)  # a duplicate
    rows = [each for each in world.events.rows.values() if isinstance(each, StoredEvent)]
    waiting, lives = world.waiting(), [each.lasts_until for each in rows]
    world.send_everything()
    return waiting, lives, [email.lines for email in world.emails()]


@pytest.mark.parametrize("arrives_before", [False, True])
@pytest.mark.parametrize("behind", [1, 2, 9])
@pytest.mark.parametrize("change", CHANGES)
def test_outdated_profile_does_not_change_where_an_event_goes(
    change: Callable[[World], None], behind: int, *, arrives_before: bool
) -> None:
    waiting, lives, emails = routed(change, 0, arrives_before=arrives_before)
    found = routed(change, behind, arrives_before=arrives_before)
    assert (found[0], found[2]) == (waiting, emails)
    assert all(life >= wanted for life, wanted in zip(found[1], lives, strict=True))
