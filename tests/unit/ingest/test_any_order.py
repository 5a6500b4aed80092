"""The same messages in any order, repeated and interrupted, always end in the same state."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from itertools import repeat

from gazette.domain.commands import (
    ChangeFollow,
    ChangeSubscriber,
    ChoosePreferences,
    Command,
    CreateActivity,
    CreateEvents,
    EraseSubscriber,
    MarkActive,
    MarkSeen,
    RetractActivity,
    RetractEvent,
)
from gazette.domain.delivery.run import BEGINNING
from gazette.domain.errors import Unavailable
from gazette.domain.model import RunKey, StoredEvent, Window
from gazette.domain.scheduling.calendar import DigestTimes
from gazette.domain.scheduling.kinds import Unsent
from gazette.domain.subscribers.choices import Choice
from gazette.domain.subscribers.following import Activity, FollowState
from gazette.domain.subscribers.frequency import Frequency, frequencies
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.steps.routing.reroute import route_again
from gazette.steps.time_budget import unlimited
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.builders import NOW, a_subscriber, an_activity, an_event
from tests.interruptions import Moments, die
from tests.world import World

READERS = ("ann", "bo", "cy")
POST, COMMENT = "post#post1", "post#reply1"
CATEGORIES = ("comment", "like")
HEARD: list[Frequency] = [each for each in Frequency if each is not Frequency.NEVER]
MINUTE = timedelta(minutes=1)
DAY = timedelta(days=1)
ZONES = ("Europe/Berlin", "Pacific/Honolulu")
"""In Honolulu it is still yesterday: a pause that is over in one of them goes on in the other."""

minutes = st.integers(0, 30)
readers = st.sampled_from(READERS)
categories = st.sampled_from(CATEGORIES)
texts = st.sampled_from(["", "first", "second"])


@st.composite
def profiles(draw: st.DrawFn) -> Command:
    """Any choices by category; two may carry the same instant.

    Of those who mute, Ann does so from the beginning, Bo after a while, and nobody switches back:
    that is the one thing whose order matters, because nothing is stored of what is muted. Any may
    pause, up to today or beyond, and lift it.
    """
    user_id = draw(readers)
    ago = draw(minutes)
    chosen: dict[str, Frequency] = draw(st.dictionaries(categories, st.sampled_from(HEARD)))
    if user_id == "ann" or (user_id == "bo" and ago <= 15):
        chosen["like"] = Frequency.NEVER
    paused_until = draw(st.none() | st.integers(-1, 3).map(lambda days: NOW.date() + DAY * days))
    subscriber = a_subscriber(
        user_id,
        changed_at=NOW - MINUTE * ago,
        email=f"{user_id}@{draw(st.sampled_from('ab'))}.example",
        times=DigestTimes(minute=0, paused_until=paused_until),
        **chosen,
    )
    return ChangeSubscriber(replace(subscriber, time_zone=draw(st.sampled_from(ZONES))))


@st.composite
def choices(draw: st.DrawFn) -> Command:
    """Anything that a reader may choose; who mutes goes on to, as in `profiles`."""
    user_id = draw(readers)
    chosen: dict[str, Frequency] = draw(st.dictionaries(categories, st.sampled_from(HEARD)))
    if user_id == "ann":
        chosen["like"] = Frequency.NEVER
    choice = Choice(
        frequency=draw(st.none() | st.sampled_from(HEARD)),
        frequencies=None if user_id == "bo" else draw(st.none() | st.just(frequencies(chosen))),
        clock=draw(st.none() | st.integers(6, 9).map(lambda hour: (hour, 0))),
        weekly_on=draw(st.none() | st.integers(1, 7)),
        paused_until=draw(st.none() | st.integers(-1, 3).map(lambda days: NOW.date() + DAY * days)),
        time_zone=draw(st.none() | st.sampled_from(ZONES)),
    )
    return ChoosePreferences(user_id, choice, NOW - MINUTE * draw(minutes))


@st.composite
def events(draw: st.DrawFn) -> Command:
    """An event whose id decides what it is; an amended one says when."""
    number = draw(st.integers(1, 3))
    amended = draw(st.none() | minutes)
    return CreateEvents(
        (
            an_event(
                f"e{number}",
                user_id=draw(readers),
                category=CATEGORIES[number % 2],
                entity_id=f"post{number % 2}",
                occurred_at=NOW - MINUTE * number * 7,
                excerpt="" if amended is None else f"amended {amended}",
                amended_at=None if amended is None else NOW - MINUTE * amended,
            ),
        )
    )


@st.composite
def activities(draw: st.DrawFn) -> Command:
    """On the post, or on a reply, which amendments take away from the post and back."""
    number = draw(st.integers(1, 3))
    amended = draw(st.none() | minutes)
    return CreateActivity(
        an_activity(
            f"a{number}",
            entity_id="reply1" if number == 1 else "post1",
            parent=POST if number == 1 and not (amended or 0) % 2 else None,
            actor="Cy" if number == 2 else "Dee",
            occurred_at=NOW - MINUTE * number * 7,
            excerpt="" if amended is None else f"amended {amended}",
            amended_at=None if amended is None else NOW - MINUTE * amended,
        )
    )


follows = st.builds(
    ChangeFollow,
    user_id=readers,
    entity=st.sampled_from([POST, COMMENT]),
    state=st.one_of(
        st.just(FollowState(False)),
        st.builds(FollowState, st.just(True), st.none() | st.sampled_from(Frequency)),
    ),
    at=minutes.map(lambda ago: NOW - MINUTE * ago),
)
commands: st.SearchStrategy[Command] = st.one_of(
    profiles(),
    profiles(),
    choices(),
    choices(),
    events(),
    activities(),
    follows,
    follows,
    st.builds(RetractEvent, user_id=readers, id=st.sampled_from(["e1", "e2", "e3", "a3"])),
    st.sampled_from([RetractActivity(COMMENT, "a1"), RetractActivity(POST, "a2")]),
    st.builds(MarkActive, user_id=readers, at=minutes.map(lambda ago: NOW - ago * MINUTE * 60)),
    st.builds(
        MarkSeen,
        user_id=readers,
        entity=st.sampled_from([COMMENT, POST]),
        at=minutes.map(lambda ago: NOW - ago * MINUTE),
    ),
    st.just(EraseSubscriber("cy", NOW + MINUTE)),
)


def run(
    history: Sequence[Command],
    *,
    deaths: Iterable[int] = repeat(0),
    overlaps: Iterable[int] = repeat(0),
    eager: bool = True,
) -> World:
    """Say everything and work everything off.

    A death above 0 lets the worker die at that moment of the message, which then comes again; an
    overlap above 0 lets the message after it be worked off whole at that moment of this one.
    """
    world = World()
    remaining = list(history)
    for death, overlap in zip(deaths, overlaps, strict=False):
        if not remaining:
            break
        command = remaining.pop(0)
        world.clock.pass_time(milliseconds=1)
        if death:
            with suppress(Unavailable), world.watched(Moments(death, die).around):
                world.say(command)
        world.clock.pass_time(milliseconds=1)
        if overlap and remaining:
            after = remaining.pop(0)
            moments = Moments(overlap, partial(world.say, after))
            with world.watched(moments.around):
                world.say(command)
            if moments.at > 0:
                world.say(after)
        else:
            world.say(command)
        if eager:
            world.work_off_followers()
    world.work_off_followers()
    prepare_threads(world)
    return world


def prepare_threads(world: World) -> None:
    """What waits in a thread is routed again when its run is prepared, and only then."""
    threads = {
        RunKey(stored.event.user_id, stored.schedule, 1)
        for stored in world.events.rows.values()
        if isinstance(stored, StoredEvent) and stored.is_immediate
    }
    for key in sorted(threads, key=lambda each: (each.user_id, each.schedule)):
        route_again(key, Window(BEGINNING, world.clock.now), unlimited, context=world.context)


def state(world: World) -> dict[str, object]:
    """What readers and services can notice."""
    return {
        "profiles": {
            user_id: replace(reader, revision=0, routed_for="", routes_since=None)
            if isinstance(reader := world.subscribers.get(user_id), Subscriber)
            else reader
            for user_id in READERS
        },
        "early": world.subscribers.waiting,
        "follows": world.follows.rows,
        "activities": {
            key: replace(activity, walked=frozenset(), former=frozenset())
            for key, activity in world.activities.rows.items()
            if isinstance(activity, Activity) and not activity.retracted
        },
        "events": {
            key: (stored.event, stored.schedule)
            for key, stored in world.events.rows.items()
            if isinstance(stored, StoredEvent)
        },
        "kept": world.quarantine.kept,
    }


def assert_everything_is_on_its_way(world: World) -> None:
    """Each event waits for its subscriber, under a schedule that is there, or for a run.

    Nobody who is paused has an immediate run or a digest before the pause ends.
    """
    queued = {message.key for message in world.generate_queue.sent}
    for (user_id, _), stored in world.events.rows.items():
        if not isinstance(stored, StoredEvent):
            continue
        known = isinstance(world.subscribers.get(user_id), Subscriber)
        assert (stored.schedule == Unsent.WAITING) == (not known)
        reader = world.subscribers.get(user_id)
        pause = reader.pause if isinstance(reader, Subscriber) else None
        if stored.is_immediate:
            assert not pause or not pause.holds_at(stored.event.occurred_at)
            assert any(
                key.schedule == stored.schedule
                and key.user_id == user_id
                and world.runs.rows[key].due_at >= stored.stored_at
                for key in queued
            )
        elif known:
            schedule = world.schedules.get(user_id, stored.schedule)
            assert schedule is not None
            assert not pause or not pause.holds_at(schedule.next_due_at)
            assert isinstance(reader, Subscriber)
            assert schedule.recurrence == reader.recurrence(Frequency(stored.schedule))


histories = st.lists(commands, min_size=1, max_size=14)
moments = st.lists(st.integers(0, 40).map(lambda at: max(0, at - 20)), min_size=20, max_size=20)


@settings(max_examples=75, deadline=None)
@given(histories, st.data())
def test_messages_in_any_order_with_crashes_end_in_same_state(
    said: list[Command], data: st.DataObject
) -> None:
    expected = run(said)
    again = data.draw(st.lists(st.sampled_from(said), max_size=6), label="again")
    shuffled = data.draw(st.permutations([*said, *again]), label="shuffled")
    deaths = data.draw(moments, label="deaths")
    actual = run(shuffled, deaths=deaths, eager=data.draw(st.booleans(), label="eager"))
    assert state(actual) == state(expected)
    assert_everything_is_on_its_way(expected)
    assert_everything_is_on_its_way(actual)


@settings(max_examples=75, deadline=None)
@given(histories, st.data())
def test_messages_processed_by_two_workers_end_in_same_state(
    said: list[Command], data: st.DataObject
) -> None:
    expected = run(said)
    shuffled = data.draw(st.permutations(said), label="shuffled")
    overlaps = data.draw(moments, label="overlaps")
    actual = run(shuffled, overlaps=overlaps, eager=data.draw(st.booleans(), label="eager"))
    assert state(actual) == state(expected)
    assert_everything_is_on_its_way(actual)
