"""A reader's immediate emails stay within the limit of the stage (rule 28)."""

from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import permutations

import pytest
from gazette.domain.errors import Unavailable
from gazette.domain.links import NEW_LINK
from gazette.domain.model import DAILY, Event, RunKey, StoredEvent
from gazette.domain.outcome import Outcome
from gazette.domain.ports.stores import Guard
from gazette.domain.scheduling.calendar import slot_of
from gazette.domain.scheduling.cap import DAY, HOUR, ImmediateLimit, Usage
from gazette.domain.scheduling.kinds import (
    ScheduleKind,
    critical_schedule,
    immediate_schedule,
    kind_of,
    urgent_schedule,
)
from gazette.domain.subscribers.frequency import Frequency
from gazette.steps.routing.catch_up import catch_up
from gazette.steps.routing.together import TimeFor
from gazette.steps.time_budget import unlimited
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import NOW, an_event
from tests.interruptions import die
from tests.world import World, crashes

MINUTE = timedelta(minutes=1)
LIMIT = ImmediateLimit(per_hour=2, per_day=4)
PORTS_OF_LIMIT = {"immediate_usage.get", "immediate_usage.put", "events.cap"}


def a_world(limit: ImmediateLimit | None = LIMIT, **given: object) -> World:
    """Ann wants comments at once, and the stage has a limit."""
    world = World(limit=limit, **given)  # type: ignore[arg-type]
    world.choose(at=NOW - DAY, comment=Frequency.IMMEDIATE, like=Frequency.DAILY)
    return world


def on(number: int, name: str = "", **given: object) -> Event:
    """Something happens on a post of its own."""
    given = {"entity_id": f"post{number}", **given}
    return an_event(name or f"e{number}", **given)  # type: ignore[arg-type]


def places(world: World) -> dict[str, str]:
    """Where each event waits: `now`, or the name of a digest."""
    return {
        name: "now" if kind_of(schedule) is ScheduleKind.IMMEDIATE else schedule
        for name, schedule in world.waiting().items()
    }


def capped(world: World) -> set[str]:
    """The events with the mark."""
    rows = world.events.rows.values()
    return {row.event.id for row in rows if isinstance(row, StoredEvent) and row.is_capped}


def sent_at_once(world: World) -> int:
    """How many immediate emails went out."""
    return sum(kind_of(each.schedule) is ScheduleKind.IMMEDIATE for each in world.emails())


# -- the rule ------------------------------------------------------------------------------------


def test_events_beyond_the_limit_go_with_the_daily_digest() -> None:
    world = a_world()
    world.create(*(on(number) for number in range(1, 6)))
    assert places(world) == {
        "e1": "now",
        "e2": "now",
        "e3": DAILY,
        "e4": DAILY,
        "e5": DAILY,
    }
    assert capped(world) == {"e3", "e4", "e5"}
    assert ("ann", DAILY) in world.schedules.listed
    world.send_everything()
    assert sent_at_once(world) == 2
    assert sorted(line for each in world.emails() for line in each.lines) == [
        f"post{number}: 1" for number in range(1, 6)
    ]


def test_allowance_refills_with_time() -> None:
    world = a_world()
    world.create(on(1), on(2), on(3))
    world.clock.pass_time(minutes=30)
    world.create(on(4), on(5))
    assert [places(world)[f"e{number}"] for number in (3, 4, 5)] == [DAILY, "now", DAILY]


def test_limit_of_a_day_applies_too() -> None:
    world = a_world()
    for number in range(6):
        world.create(on(number))
        world.clock.pass_time(hours=1)
    assert [*places(world).values()] == ["now"] * 4 + [DAILY] * 2


def test_event_that_joins_a_run_that_collects_takes_no_token() -> None:
    world = a_world()
    world.create(*(an_event(f"e{number}") for number in range(5)))
    world.create(an_event("e5"))
    assert set(places(world).values()) == {"now"}
    assert world.immediate_usage.get("ann") == LIMIT.take(None, NOW)


def test_each_new_run_of_a_thread_takes_a_token() -> None:
    world = a_world()
    for number in range(3):
        world.create(an_event(f"e{number}"))
        world.send_everything()
        world.clock.now = NOW + (number + 1) * 11 * MINUTE
    assert capped(world) == {"e2"}


def test_critical_events_and_links_take_no_token() -> None:
    world = a_world(critical=frozenset({"security"}))
    world.create(
        *(on(number, category="security") for number in range(5)),
        *(on(number, f"l{number}", category=NEW_LINK) for number in range(5)),
    )
    assert set(places(world).values()) == {"now"}
    assert world.immediate_usage.get("ann") is None
    assert world.waiting()["e1"] == critical_schedule("post#post1")
    assert world.waiting()["l1"] == urgent_schedule("post#post1")


def test_event_that_joins_the_newest_of_many_runs_takes_no_token() -> None:
    """Immediate email is stopped, and eight runs wait (rule 16)."""
    world = a_world(ImmediateLimit(per_hour=60, per_day=500))
    for number in range(12):
        world.create(an_event(f"e{number}"))
        world.clock.pass_time(hours=2)
    used = world.immediate_usage.get("ann")
    assert len(world.runs.rows) == 8
    world.create(an_event("last"))
    assert world.immediate_usage.get("ann") == used
    assert set(places(world).values()) == {"now"}


def test_urgent_events_take_a_token() -> None:
    world = a_world()
    soon = [replace(on(number), expires_at=NOW + HOUR) for number in range(3)]
    world.create(*soon)
    assert capped(world) == {"e2"}


def test_readers_have_separate_limits() -> None:
    world = a_world()
    world.choose("bo", at=NOW - DAY, comment=Frequency.IMMEDIATE)
    world.create(*(on(number) for number in range(3)))
    world.create(on(7, user_id="bo"))
    assert world.waiting("bo") == {"e7": immediate_schedule("post#post7")}


def test_daily_events_take_no_token() -> None:
    world = a_world()
    world.create(*(on(number, category="like") for number in range(5)))
    assert world.immediate_usage.get("ann") is None
    assert capped(world) == set()


# -- the mark ------------------------------------------------------------------------------------


def test_repetition_keeps_an_event_in_the_digest() -> None:
    world = a_world()
    events = [on(number) for number in range(3)]
    world.create(*events)
    world.clock.pass_time(hours=12)
    assert world.create(events[2]) == [Outcome.DUPLICATE]
    assert places(world)["e2"] == DAILY
    assert capped(world) == {"e2"}


def test_repetition_takes_no_token() -> None:
    world = a_world()
    world.create(on(1))
    world.send_everything()
    used = world.immediate_usage.get("ann")
    world.clock.pass_time(hours=12)
    assert world.create(on(1)) == [Outcome.DUPLICATE]
    assert world.immediate_usage.get("ann") == used


def test_repetition_after_a_switch_takes_a_token() -> None:
    """The worker of the switch died before it moved the waiting events."""
    world = a_world()
    events = [on(number, category="like") for number in range(5)]
    world.create(*events)
    with pytest.raises(Unavailable), world.meanwhile("events.stored_under", die, before=True):
        world.choose(comment=Frequency.IMMEDIATE, like=Frequency.IMMEDIATE)
    world.create(*events)
    assert sorted(places(world).values()) == [DAILY] * 3 + ["now"] * 2
    assert len(capped(world)) == 3


def test_follower_who_catches_up_keeps_events_in_the_digest() -> None:
    """A reader who followed late gets many activities together, some of which are stored."""
    world = a_world()
    world.follow(at=NOW - DAY)
    events = [on(number, via=("post#post1",)) for number in range(40)]
    world.create(*events)
    world.clock.pass_time(hours=12)
    catch_up(
        "ann",
        events,
        known={},
        context=world.context,
        time=TimeFor(unlimited, timedelta(seconds=1)),
    )
    assert sorted(places(world).values()) == [DAILY] * 38 + ["now"] * 2


def test_amendment_keeps_an_event_in_the_digest() -> None:
    world = a_world()
    events = [on(number) for number in range(3)]
    world.create(*events)
    world.clock.pass_time(hours=12)
    later = replace(events[2], excerpt="other", amended_at=world.clock())
    assert world.create(later) == [Outcome.AMENDED]
    assert places(world)["e2"] == DAILY


def test_choices_keep_an_event_in_a_digest() -> None:
    world = a_world()
    world.create(*(on(number) for number in range(3)))
    for chosen, place in (
        (Frequency.DAILY, DAILY),
        (Frequency.IMMEDIATE, DAILY),
        (Frequency.WEEKLY, "weekly"),
        (Frequency.IMMEDIATE, DAILY),
    ):
        world.clock.pass_time(hours=3)
        world.choose(comment=chosen)
        assert places(world)["e2"] == place
        assert capped(world) == {"e2"}


def test_category_that_becomes_critical_overrides_the_mark() -> None:
    world = a_world()
    events = [on(number) for number in range(3)]
    world.create(*events)
    world.context = replace(world.context, critical=frozenset({"comment"}))
    world.create(events[2])
    assert world.waiting()["e2"] == critical_schedule("post#post2")


# -- changes of choices --------------------------------------------------------------------------


def test_reader_who_switches_to_immediate_gets_only_the_limit() -> None:
    world = a_world()
    events = [on(number, category="like") for number in range(100)]
    world.create(*events)
    world.clock.pass_time(minutes=1)
    world.choose(comment=Frequency.IMMEDIATE, like=Frequency.IMMEDIATE)
    assert sorted(places(world).values()) == [DAILY] * 98 + ["now"] * 2
    assert len(capped(world)) == 98
    world.clock.pass_time(hours=2)
    world.choose(comment=Frequency.IMMEDIATE, like=Frequency.IMMEDIATE, mention=Frequency.NEVER)
    world.create(*events)
    assert sorted(places(world).values()) == [DAILY] * 98 + ["now"] * 2
    world.send_everything()
    assert sent_at_once(world) == 2
    (digest,) = (run for run in world.runs.rows.values() if run.key.schedule == DAILY)
    assert digest.events == 98


def test_events_of_a_thread_share_a_token_after_a_change_of_choices() -> None:
    world = a_world()
    world.create(*(an_event(f"e{number}", category="like") for number in range(5)))
    world.choose(like=Frequency.IMMEDIATE)
    assert set(places(world).values()) == {"now"}
    assert world.immediate_usage.get("ann") == LIMIT.take(None, NOW)


def test_weekly_events_without_a_token_go_with_the_daily_digest() -> None:
    """As a late event does. The daily digest is armed, before the events move."""
    world = a_world()
    world.choose(at=NOW - 2 * HOUR, comment=Frequency.IMMEDIATE, like=Frequency.WEEKLY)
    world.create(*(on(number, category="like") for number in range(4)))
    world.choose(like=Frequency.IMMEDIATE)
    assert sorted(places(world).values()) == [DAILY, DAILY, "now", "now"]
    assert ("ann", DAILY) in world.schedules.listed


def test_event_that_another_worker_moves_meanwhile_gets_its_mark() -> None:
    world = a_world()
    world.choose(at=NOW - 2 * HOUR, comment=Frequency.IMMEDIATE, like=Frequency.WEEKLY)
    world.create(on(8), on(9), on(1, category="like"))

    def move() -> None:
        row = world.events.get("ann", "e1")
        assert isinstance(row, StoredEvent)
        world.events.move(row, "custom", Guard())

    with world.meanwhile("events.move", move, before=True):
        world.choose(like=Frequency.IMMEDIATE)
    assert places(world)["e1"] == DAILY
    assert capped(world) == {"e1"}


def test_events_that_wait_for_a_profile_get_only_the_limit() -> None:
    world = World(limit=LIMIT, defaults=(("comment", Frequency.IMMEDIATE),))
    world.create(*(on(number) for number in range(5)))
    world.choose()
    assert sorted(places(world).values()) == [DAILY] * 3 + ["now"] * 2
    assert len(capped(world)) == 3


@pytest.mark.parametrize("in_one_message", [False, True])
def test_late_follow_gets_only_the_limit(*, in_one_message: bool) -> None:
    """Ann follows a post whose comments, more than a few, have each an entity of its own."""
    world = a_world()
    world.follow(at=NOW - DAY)
    events = [on(number, via=("post#post1",)) for number in range(40)]
    if in_one_message:
        world.create(*events)
    else:
        time = TimeFor(unlimited, timedelta(seconds=1))
        catch_up("ann", events, known={}, context=world.context, time=time)
    assert len(capped(world)) == 38
    assert sorted(places(world).values()) == [DAILY] * 38 + ["now"] * 2


def test_digest_that_reroutes_its_events_gets_only_the_limit() -> None:
    """The change of choices was not applied yet when the digest is prepared."""
    world = a_world()
    world.create(*(on(number, category="like") for number in range(10)))
    with pytest.raises(Unavailable), world.meanwhile("events.move", _fail):
        world.choose(comment=Frequency.IMMEDIATE, like=Frequency.IMMEDIATE)
    world.send_everything()
    assert sent_at_once(world) <= 2
    assert sum(len(each.lines) for each in world.emails()) == 10


def _fail() -> None:
    raise Unavailable("events")


# -- crashes and orders --------------------------------------------------------------------------


def overflowing() -> World:
    """Four likes wait for the weekly digest, and Ann has one immediate email left."""
    world = a_world()
    world.choose(at=NOW - HOUR, comment=Frequency.IMMEDIATE, like=Frequency.WEEKLY)
    world.create(on(9), *(on(number, category="like") for number in range(4)))
    return world


def assert_each_sent_once(world: World, where: str) -> None:
    world.recover()
    world.send_everything()
    shown = sorted(line for email in world.emails() for line in email.lines)
    assert shown == [f"post{number}: 1" for number in (0, 1, 2, 3, 9)], where
    assert sent_at_once(world) <= LIMIT.per_hour, where


def test_worker_that_dies_during_a_switch_loses_no_event() -> None:
    def switch(world: World) -> None:
        world.choose(like=Frequency.IMMEDIATE)

    for world, where in crashes(overflowing, switch):
        switch(world)
        assert_each_sent_once(world, where)


def test_worker_that_dies_after_it_took_a_token_sends_one_email_less() -> None:
    def create(world: World) -> None:
        world.create(on(1), on(2), on(3))

    fewest = LIMIT.per_hour
    for world, where in crashes(a_world, create):
        create(world)
        world.send_everything()
        shown = sorted(line for email in world.emails() for line in email.lines)
        assert shown == ["post1: 1", "post2: 1", "post3: 1"], where
        fewest = min(fewest, sent_at_once(world))
        assert sent_at_once(world) <= LIMIT.per_hour, where
    assert fewest == LIMIT.per_hour - 1


def test_digest_that_reroutes_its_events_and_dies_loses_no_event() -> None:
    """The worker of the switch died, and its message never came again. The weekly digest moves its
    events to the daily digest, which is idle.
    """

    def rerouting() -> World:
        world = overflowing()
        with pytest.raises(Unavailable), world.meanwhile("events.move", die, before=True):
            world.choose(like=Frequency.IMMEDIATE)
        schedule = world.schedules.rows["ann", "weekly"]
        world.clock.now = schedule.next_due_at + 2 * MINUTE
        world.fan_out(slot_of(schedule.next_due_at))
        return world

    def send(world: World) -> None:
        world.generate(RunKey("ann", "weekly", 1))

    for world, where in crashes(rerouting, send):
        send(world)
        if DAILY in world.waiting().values():
            assert ("ann", DAILY) in world.schedules.listed, where
        assert_each_sent_once(world, where)


@pytest.mark.parametrize("order", [*permutations(range(4))])
def test_any_order_of_arrival_sends_each_event_once(order: tuple[int, ...]) -> None:
    """Which events are immediate depends on the order; how many are does not."""
    world = a_world()
    for number in order:
        world.create(on(number))
    assert sorted(places(world).values()) == [DAILY, DAILY, "now", "now"]
    assert capped(world) == {f"e{number}" for number in order[2:]}
    world.send_everything()
    assert sorted(line for each in world.emails() for line in each.lines) == [
        f"post{number}: 1" for number in range(4)
    ]


_STEP = st.one_of(
    st.tuples(st.just("create"), st.integers(0, 9), st.sampled_from([0, 1])),
    st.tuples(st.just("again"), st.integers(0, 9), st.just(0)),
    st.tuples(st.just("choose"), st.integers(0, 2), st.integers(0, 2)),
    st.tuples(st.just("wait"), st.sampled_from([1, 20, 70, 400, 1500]), st.just(0)),
    st.tuples(st.just("send"), st.just(0), st.just(0)),
)
_FREQUENCIES = (Frequency.IMMEDIATE, Frequency.DAILY, Frequency.WEEKLY)


@given(st.lists(_STEP, min_size=3, max_size=25))
def test_history_sends_each_event_once_within_the_limit(steps: list[tuple[str, int, int]]) -> None:
    """Events, repetitions, changes of choices and time, in any order."""
    world, created, marked = a_world(), dict[str, Event](), set[str]()
    for what, number, other in steps:
        match what:
            case "create":
                name, category = f"e{len(created)}", ("comment", "like")[other]
                at = world.clock()
                created[name] = on(number, name, category=category, actor=name, occurred_at=at)
                world.create(created[name])
            case "again" if created:
                world.create(list(created.values())[number % len(created)])
            case "choose":
                world.choose(comment=_FREQUENCIES[number], like=_FREQUENCIES[other])
            case "wait":
                world.clock.pass_time(minutes=number)
            case "send":
                world.deliver_queued()
        now = {name for name, place in places(world).items() if place == "now"}
        marked |= capped(world)
        assert not marked & now, "an event with the mark is never moved back"
        assert marked <= capped(world), "no event loses its mark"
    world.send_everything()
    world.send_everything()
    shown = Counter[str]()
    for email in world.emails():
        for line in email.lines:
            entity, _, number_of = line.partition(": ")
            shown[entity] += int(number_of)
    assert shown == Counter(event.entity.id for event in created.values())
    passed = world.clock() - NOW
    assert sent_at_once(world) <= LIMIT.per_hour * (1 + passed / HOUR)
    assert sent_at_once(world) <= LIMIT.per_day * (1 + passed / DAY)


# -- the allowance -------------------------------------------------------------------------------


@given(
    st.integers(1, 60),
    st.integers(0, 440),
    st.lists(st.timedeltas(timedelta(0), 3 * HOUR), max_size=100),
)
def test_allowance_is_kept_in_every_period(
    per_hour: int, more: int, pauses: list[timedelta]
) -> None:
    """Within a time t, at most the allowance and its refill in t."""
    limit = ImmediateLimit(per_hour=per_hour, per_day=per_hour + more)
    used, now, allowed = None, NOW, list[datetime]()
    for pause in pauses:
        now += pause
        if after := limit.take(used, now):
            used = after
            allowed.append(now)
    for period, number in ((HOUR, limit.per_hour), (DAY, limit.per_day)):
        step = period // number
        for first, at in enumerate(allowed):
            for count, until in enumerate(allowed[first:], start=1):
                assert count <= number + (until - at) // step


@pytest.mark.parametrize("number", [1, 6, 7, 13, 60])
def test_whole_allowance_is_free_after_a_pause(number: int) -> None:
    """Also where an hour is no multiple of the interval."""
    limit = ImmediateLimit(per_hour=number, per_day=500)
    used = None
    for _ in range(number):
        used = limit.take(used, NOW)
        assert used
    assert limit.take(used, NOW) is None
    assert limit.take(used, NOW + HOUR // number)
    for _ in range(number):
        used = limit.take(used, NOW + HOUR)
        assert used


def test_usage_ends_when_it_allows_as_much_as_none() -> None:
    used = LIMIT.take(LIMIT.take(None, NOW), NOW)
    assert used == Usage(NOW + HOUR, NOW + DAY / 2)
    assert used.ends_at == NOW + DAY / 2
    assert LIMIT.take(used, used.ends_at) == LIMIT.take(None, used.ends_at)


def test_refused_email_uses_up_neither_allowance() -> None:
    limit = ImmediateLimit(per_hour=1, per_day=2)
    used = limit.take(None, NOW)
    assert limit.take(used, NOW + MINUTE) is None
    assert limit.take(used, NOW + HOUR)


# -- off -----------------------------------------------------------------------------------------


def test_stage_without_a_limit_makes_no_further_call() -> None:
    """Neither for a new event nor for one that a change of choices moves."""
    world = a_world(None)
    world.create(on(3, category="like"))
    with world.calls() as called:
        world.create(on(1), on(2))
    with world.calls() as rerouting:
        world.choose(like=Frequency.IMMEDIATE)
    assert not set(rerouting) & PORTS_OF_LIMIT
    assert rerouting.count("runs.chain") == 7
    assert not set(called) & PORTS_OF_LIMIT
    assert called.count("runs.chain") == 2
    assert "events.get" not in called


def test_new_run_costs_four_calls_and_one_that_joins_one() -> None:
    counts = []
    for limit in (None, LIMIT):
        world = a_world(limit)
        for event in (an_event("e1"), an_event("e2"), on(3), on(4), on(5)):
            with world.calls() as called:
                world.create(event)
            counts.append(called)
    off, on_ = counts[:5], counts[5:]
    further = [len(more) - len(less) for less, more in zip(off, on_, strict=True)]
    assert further[:3] == [4, 1, 4]
    assert Counter(on_[0]) - Counter(off[0]) == Counter(
        ["runs.chain", "events.get", "immediate_usage.get", "immediate_usage.put"]
    )
    assert "immediate_usage.put" not in on_[4]
    assert "runs.create" not in on_[4]


def test_repetition_of_sent_events_takes_no_token() -> None:
    world = a_world(ImmediateLimit(per_hour=2, per_day=2))
    world.create(on(9, category="like"))
    due = world.schedules.rows["ann", DAILY].next_due_at
    world.clock.now = due - 2 * HOUR
    sent = [on(number, category="like", occurred_at=world.clock()) for number in range(4)]
    world.create(*sent)
    world.clock.now = due + 2 * MINUTE
    world.fan_out(slot_of(due))
    world.deliver_queued()
    assert len(world.emails()) == 1
    world.clock.pass_time(minutes=5)
    world.choose(comment=Frequency.IMMEDIATE, like=Frequency.IMMEDIATE)
    world.create(*sent)
    assert world.immediate_usage.get("ann") is None
    assert not capped(world)


def test_event_that_becomes_urgent_takes_no_second_token() -> None:
    world = a_world(ImmediateLimit(per_hour=9, per_day=9))
    event = on(1)
    world.create(event)
    used = world.immediate_usage.get("ann")
    assert used
    soon = world.clock() + 30 * MINUTE
    world.create(replace(event, expires_at=soon, amended_at=world.clock() + MINUTE))
    assert world.immediate_usage.get("ann") == used
    assert not capped(world)


def test_events_that_another_worker_stores_take_the_tokens_once() -> None:
    world = a_world(ImmediateLimit(per_hour=2, per_day=2))
    world.follow(at=NOW - DAY)
    events = [on(number, via=("post#post1",)) for number in range(40)]
    with world.meanwhile(
        "events.store_together", lambda: world.events.store(events[39], DAILY), before=True
    ):
        time = TimeFor(unlimited, timedelta(seconds=1))
        catch_up("ann", events, known={}, context=world.context, time=time)
    placed = Counter(places(world).values())
    assert sum(number for name, number in placed.items() if name != DAILY) == 2
