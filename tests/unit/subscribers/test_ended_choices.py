"""A choice that the service has ended stays ended, however much the service says afterwards."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime, timedelta
from random import Random

import pytest
from gazette.domain.commands import ChangeSubscriber, ChoosePreferences
from gazette.domain.scheduling.calendar import DigestTimes
from gazette.domain.subscribers.choices import (
    NO_CHOICES,
    Choice,
    Preferences,
    resolve,
    without_ended,
)
from gazette.domain.subscribers.frequency import Frequency, frequencies
from gazette.domain.subscribers.history import LONGEST
from gazette.domain.subscribers.subscriber import Subscriber

from tests.builders import NOW, a_subscriber
from tests.world import World

DAY = timedelta(days=1)
BEFORE = Preferences(frequencies({"comment": Frequency.WEEKLY}), DigestTimes(minute=0), "UTC")


def say(world: World, day: int, said: Preferences) -> None:
    """The service puts a profile at that day's end."""
    at = NOW + day * DAY
    reader = a_subscriber(changed_at=at, times=said.times)
    profile = replace(reader, time_zone=said.time_zone, choices=((at, said.frequencies),))
    world.clock.now = at
    world.say(ChangeSubscriber(profile))


def choose(world: World, day: int, choice: Choice) -> None:
    world.clock.now = NOW + day * DAY
    world.say(ChoosePreferences("ann", choice, NOW + day * DAY))


def ann(world: World) -> Subscriber:
    reader = world.subscribers.get("ann")
    assert isinstance(reader, Subscriber)
    return reader


def now(world: World) -> Preferences:
    reader = ann(world)
    return Preferences(reader.chosen, reader.times, reader.time_zone)


def with_times(**changed: object) -> Preferences:
    return replace(BEFORE, times=replace(BEFORE.times, **changed))  # type: ignore[arg-type]


Of = Callable[[Preferences], object]
ENDED: list[tuple[Choice, Preferences, Of]] = [
    (
        Choice(frequencies=frequencies({"comment": Frequency.DAILY})),
        replace(BEFORE, frequencies=frequencies({"comment": Frequency.NEVER})),
        lambda found: dict(found.frequencies)["comment"],
    ),
    (Choice(clock=(20, None)), with_times(hour=9), lambda found: found.times.hour),
    (Choice(weekly_on=3), with_times(weekly_on=5), lambda found: found.times.weekly_on),
    (
        Choice(paused_until=date(2027, 3, 1)),
        with_times(paused_until=date(2027, 1, 1)),
        lambda found: found.times.paused_until,
    ),
    (
        Choice(time_zone="Asia/Kolkata"),
        replace(BEFORE, time_zone="Europe/Paris"),
        lambda found: found.time_zone,
    ),
]


@pytest.mark.parametrize(
    ("choice", "after", "of"), ENDED, ids=["category", "hour", "day", "pause", "zone"]
)
@pytest.mark.parametrize("chosen_before", [True, False])
def test_overridden_choice_stays_inactive_after_many_profiles(
    choice: Choice, after: Preferences, of: Of, chosen_before: bool
) -> None:
    """What ended it is dropped from the service's record in the end; the choice goes with it."""
    world = World()
    if chosen_before:
        choose(world, 1, choice)
    say(world, 0, BEFORE)
    choose(world, 1, choice)
    say(world, 3, after)
    ended = of(now(world))
    for number in range(2 * LONGEST):
        say(world, 4 + number, replace(after, frequencies=_with_likes(after, number)))
        assert of(now(world)) == ended == of(after), number


def _with_likes(said: Preferences, number: int) -> tuple[tuple[str, Frequency], ...]:
    often = (Frequency.DAILY, Frequency.WEEKLY)[number % 2]
    return frequencies({**dict(said.frequencies), "like": often})


def test_active_choice_stays_active_after_many_profiles() -> None:
    world = World()
    say(world, 0, BEFORE)
    muted = frequencies({"comment": Frequency.NEVER})
    choose(world, 1, Choice(frequencies=muted, clock=(20, None), time_zone="Asia/Kolkata"))
    for number in range(2 * LONGEST):
        said = replace(BEFORE, frequencies=_with_likes(BEFORE, number))
        say(world, 4 + number, said)
        found = now(world)
        assert dict(found.frequencies)["comment"] is Frequency.NEVER
        assert (found.times.hour, found.time_zone) == (20, "Asia/Kolkata")


def test_only_the_latest_of_overridden_and_repeated_choices_is_kept() -> None:
    daily = Choice(frequencies=frequencies({"comment": Frequency.DAILY}))
    never = Choice(frequencies=frequencies({"comment": Frequency.NEVER}))
    once = NO_CHOICES.with_choice(NOW + DAY, daily)
    ended = replace(BEFORE, frequencies=frequencies({"comment": Frequency.IMMEDIATE}))
    service = ((NOW, BEFORE), (NOW + 3 * DAY, ended))
    until = NOW + 4 * DAY
    assert without_ended(once, service, until=until) == NO_CHOICES
    again = NO_CHOICES.with_choice(NOW + 5 * DAY, never)
    both = once.with_choice(NOW + 5 * DAY, never)
    assert without_ended(both, service, until=until) == again


@pytest.mark.parametrize("seed", range(8))
def test_truncated_profile_history_resolves_like_the_full_history(seed: int) -> None:
    """As if everything had been kept for ever."""
    random = Random(seed)
    world, service, own = World(), list[tuple[datetime, Preferences]](), NO_CHOICES
    said = BEFORE
    for number in range(5 * LONGEST):
        day = 2 * number
        if number and random.random() < 0.08:
            choice = Choice(
                frequencies=frequencies({"comment": random.choice([*Frequency])}),
                clock=random.choice([None, (random.randrange(24), None)]),
                weekly_on=random.choice([None, random.randint(1, 7)]),
                time_zone=random.choice([None, "Asia/Kolkata", "Europe/Rome"]),
            )
            choose(world, day, choice)
            own = own.with_choice(NOW + day * DAY, choice)
        else:
            said = replace(said, frequencies=_with_likes(said, number))
            if random.random() < 0.1:
                changed = {"comment": random.choice([*Frequency])}
                said = Preferences(
                    frequencies({**dict(said.frequencies), **changed}),
                    replace(said.times, hour=random.randrange(24), weekly_on=random.randint(1, 7)),
                    random.choice(["UTC", "Europe/Paris"]),
                )
            say(world, day, said)
            service.append((NOW + day * DAY, said))
        assert now(world) == resolve(tuple(service), own)[1], number
