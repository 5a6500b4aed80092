"""The lifetime of events: it outlasts delays of a digest, and expired events are counted."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import partial

import pytest
from gazette.domain.commands import ChangeSubscriber, CreateActivity
from gazette.domain.delivery.pace import PacePlan
from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.feedback.reputation import category_hold
from gazette.domain.model import DAILY, RunKey, StoredEvent, Window
from gazette.domain.scheduling.calendar import (
    LONGEST_PAUSE,
    Days,
    DigestTimes,
    Recurrence,
    next_occurrence,
    slot_of,
)
from gazette.domain.scheduling.kinds import Unsent
from gazette.domain.scheduling.lifetime import (
    MARGIN,
    SHORTEST_LIFE,
    kept_until,
    lasts_until,
    longest_kept,
    longest_life,
    needed_until,
)
from gazette.domain.stored import readable
from gazette.domain.subscribers.frequency import Frequency
from gazette.steps.delivery.types import Delivery, WaitingFor
from gazette.steps.routing.together import FEW
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import NOW, RETENTION, SettableClock, a_subscriber, an_activity, an_event
from tests.explained import explained
from tests.fake_stores import FakeRateLimiter
from tests.world import SETTLE_LAG, World, crashes, interleavings

DAY = timedelta(days=1)
MONTHLY = Days(month_day=30)
LATER = datetime(2026, 12, 28, 7, 0, tzinfo=UTC)
"""The first digest that finds an event of NOW expired."""

DAILY_8, WEEKLY_8 = Recurrence(8, 0, "Europe/Berlin"), Recurrence(8, 0, "UTC", Days(frozenset({3})))


# The formula.

frequencies = st.builds(
    Recurrence,
    st.integers(0, 23),
    st.integers(0, 59),
    st.sampled_from(
        ["UTC", "Europe/Berlin", "America/Nuuk", "Pacific/Kiritimati", "Australia/Lord_Howe"]
    ),
    st.one_of(
        st.builds(
            Days,
            st.frozensets(st.integers(1, 7), min_size=1),
            every=st.just(1),
        ),
        st.integers(2, 4).flatmap(
            lambda every: st.builds(
                Days,
                st.frozensets(st.integers(1, 7), min_size=1),
                every=st.just(every),
                phase=st.integers(0, every - 1),
            )
        ),
        st.builds(Days, month_day=st.integers(1, 31)),
    ),
)
instants = st.datetimes(
    datetime(2026, 1, 1),  # noqa: DTZ001 # naive, as Hypothesis wants its bounds
    datetime(2031, 1, 1),  # noqa: DTZ001
    timezones=st.just(UTC),
)


@given(frequencies, instants, st.none() | st.integers(-30, LONGEST_PAUSE.days))
def test_event_outlives_the_occurrence_after_the_next(
    wanted: Recurrence, now: datetime, pause: int | None
) -> None:
    if pause is not None:
        wanted = replace(wanted, paused_until=now.date() + pause * DAY)
    end = lasts_until(wanted, now, least=SHORTEST_LIFE)
    second = next_occurrence(wanted, after=next_occurrence(wanted, after=now))
    assert end >= second + MARGIN
    assert end >= now + SHORTEST_LIFE
    assert end - now <= longest_life(SHORTEST_LIFE)
    for schedule in (DAILY, "weekly", "custom"):
        assert kept_until(end, schedule) - now <= longest_kept(SHORTEST_LIFE)


@pytest.mark.parametrize("wanted", [DAILY_8, WEEKLY_8, replace(DAILY_8, paused_until=NOW.date())])
def test_weekly_or_more_frequent_digests_use_minimum_lifetime(wanted: Recurrence) -> None:
    assert needed_until(wanted, NOW) is None
    assert needed_until(None, NOW) is None
    assert lasts_until(wanted, NOW, least=SHORTEST_LIFE) == NOW + SHORTEST_LIFE
    assert lasts_until(None, NOW, least=90 * DAY) == NOW + 90 * DAY


@pytest.mark.parametrize(
    ("wanted", "end"),
    [
        (replace(DAILY_8, days=MONTHLY), datetime(2026, 12, 30, 7, 0, tzinfo=UTC)),
        (
            replace(DAILY_8, days=MONTHLY, paused_until=date(2027, 2, 14)),
            datetime(2027, 3, 30, 6, 0, tzinfo=UTC),
        ),
        (
            replace(DAILY_8, paused_until=date(2027, 2, 14)),
            datetime(2027, 2, 15, 7, 0, tzinfo=UTC),
        ),
    ],
)
def test_infrequent_or_paused_digests_extend_lifetime_by_two_weeks(
    wanted: Recurrence, end: datetime
) -> None:
    assert lasts_until(wanted, NOW, least=SHORTEST_LIFE) == end + MARGIN


# Digests beyond the cap of the day.


@pytest.fixture
def world(clock: SettableClock) -> World:
    return World(clock)


def choose(
    world: World,
    often: Frequency = Frequency.CUSTOM,
    *,
    days: Days = MONTHLY,
    paused_until: date | None = None,
) -> None:
    """Ann wants comments this often, on the 30th of each month."""
    times = DigestTimes(minute=0, custom_on=days, paused_until=paused_until)
    subscriber = a_subscriber(changed_at=world.clock(), times=times, comment=often)
    world.say(ChangeSubscriber(subscriber))


def come_due(world: World, name: str) -> RunKey:
    """Let a digest come due and be fanned out; its message is left where it is."""
    schedule = world.schedules.rows["ann", name]
    world.clock.now = max(world.clock(), schedule.next_due_at) + 2 * SETTLE_LAG
    world.fan_out(slot_of(schedule.next_due_at))
    return RunKey("ann", name, schedule.sequence)


def use_up_the_day(world: World) -> None:
    """The cap of the new domain is a single email a day; somebody else has it."""
    plan = PacePlan(rate=500, warmup_from=world.clock().date(), warmup_daily=1)
    world.rate_limiter = FakeRateLimiter(plan, world.rate_limiter.row)
    world.rate_limiter.reserve(world.clock(), world.clock() + timedelta(minutes=1))


@pytest.mark.parametrize("often", [Frequency.CUSTOM, Frequency.WEEKLY])
def test_trace_v_infrequent_digest_over_daily_cap_is_sent_next_day(
    world: World, often: Frequency
) -> None:
    world.max_lateness = timedelta(hours=6)
    choose(world, often)
    world.create(an_event())
    key = come_due(world, often.value)
    use_up_the_day(world)
    due_on = world.clock().date()
    while world.clock().date() == due_on:
        assert world.deliver_queued()
        assert len(world.generate_queue.sent) <= 1, "it waits by a message of its own"
    world.deliver_queued()
    (email,) = world.emails()
    assert (email.schedule, email.lines) == (often.value, ("post1: 1",))
    assert world.runs.rows[key].status is Status.SENT
    assert world.clock() - world.runs.rows[key].due_at < DAY


def test_digest_waiting_for_next_day_is_superseded_by_next_digest(
    world: World,
) -> None:
    choose(world, Frequency.WEEKLY)
    world.create(an_event())
    key = come_due(world, "weekly")
    use_up_the_day(world)
    done = world.deliver(key)
    assert done
    assert (done.run.status, done.waiting_for) == (Status.PENDING, WaitingFor.NEXT_DAY)
    world.generate_queue.sent.clear()
    come_due(world, "weekly")
    world.deliver_queued()
    assert world.runs.rows[key].reason is Reason.SUPERSEDED
    assert [email.lines for email in world.emails()] == [("post1: 1",)]


def test_daily_digest_over_cap_joins_next_digest(world: World) -> None:
    choose(world, Frequency.DAILY)
    world.create(an_event())
    key = come_due(world, DAILY)
    use_up_the_day(world)
    world.deliver_queued()
    run = world.runs.rows[key]
    assert (run.status, run.reason) == (Status.SKIPPED, Reason.DAILY_CAP)
    assert not world.generate_queue.sent


# Events that expire.


def expired_world(*, also: bool = False) -> World:
    """Everything was on hold until an event expired; another came later where `also` says so."""
    world = World()
    choose(world, Frequency.DAILY)
    world.create(an_event())
    world.clock.pass_time(days=20)
    if also:
        world.create(an_event("e2", entity_id="post2", occurred_at=world.clock()))
    world.clock.now = NOW + RETENTION
    schedule = world.schedules.rows["ann", DAILY]
    world.schedules.rows["ann", DAILY] = replace(schedule, next_due_at=LATER)
    return world


def delivered(world: World, name: str = DAILY) -> Delivery:
    key = come_due(world, name)
    world.generate_queue.sent.clear()
    done = world.deliver(key)
    assert done
    return done


def test_trace_v_expired_unsent_event_is_counted_once_as_reason() -> None:
    world = expired_world()
    done = delivered(world)
    assert (done.run.status, done.run.reason) == (Status.SKIPPED, Reason.EXPIRED)
    assert done.unsent.expired == 1
    come_due(world, DAILY)
    assert [run.reason for run in readable(world.runs.of_user("ann"))][-1] is Reason.NOTHING_WAITED
    assert not world.emails()


def test_expired_event_is_counted_if_other_events_are_sent() -> None:
    world = expired_world(also=True)
    done = delivered(world)
    assert (done.run.status, done.unsent.expired) == (Status.SENT, 1)
    assert [email.lines for email in world.emails()] == [("post2: 1",)]
    world.create(an_event("e3", occurred_at=world.clock()))
    assert delivered(world).unsent.expired == 0


@pytest.mark.parametrize("held", ["by the hold of its category", "by the cap of the day"])
def test_expired_event_is_counted_if_no_email_is_sent(held: str) -> None:
    """Else its row would be deleted before anything is."""
    world = expired_world(also=True)
    key = come_due(world, DAILY)
    if held == "by the cap of the day":
        use_up_the_day(world)
    else:
        world.category_holds.add(category_hold("comment", "why", world.clock()))
    done = world.deliver(key)
    assert done
    assert done.run.status is Status.SKIPPED
    assert done.run.reason in {Reason.DAILY_CAP, Reason.CATEGORY_HELD}
    assert done.unsent.expired == 1


def test_expired_event_is_counted_once_if_claim_fails() -> None:
    world = expired_world(also=True)
    key = come_due(world, DAILY)

    def overtake() -> None:
        world.runs.rows[key] = replace(world.runs.rows[key], epoch=1)

    with world.meanwhile("rate_limiter.reserve", overtake):
        done = world.deliver(key)
    assert done
    assert (done.run.status, done.unsent.expired) == (Status.SENT, 1)


def test_crash_keeps_expired_reason_and_other_events() -> None:

    def send(world: World) -> None:
        world.send_digest()

    for world, where in crashes(expired_world, send):
        world.fan_out(LATER)
        world.deliver_queued()
        world.send_digest()
        assert Reason.EXPIRED in {run.reason for run in readable(world.runs.of_user("ann"))}, where
        assert [stored.schedule for stored in readable(world.events.of_user("ann"))] == [
            Unsent.EXPIRED
        ], where
    for world, where in crashes(partial(expired_world, also=True), send):
        world.fan_out(LATER)
        world.deliver_queued()
        assert world.waiting() == {"e1": Unsent.EXPIRED, "e2": DAILY}, where


@pytest.mark.parametrize("also", [False, True])
def test_event_extended_before_counting_is_sent(also: bool) -> None:
    """Also where the digest has something else to show: its window would close over the event."""
    world = expired_world(also=also)
    found = world.events.rows["ann", "e1"]
    assert isinstance(found, StoredEvent)
    key = come_due(world, DAILY)

    def extend() -> None:
        world.events.extend(found, world.clock() + 30 * DAY)

    with world.meanwhile("deferred_events.expire", extend, before=True):
        done = world.deliver(key)
    assert done
    assert done.unsent.expired == 0
    world.send_digest()
    lines = [line for email in world.emails() for line in email.lines]
    assert sorted(lines) == ["post1: 1", "post2: 1"][: 1 + also]


@pytest.mark.parametrize("counted", [False, True])
def test_expired_event_is_explained_and_stops_waiting(counted: bool) -> None:
    world = expired_world(also=True)
    if counted:
        delivered(world)
    found = explained(world)
    assert [(each.category, each.count) for each in found.expired] == [("comment", 1)]
    assert [each.count for each in found.waiting] == [1] * (not counted)


# A pause, or other days, that come later.


def pause(world: World) -> None:
    choose(world, Frequency.DAILY, paused_until=(world.clock() + LONGEST_PAUSE).date())


def rarer(world: World) -> None:
    choose(world, days=Days(frozenset({1}), every=4, phase=0))


@pytest.mark.parametrize("often", [Frequency.DAILY, Frequency.WEEKLY, Frequency.CUSTOM])
def test_trace_v_later_pause_does_not_lose_waiting_events(world: World, often: Frequency) -> None:
    """Twelve weeks, ten days after the event."""
    choose(world, often)
    world.clock.now = NOW
    world.create(an_event())
    world.category_holds.add(category_hold("comment", "why", NOW))
    world.clock.pass_time(days=10)
    back = (world.clock() + LONGEST_PAUSE).date()
    choose(world, often, paused_until=back)
    world.category_holds.release("comment")
    world.send_digest(often.value)
    assert world.clock().date() >= back
    assert [email.lines for email in world.emails()] == [("post1: 1",)]


def test_pause_extends_events_that_may_have_been_sent(world: World) -> None:
    """It may turn out that it has not, and then it goes with the digest after the pause."""
    choose(world, Frequency.DAILY)
    world.create(an_event())
    run = Run(RunKey("ann", DAILY, 1), NOW, NOW, status=Status.UNKNOWN)
    world.runs.rows[run.key] = replace(run, uncertain=frozenset({1}), window=Window(NOW - DAY, NOW))
    pause(world)
    stored = world.events.get("ann", "e1")
    assert isinstance(stored, StoredEvent)
    assert stored.stored_at == NOW
    assert stored.lasts_until > NOW + LONGEST_PAUSE


@pytest.mark.parametrize(
    ("before", "change"),
    [
        (Days(frozenset({1, 2, 3, 4, 5})), rarer),
        (Days(frozenset({1, 2, 3, 4, 5})), choose),
    ],
)
def test_less_frequent_days_extend_waiting_events(
    world: World, before: Days, change: Callable[[World], None]
) -> None:
    choose(world, days=before)
    world.create(an_event())
    world.clock.pass_time(days=1)
    change(world)
    stored = world.events.get("ann", "e1")
    assert isinstance(stored, StoredEvent)
    wanted = world.schedules.rows["ann", "custom"].recurrence
    assert stored.lasts_until == needed_until(wanted, world.clock())


def test_move_to_less_frequent_digest_extends_events(world: World) -> None:
    world.create(an_event())
    world.clock.pass_time(days=1)
    choose(world)
    stored = world.events.get("ann", "e1")
    assert isinstance(stored, StoredEvent)
    assert stored.schedule == "custom"
    assert stored.lasts_until == datetime(2026, 12, 30, 7, 0, tzinfo=UTC) + MARGIN


def test_events_are_not_rewritten_if_lifetime_suffices(world: World) -> None:
    choose(world, Frequency.DAILY)
    world.create(an_event())
    pause(world)
    before = world.events.rows["ann", "e1"]
    with world.calls() as calls:
        choose(world, Frequency.DAILY)
    assert "events.extend" not in calls
    assert world.events.rows["ann", "e1"] == before


# A pause, or other days, while an event arrives.


def _plain(world: World) -> None:
    world.create(an_event())


def _of_happening(world: World) -> None:
    world.create(replace(an_event("c1", category="comment"), own_id="e1"))


def _late_follow(world: World) -> None:
    world.follow(at=NOW - DAY)


def _with_activities() -> World:
    """More activities than are routed one by one wait for a follow."""
    world = World()
    choose(world, Frequency.DAILY)
    for number in range(FEW + 1):
        world.say(CreateActivity(an_activity(f"a{number}")))
    return world


def _chosen(often: Frequency, days: Days) -> Callable[[], World]:
    def make() -> World:
        world = World()
        choose(world, often, days=days)
        return world

    return make


@pytest.mark.parametrize(
    ("make", "arrives", "change", "name"),
    [
        (_chosen(Frequency.DAILY, MONTHLY), _plain, pause, "daily"),
        (_chosen(Frequency.DAILY, MONTHLY), _of_happening, pause, "daily"),
        (_with_activities, _late_follow, pause, "daily"),
        (_chosen(Frequency.CUSTOM, Days(frozenset({1}))), _plain, rarer, "custom"),
        (_chosen(Frequency.CUSTOM, Days(frozenset({1}))), _of_happening, rarer, "custom"),
    ],
)
def test_event_that_arrives_during_a_change_lasts_until_its_digest(
    make: Callable[[], World],
    arrives: Callable[[World], None],
    change: Callable[[World], None],
    name: str,
) -> None:
    """The change makes the next digest later. Either of the two sees the other one."""
    for act, other in ((arrives, change), (change, arrives)):
        for world, where in interleavings(make, act, other):
            wanted = world.schedules.rows["ann", name].recurrence
            until = needed_until(wanted, world.clock())
            assert until, where
            rows = world.events.rows.values()
            lives = [row.lasts_until for row in rows if isinstance(row, StoredEvent)]
            assert min(lives) >= until, where


def test_repetition_of_a_sent_event_does_not_outlive_its_run() -> None:
    """A run records which events were sent, and is kept for a few days longer than any event."""
    world = World()
    choose(world)
    world.create(an_event())
    world.send_digest("custom")
    world.clock.pass_time(days=40)
    choose(world, paused_until=(world.clock() + LONGEST_PAUSE).date())
    world.create(an_event())
    (stored,) = (row for row in world.events.rows.values() if isinstance(row, StoredEvent))
    assert stored.lasts_until <= stored.stored_at + longest_life(timedelta(0))
