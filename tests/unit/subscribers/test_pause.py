"""A reader pauses: no digest is scheduled, nothing is sent, and all events wait for the end."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from gazette.domain.commands import ChangeSubscriber
from gazette.domain.delivery.run import Reason, Status
from gazette.domain.model import DAILY, Schedule
from gazette.domain.outcome import Outcome
from gazette.domain.scheduling.calendar import SLOT, DigestTimes, slot_of
from gazette.domain.scheduling.kinds import immediate_schedule
from gazette.domain.subscribers.frequency import Frequency

from tests.builders import NOW, SettableClock, a_subscriber, an_event
from tests.world import World, crashes, interleavings

IMMEDIATE, WEEKLY = Frequency.IMMEDIATE, Frequency.WEEKLY
DAY = timedelta(days=1)
A_MINUTE = timedelta(minutes=1)
END = date(2026, 12, 9)
"""A Wednesday. It is Sunday, 22 November, 08:03 in Berlin."""

BACK = datetime(2026, 12, 9, 7, 0, tzinfo=UTC)
"""The first digest after it."""

NOW_POST1 = immediate_schedule("post#post1")


@pytest.fixture
def world(clock: SettableClock) -> World:
    return World(clock)


def change(
    world: World,
    until: date | None = None,
    *,
    at: datetime | None = None,
    hour: int = 8,
    zone: str = "Europe/Berlin",
    **chosen: Frequency,
) -> Outcome:
    """`subscriber.changed`, with a pause or without one."""
    times = DigestTimes(hour=hour, minute=0, paused_until=until)
    subscriber = a_subscriber(changed_at=at or world.clock(), times=times, **chosen)
    return world.say(ChangeSubscriber(replace(subscriber, time_zone=zone)))[0]


def daily(world: World) -> Schedule:
    """Ann's daily schedule."""
    return world.schedules.rows["ann", DAILY]


def a_reader(**chosen: Frequency) -> Callable[[], World]:
    """Makes worlds in which Ann registered a day ago."""

    def make() -> World:
        world = World()
        change(world, at=NOW - DAY, **chosen)  # type: ignore[arg-type] # no category is called so
        return world

    return make


def pause(world: World) -> Outcome:
    """Ann, who wants comments at once, pauses now."""
    return change(world, END, comment=IMMEDIATE)


def let_days_pass(world: World, end: datetime) -> None:
    """Every slot up to `end` is fanned out when it has come, and what is queued is sent."""
    slot = slot_of(world.clock())
    while slot < end:
        world.clock.now = max(world.clock(), slot + timedelta(seconds=30))
        world.fan_out(slot)
        world.deliver_queued()
        slot += SLOT


# Digests.


def test_pause_schedules_no_digest_and_waiting_events_share_an_email(world: World) -> None:
    change(world, END)
    for number in range(3):
        world.clock.pass_time(days=1)
        world.create(an_event(f"e{number}", occurred_at=world.clock()))
    before = len(world.runs.rows)
    let_days_pass(world, BACK)
    assert len(world.runs.rows) == before
    assert not world.emails()
    let_days_pass(world, BACK + SLOT)
    assert [email.lines for email in world.emails()] == [("post1: 3",)]


def test_every_digest_resumes_on_its_first_day_after_the_pause(world: World) -> None:
    change(world, like=WEEKLY, comment=Frequency.CUSTOM)
    world.arm()
    change(world, END, at=NOW + A_MINUTE, like=WEEKLY, comment=Frequency.CUSTOM)
    due = {name: schedule.next_due_at for (_, name), schedule in world.schedules.rows.items()}
    assert due == {"daily": BACK, "weekly": BACK + 5 * DAY, "custom": BACK}
    assert not world.schedules.withdrawn


def test_pause_skips_the_next_occurrence_without_a_digest(
    world: World,
) -> None:
    """Unlike with a change of the hour alone."""
    change(world, hour=20)
    world.arm()
    change(world, END, at=NOW + A_MINUTE, hour=7)
    assert daily(world).next_due_at == BACK - timedelta(hours=1)
    spent = world.runs.rows[next(iter(world.runs.rows))]
    assert (spent.status, spent.reason) == (Status.SKIPPED, Reason.SUPERSEDED)


def test_lifting_a_pause_early_restores_the_next_hour(world: World) -> None:
    change(world, END)
    world.create(an_event())
    world.clock.pass_time(days=3)
    change(world)
    assert daily(world).next_due_at == datetime(2026, 11, 26, 7, 0, tzinfo=UTC)
    world.send_digest()
    assert [email.lines for email in world.emails()] == [("post1: 1",)]


def test_lifting_a_pause_sends_no_second_digest_on_the_same_day(
    world: World,
) -> None:
    change(world, at=NOW - DAY, hour=9)
    world.create(an_event())
    world.send_digest()
    change(world, END, hour=9)
    world.clock.pass_time(minutes=5)
    change(world, hour=20)
    assert daily(world).next_due_at == datetime(2026, 11, 23, 19, 0, tzinfo=UTC)


@pytest.mark.parametrize("until", [date(2026, 11, 1), date(2026, 11, 22)])
def test_pause_until_a_past_date_has_no_effect(world: World, until: date) -> None:
    change(world, hour=20)
    before = daily(world)
    change(world, until, at=NOW + A_MINUTE, hour=20)
    assert (daily(world).next_due_at, daily(world).sequence) == (before.next_due_at, 1)
    assert not world.runs.rows


def test_elapsed_pause_needs_no_message(world: World) -> None:
    """The profile that is put next may still name it."""
    change(world, END)
    world.create(an_event())
    world.clock.now = BACK + timedelta(minutes=20)
    world.fan_out(BACK)
    assert daily(world).next_due_at == BACK + DAY
    before = daily(world)
    change(world, END)
    assert daily(world) == replace(before, changed_at=world.clock())


def test_schedule_created_for_a_follow_during_a_pause_is_paused(world: World) -> None:
    change(world, END, at=NOW - DAY)
    world.follow(at=NOW - DAY, often=WEEKLY)
    world.create(an_event(via=("post#post1",)))
    assert world.schedules.rows["ann", "weekly"].next_due_at == BACK + 5 * DAY


def test_concurrent_fan_out_does_not_resume_a_paused_schedule() -> None:
    """What it has started goes out, and nothing after it."""

    def make() -> World:
        world = a_reader()()
        world.create(an_event())
        return world

    def fan_out(world: World) -> None:
        world.fan_out(datetime(2026, 11, 22, 7, 0, tzinfo=UTC))

    def start_pause(world: World) -> None:
        change(world, END)

    for act, other in ((fan_out, start_pause), (start_pause, fan_out)):
        for world, where in interleavings(make, act, other):
            assert daily(world).next_due_at == BACK, where
            world.deliver_queued()
            early = len(world.emails())
            world.send_digest()
            assert len(world.emails()) == 1, (where, early)


# At once.


@pytest.mark.parametrize(
    ("occurred_at", "zone", "schedule"),
    [
        ("2026-11-22T22:59:59", "Europe/Berlin", DAILY),
        ("2026-11-22T23:00:00", "Europe/Berlin", NOW_POST1),
        ("2026-11-23T09:59:59", "Pacific/Honolulu", DAILY),
        ("2026-11-23T10:00:00", "Pacific/Honolulu", NOW_POST1),
        ("2026-11-22T09:59:59", "Pacific/Kiritimati", DAILY),
        ("2026-11-22T10:00:00", "Pacific/Kiritimati", NOW_POST1),
    ],
)
def test_event_before_the_end_of_a_pause_is_not_sent_immediately(
    world: World, occurred_at: str, zone: str, schedule: str
) -> None:
    change(world, date(2026, 11, 23), zone=zone, comment=IMMEDIATE)
    world.create(an_event(occurred_at=datetime.fromisoformat(occurred_at).replace(tzinfo=UTC)))
    assert world.waiting() == {"e1": schedule}


def test_event_from_the_pause_received_later_goes_to_the_daily_digest(world: World) -> None:
    pause(world)
    world.clock.now = BACK + 2 * DAY
    world.create(an_event("late", occurred_at=NOW), an_event("new", occurred_at=world.clock()))
    assert world.waiting() == {"late": DAILY, "new": NOW_POST1}


def test_immediate_events_of_a_follow_wait_during_a_pause(world: World) -> None:
    change(world, END, at=NOW - DAY)
    world.follow(at=NOW - DAY, often=IMMEDIATE)
    world.create(an_event(via=("post#post1",)))
    assert world.waiting() == {"e1": DAILY}


@pytest.mark.parametrize(
    ("often", "waiting"),
    [(WEEKLY, {"e1": "weekly"}), (Frequency.NEVER, {}), (Frequency.CUSTOM, {"e1": "custom"})],
)
def test_pause_affects_only_immediate_events(
    world: World, often: Frequency, waiting: dict[str, str]
) -> None:
    change(world, END, comment=often)
    world.create(an_event())
    assert world.waiting() == waiting


def test_event_received_before_a_paused_profile_waits_for_the_digest(world: World) -> None:
    world.create(an_event())
    pause(world)
    assert world.waiting() == {"e1": DAILY}


def test_pause_moves_a_collecting_immediate_event_to_the_digest(world: World) -> None:
    change(world, at=NOW - DAY, comment=IMMEDIATE)
    world.create(an_event(occurred_at=NOW))
    world.clock.pass_time(seconds=5)
    pause(world)
    world.deliver_queued()
    assert not world.emails()
    world.send_everything()
    assert [(email.schedule, email.lines) for email in world.emails()] == [(DAILY, ("post1: 1",))]


def test_lifting_a_pause_sends_the_waiting_immediate_events(world: World) -> None:
    pause(world)
    world.create(an_event())
    world.clock.pass_time(minutes=5)
    change(world, comment=IMMEDIATE)
    assert world.waiting() == {"e1": NOW_POST1}
    world.send_everything()
    assert [email.schedule for email in world.emails()] == [NOW_POST1]


def test_waiting_events_are_read_only_if_the_pause_changes(
    world: World,
) -> None:
    def looks(until: date | None, zone: str = "Europe/Berlin") -> bool:
        world.clock.pass_time(seconds=1)
        with world.calls() as calls:
            change(world, until, zone=zone)
        return "events.stored_under" in calls

    change(world)
    assert not looks(None)
    assert not looks(None, "Asia/Tokyo")
    assert looks(END)
    assert not looks(END)
    assert looks(END, "Asia/Tokyo")
    assert looks(END + DAY, "Asia/Tokyo")
    assert looks(None)


@pytest.mark.parametrize("at", [NOW, NOW - DAY], ids=["later", "of the same instant"])
def test_event_concurrent_with_a_pause_is_in_the_digest(at: datetime) -> None:
    """Also where the profile without it has the same `changed_at`, and so the same choices."""

    def create(world: World) -> None:
        world.create(an_event())

    def start_pause(world: World) -> None:
        change(world, END, at=at, comment=IMMEDIATE)

    for act, other in ((create, start_pause), (start_pause, create)):
        for world, where in interleavings(a_reader(comment=IMMEDIATE), act, other):
            world.send_everything()
            assert world.waiting() == {"e1": DAILY}, where
            assert [email.schedule for email in world.emails()] == [DAILY], where


def test_interrupted_pause_is_complete_after_redelivery() -> None:
    def make() -> World:
        world = a_reader(comment=IMMEDIATE)()
        world.create(an_event())
        return world

    for world, where in crashes(make, pause):
        pause(world)
        world.deliver_queued()
        assert not world.emails(), where
        assert world.waiting() == {"e1": DAILY}, where
        assert daily(world).next_due_at == BACK, where
