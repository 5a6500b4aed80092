"""Readers without a sign of life for `sunset_days` are dormant until the next one."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from itertools import count, permutations

import pytest
from gazette.domain.commands import ChangeSubscriber, MarkActive
from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.errors import NotYet
from gazette.domain.model import DAILY, Schedule, ScheduleState
from gazette.domain.outcome import Outcome
from gazette.domain.scheduling.calendar import DigestTimes, slot_of
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.subscriber import Subscriber, SubscriberStatus
from gazette.steps.fanout.fanout import FannedOut

from tests.builders import NOW, a_subscriber, an_event
from tests.world import World, crashes, interleavings

SUNSET = timedelta(days=45)
REGISTERED = NOW - timedelta(days=100)


def registered() -> World:
    """Ann registered long ago, and is due in the open slot; something waits for her."""
    world = World(sunset=SUNSET)
    world.clock.now = REGISTERED
    world.choose(like=Frequency.WEEKLY)
    world.clock.now = NOW
    world.arm()
    world.create(an_event())
    schedule = daily(world)
    due = replace(schedule, next_due_at=slot_of(NOW), active_until=schedule.active_until)
    world.schedules.rows["ann", DAILY] = due
    world.clock.pass_time(minutes=5)
    return world


def dormant() -> World:
    """Ann, after fan-out found her."""
    world = registered()
    assert fan_out(world) == FannedOut(dormant=1)
    world.clock.pass_time(hours=3)
    return world


def fan_out(world: World) -> FannedOut:
    """Of the slot in which Ann's daily digest is due."""
    return world.fan_out(slot_of(daily(world).next_due_at))


def daily(world: World) -> Schedule:
    """Ann's daily schedule."""
    return world.schedules.rows["ann", DAILY]


def ann(world: World) -> Subscriber:
    """Ann as she is stored."""
    reader = world.subscribers.get("ann")
    assert isinstance(reader, Subscriber)
    return reader


def show_life(world: World, at: datetime | None = None) -> Outcome:
    """A sign of life: now, unless `at` says when."""
    return world.say(MarkActive("ann", at or world.clock.now))[0]


def first_run(world: World) -> Run:
    """The run of the occurrence that found her asleep."""
    return min(world.runs.rows.values(), key=lambda run: run.due_at)


def show_life_of(world: World) -> None:
    """Ann comes to the site."""
    show_life(world)


def put_profile_of(world: World) -> None:
    """The service puts all its profiles, as every night."""
    world.say(ChangeSubscriber(a_subscriber(changed_at=REGISTERED + timedelta(seconds=1))))


# Falling asleep.


def test_inactive_reader_is_removed_from_the_due_index() -> None:
    world = registered()
    assert fan_out(world) == FannedOut(dormant=1)
    assert ann(world).status is SubscriberStatus.DORMANT
    assert (
        set(world.schedules.rows)
        == world.schedules.withdrawn
        == {("ann", DAILY), ("ann", "weekly")}
    )
    run = first_run(world)
    assert (run.status, run.reason) == (Status.SKIPPED, Reason.DORMANT)
    assert world.generate_queue.sent == []


@pytest.mark.parametrize(("days", "active"), [(0, True), (44, True), (45, True), (46, False)])
def test_last_activity_counts_until_the_end_of_its_day(days: int, active: bool) -> None:
    world = registered()
    show_life(world, NOW - timedelta(days=days))
    world.schedules.rows["ann", DAILY] = replace(daily(world), next_due_at=slot_of(world.clock.now))
    assert fan_out(world) == (FannedOut(queued=1) if active else FannedOut(dormant=1))


def test_inactivity_counts_from_registration_without_any_activity() -> None:
    world = World(sunset=SUNSET)
    world.choose(at=NOW - timedelta(days=900))
    assert daily(world).active_until == datetime.fromisoformat("2027-01-07T00:00Z")


def test_recently_active_reader_is_not_read() -> None:
    world = registered()
    show_life(world)
    del world.schedules.rows["ann", "weekly"]
    world.schedules.rows["ann", DAILY] = replace(daily(world), next_due_at=slot_of(world.clock.now))
    with world.calls() as calls:
        fan_out(world)
    assert calls.count("subscribers.get") == 1
    for _ in range(3):
        world.clock.now = daily(world).next_due_at
        with world.calls() as calls:
            fan_out(world)
        assert calls.count("subscribers.get") == 0


def test_readers_never_become_dormant_without_a_sunset() -> None:
    world = registered()
    world.sunset = None
    assert fan_out(world).queued == 1


def allow(world: World, sunset: timedelta | None) -> None:
    """The stage is deployed with another setting."""
    world.sunset = sunset
    world.context = replace(world.context, sunset=sunset)


@pytest.mark.parametrize("sunset", [None, timedelta(days=120)])
@pytest.mark.parametrize("act", [show_life_of, put_profile_of])
def test_dormant_reader_resumes_after_the_sunset_is_extended(
    sunset: timedelta | None, act: Callable[[World], object]
) -> None:
    """An installation that puts no signs of life, and finds out after 45 days."""
    world = dormant()
    allow(world, sunset)
    act(world)
    assert ann(world).status is SubscriberStatus.ACTIVE
    assert not world.schedules.withdrawn
    world.send_digest()
    assert len(world.emails()) == 1


def test_profile_interrupted_while_resuming_is_complete_after_redelivery() -> None:
    def make() -> World:
        world = dormant()
        allow(world, None)
        return world

    for world, where in crashes(make, put_profile_of):
        put_profile_of(world)
        assert ann(world).status is SubscriberStatus.ACTIVE, where
        assert not world.schedules.withdrawn, where


def test_pause_longer_than_the_sunset_ends_with_a_digest() -> None:
    """Who pauses does what we offer; nobody expects a sign of life meanwhile."""
    world = World(sunset=SUNSET)
    world.choose()
    paused = DigestTimes(minute=0, paused_until=NOW.date() + timedelta(weeks=12))
    world.say(ChangeSubscriber(a_subscriber(changed_at=NOW + timedelta(seconds=1), times=paused)))
    world.create(an_event())
    world.send_digest()
    assert ann(world).status is SubscriberStatus.ACTIVE
    assert len(world.emails()) == 1


@pytest.mark.parametrize("lifted_first", [False, True])
def test_pause_lifted_early_does_not_make_the_reader_dormant(lifted_first: bool) -> None:
    """In whichever order the two profiles come."""
    world = World(sunset=SUNSET)
    world.choose()
    times = [DigestTimes(minute=0, paused_until=NOW.date() + timedelta(weeks=12)), DigestTimes()]
    said = [
        ChangeSubscriber(a_subscriber(changed_at=NOW + timedelta(days=day), times=each))
        for day, each in zip((1, 61), times, strict=True)
    ]
    world.clock.pass_time(days=61)
    for command in reversed(said) if lifted_first else said:
        world.say(command)
    world.create(an_event(occurred_at=world.clock()))
    world.send_digest()
    assert ann(world).status is SubscriberStatus.ACTIVE
    assert len(world.emails()) == 1


def test_unsubscribed_reader_is_withdrawn_without_a_sunset() -> None:
    """A crash may have kept them in the index."""
    world = registered()
    world.sunset = None
    world.subscribers.set_status("ann", SubscriberStatus.UNSUBSCRIBED)
    fan_out(world)
    assert not world.schedules.listed


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (SubscriberStatus.UNSUBSCRIBED, Reason.UNSUBSCRIBED),
        (SubscriberStatus.SUPPRESSED, Reason.SUPPRESSED),
    ],
)
def test_unsubscribed_reader_is_removed_from_the_due_index(
    status: SubscriberStatus, reason: Reason
) -> None:
    world = registered()
    world.subscribers.set_status("ann", status)
    fan_out(world)
    assert first_run(world).reason is reason
    assert not world.schedules.listed


def test_interrupted_dormancy_is_complete_after_a_repetition() -> None:
    """What is still in the index when only the due schedule is out is found when it is due."""
    for world, where in crashes(registered, fan_out):
        world.fan_out(slot_of(NOW))
        world.fan_out(slot_of(world.schedules.rows["ann", "weekly"].next_due_at))
        assert ann(world).status is SubscriberStatus.DORMANT, where
        assert not world.schedules.listed, where
        assert first_run(world).reason is Reason.DORMANT, where


def test_erasure_of_a_dormant_reader_adds_no_suppression() -> None:
    world = dormant()
    world.erase()
    assert world.suppressions.rows == {}


# What happens meanwhile.


def test_immediate_events_of_a_dormant_reader_wait_for_the_digest() -> None:
    world = dormant()
    world.choose(comment=Frequency.IMMEDIATE)
    assert world.create(an_event("e2")) == [Outcome.STORED]
    assert world.waiting() == {"e1": DAILY, "e2": DAILY}
    assert world.generate_queue.sent == []


def test_profile_from_a_service_resumes_no_reader() -> None:
    world = dormant()
    world.choose(comment=Frequency.WEEKLY)
    assert ann(world).status is SubscriberStatus.DORMANT
    assert not world.schedules.listed


# Waking up.


def test_next_activity_restores_schedules_and_waiting_events() -> None:
    world = dormant()
    assert show_life(world) is Outcome.ACTIVE
    assert (ann(world).status, ann(world).active_on) == (SubscriberStatus.ACTIVE, NOW.date())
    assert not world.schedules.withdrawn
    assert daily(world).next_due_at > world.clock.now
    world.send_digest()
    assert [email.lines for email in world.emails()] == [("post1: 1",)]


def test_immediate_events_from_dormancy_stay_in_the_digest() -> None:
    """A day that is spent on an email for each of a hundred old mentions is a bad one."""
    world = dormant()
    world.choose(comment=Frequency.IMMEDIATE, at=REGISTERED + timedelta(days=1))
    world.create(an_event("e2", occurred_at=world.clock.now))
    world.clock.pass_time(minutes=5)
    show_life(world, world.clock.now - timedelta(hours=1))
    world.choose(comment=Frequency.IMMEDIATE, like=Frequency.DAILY)
    assert world.waiting() == {"e1": DAILY, "e2": DAILY}
    world.create(an_event("e3", occurred_at=world.clock.now))
    assert world.waiting()["e3"].startswith("now")


def test_late_report_of_earlier_activity_resumes_no_reader() -> None:
    world = dormant()
    show_life(world, NOW - timedelta(days=60))
    assert ann(world).status is SubscriberStatus.DORMANT


@pytest.mark.parametrize("status", [SubscriberStatus.UNSUBSCRIBED, SubscriberStatus.SUPPRESSED])
def test_activity_of_an_unsubscribed_reader_restores_no_schedule(status: SubscriberStatus) -> None:
    world = dormant()
    world.subscribers.set_status("ann", status)
    show_life(world)
    assert ann(world).status is status
    assert not world.schedules.listed


@pytest.mark.parametrize("sunset", [None, SUNSET])
def test_activity_reported_days_later_resumes_the_reader(sunset: timedelta | None) -> None:
    world = dormant()
    allow(world, sunset)
    sign = MarkActive("ann", world.clock() - timedelta(days=3))
    for _ in range(2):
        assert world.say(sign) == [Outcome.ACTIVE]
    assert ann(world).status is SubscriberStatus.ACTIVE
    assert not world.schedules.withdrawn


def test_interrupted_resume_without_a_sunset_is_complete_after_a_repetition() -> None:
    def make() -> World:
        world = dormant()
        allow(world, None)
        return world

    for world, where in crashes(make, show_life):
        show_life(world)
        assert ann(world).status is SubscriberStatus.ACTIVE, where
        assert not world.schedules.withdrawn, where


def test_interrupted_resume_is_complete_after_a_repetition() -> None:
    for world, where in crashes(dormant, show_life):
        show_life(world)
        assert ann(world).status is SubscriberStatus.ACTIVE, where
        assert not world.schedules.withdrawn, where
        world.send_digest()
        assert len(world.emails()) == 1, where


def and_again(act: Callable[[World], object]) -> Callable[[World], object]:
    """As often as the message is delivered again."""

    def until_done(world: World) -> None:
        for _ in range(3):
            try:
                act(world)
            except NotYet:
                continue
            return

    return until_done


def test_reader_resuming_while_becoming_dormant_ends_active() -> None:
    for act, other in ((fan_out, show_life), (show_life, fan_out)):
        for world, where in interleavings(registered, and_again(act), and_again(other)):
            world.clock.pass_time(minutes=10)
            for minutes in (10, 20):
                world.fan_out(slot_of(NOW))
                world.clock.pass_time(minutes=minutes)
            assert ann(world).status is SubscriberStatus.ACTIVE, where
            assert not world.schedules.withdrawn, where
            assert daily(world).next_due_at > world.clock.now, where


def test_reader_unsubscribing_while_resuming_is_never_due() -> None:
    def change(world: World) -> None:
        world.say(ChangeSubscriber(a_subscriber(changed_at=NOW, email="ann@example.com")))

    for act, other in ((show_life, World.unsubscribe), (World.unsubscribe, show_life)):
        for world, where in interleavings(dormant, act, other):
            assert ann(world).status is SubscriberStatus.UNSUBSCRIBED, where
            assert not world.schedules.listed, where
    for world, where in interleavings(dormant, show_life, change):
        assert ann(world).status is SubscriberStatus.ACTIVE, where
        assert not world.schedules.withdrawn, where


# The due index, which has only those for whom something waits.


def quiet(world: World) -> World:
    """Ann by the date dormant, though nobody has looked: her weekly digest is due in this slot."""
    world.events.rows.clear()
    world.schedules.rows["ann", DAILY] = daily(world).idle()
    weekly = world.schedules.rows["ann", "weekly"]
    world.schedules.rows["ann", "weekly"] = replace(weekly, next_due_at=slot_of(NOW))
    return world


def create(world: World) -> None:
    """An event comes for Ann."""
    world.create(an_event("e2"))


def fan_out_weekly(world: World) -> None:
    """Of the slot in which her weekly digest is due."""
    world.fan_out(slot_of(NOW))


def nested(
    make: Callable[[], World], acts: Sequence[Callable[[World], object]]
) -> Iterator[tuple[World, str]]:
    """For each call of the first, and each call of the second meanwhile: the third before that."""
    first, second, third = acts
    for outer in count():
        for inner in count():
            world, where = make(), list[str]()
            meanwhile = partial(interrupted, act=second, number=inner, other=third, where=where)
            interrupted(world, act=first, number=outer, other=meanwhile, where=where)
            if not where:
                return
            if len(where) == 1:
                break
            yield world, f"calls {outer} and {inner}, before {where}"


def interrupted(
    world: World,
    *,
    act: Callable[[World], object],
    number: int,
    other: Callable[[World], object],
    where: list[str],
) -> None:
    """Let `other` happen before that call of a port in `act`, and note in `where` which it is."""
    calls = count()

    def around(name: str, call: Callable[[], object]) -> object:
        if next(calls) == number:
            where.append(name)
            other(world)
        return call()

    act(world.seen_through(around))


@pytest.mark.parametrize(
    "acts", list(permutations(and_again(act) for act in (show_life, fan_out_weekly, create)))
)
def test_trace_ai_event_during_dormancy_and_resume_is_in_the_next_digest(
    acts: Sequence[Callable[[World], object]],
) -> None:
    """Her schedules are withdrawn, come back, and are armed by an event, at the same time."""
    wheres = []
    for world, where in nested(lambda: quiet(registered()), acts):
        wheres.append(where)
        assert ann(world).status is SubscriberStatus.ACTIVE, where
        assert not world.schedules.withdrawn, where
        assert daily(world).listed, where
        world.send_everything()
        assert [email.lines for email in world.emails()] == [("post1: 1",)], where
    assert len(wheres) > 20


def test_trace_ai_returning_reader_is_armed_without_checking_for_events() -> None:
    """An event may have come, and its worker read that she is dormant, before she was back."""
    world = quiet(registered())
    fan_out_weekly(world)
    assert not world.schedules.listed
    with world.calls() as calls:
        show_life(world)
    assert world.schedules.rows["ann", "weekly"].state is ScheduleState.ARMED
    assert daily(world).is_idle, "an event finds it, whatever its worker read of her"
    assert not {call for call in calls if call.startswith("events.")}


def test_trace_aj_event_for_an_inactive_reader_waits_for_the_digest() -> None:
    """Nobody visits a quiet reader any more, so nobody has stored that she is dormant."""
    world = World(sunset=SUNSET)
    world.clock.now = NOW - timedelta(days=300)
    world.choose(comment=Frequency.IMMEDIATE)
    world.clock.now = NOW
    world.create(an_event("mention", occurred_at=NOW))
    assert ann(world).status is SubscriberStatus.ACTIVE
    assert world.waiting() == {"mention": DAILY}
    assert world.generate_queue.sent == []


def test_trace_aj_only_events_after_new_activity_are_sent_immediately() -> None:
    world = World(sunset=SUNSET)
    world.clock.now = NOW - timedelta(days=300)
    world.choose(comment=Frequency.IMMEDIATE)
    world.clock.now = NOW
    world.create(an_event("mention", occurred_at=NOW))
    world.clock.pass_time(minutes=5)
    show_life(world)
    world.clock.pass_time(minutes=5)
    world.create(an_event("next", entity_id="post2", occurred_at=world.clock()))
    world.choose(comment=Frequency.IMMEDIATE, like=Frequency.DAILY)
    assert world.waiting()["mention"] == DAILY
    assert world.waiting()["next"].startswith("now")
    world.send_everything()
    assert [email.lines for email in world.emails()] == [("post2: 1",), ("post1: 1",)]
