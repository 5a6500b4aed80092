"""No immediate email is sent in quiet hours; all of its events are in one email afterwards."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from heapq import heapify, heappop, heappush
from random import Random

import pytest
from gazette.domain.commands import ChangeSubscriber, ChoosePreferences
from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.delivery.signals import Policy, RefusedForNow, SendOutcome, Uncertain
from gazette.domain.errors import NotYet, Unavailable
from gazette.domain.links import NEW_LINK
from gazette.domain.model import Event, Mail, StoredEvent
from gazette.domain.scheduling.calendar import zone_of
from gazette.domain.scheduling.kinds import immediate_schedule
from gazette.domain.scheduling.quiet import JITTER, NO_QUIET_HOURS, QuietHours
from gazette.domain.subscribers.choices import Choice
from gazette.domain.subscribers.frequency import Frequency
from gazette.steps.delivery.types import WaitingFor
from gazette.steps.support.dead_letters import Redrive, forecast
from gazette.steps.support.reasons import words_for
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.builders import NOW, a_subscriber, an_event
from tests.days import Days, Faults
from tests.explained import explained
from tests.fakes import FakeMailer
from tests.world import HOLD, World, crashes, events_in, interleavings

POST1 = immediate_schedule("post#post1")
DAY, HOUR, MINUTE = timedelta(days=1), timedelta(hours=1), timedelta(minutes=1)
HOURS = QuietHours.of("09:00-12:00")
"""In Berlin, where it is 08:03 at NOW."""

BEGIN, END = (datetime(2026, 11, 22, hour, tzinfo=UTC) for hour in (8, 11))
ON_TIME = HOLD + MINUTE
"""The longest time from the end of collecting until the email is sent."""


def a_world(hours: QuietHours | None = HOURS, **given: object) -> World:
    """Ann wants comments at once, and her stage has quiet hours."""
    world = World(quiet_hours=hours, **given)  # type: ignore[arg-type]
    world.choose(at=NOW - DAY, comment=Frequency.IMMEDIATE, **{NEW_LINK: Frequency.IMMEDIATE})
    return world


def post(world: World, name: str, **fields: object) -> Event:
    """Something happens on post1 now."""
    event = an_event(name, occurred_at=world.clock(), **fields)  # type: ignore[arg-type]
    world.create(event)
    return event


def lines(world: World) -> list[int]:
    """How many events each email shows."""
    return [events_in(email.lines) for email in world.emails()]


def held_run(world: World) -> Run:
    (run,) = (run for run in world.runs.rows.values() if run.is_open)
    return run


def at_night(world: World, name: str = "e1") -> Days:
    """Something happens in the quiet hours, and its email is held."""
    days = Days(world)
    days.then(BEGIN + HOUR - NOW, lambda: post(world, name))
    days.until(BEGIN + HOUR + 5 * MINUTE)
    assert lines(world) == []
    return days


# What readers get.


def test_what_happens_in_quiet_hours_is_one_email_for_each_thing() -> None:
    world = a_world()
    days = Days(world)
    for number in range(10):
        after = BEGIN - NOW + (10 * number + 1) * MINUTE
        days.then(after, lambda number=number: post(world, f"e{number}"))  # type: ignore[misc]
    days.then(BEGIN - NOW + 2 * HOUR, lambda: post(world, "other", entity_id="post2"))
    days.until(END)
    assert lines(world) == []
    days.until(END + JITTER + ON_TIME)
    assert sorted(lines(world)) == [1, 10]
    assert all(at >= END for at in days.sent_at)
    assert not any(run.is_open for run in world.runs.rows.values())


def test_emails_before_and_after_quiet_hours_are_sent_at_once() -> None:
    world = a_world()
    days = Days(world)
    days.then(timedelta(0), lambda: post(world, "before"))
    days.then(END - NOW + HOUR, lambda: post(world, "after"))
    days.until(END + 2 * HOUR)
    assert [at - NOW <= MINUTE for at in days.sent_at] == [True, False]
    assert days.sent_at[1] <= END + HOUR + MINUTE


def test_event_just_before_quiet_hours_waits_if_its_email_would_be_sent_in_them() -> None:
    world = a_world()
    days = Days(world)
    days.then(BEGIN - NOW - timedelta(seconds=10), lambda: post(world, "e1"))
    days.until(END + JITTER + ON_TIME)
    assert lines(world) == [1]
    assert days.sent_at[0] >= END


def test_event_just_after_quiet_hours_is_in_the_email_that_was_held() -> None:
    world = a_world()
    days = at_night(world)
    due_at = held_run(world).due_at
    days.then(due_at - NOW - timedelta(seconds=1), lambda: post(world, "e2"))
    days.until(due_at + ON_TIME)
    assert lines(world) == [2]


def test_critical_email_is_not_held() -> None:
    world = a_world(critical=("security",))
    days = Days(world)
    days.then(BEGIN + HOUR - NOW, lambda: post(world, "e1", category="security"))
    days.until(BEGIN + HOUR + 2 * MINUTE)
    assert lines(world) == [1]


def test_link_that_a_reader_asked_for_is_not_held() -> None:
    world = a_world()
    days = Days(world)
    days.then(BEGIN + HOUR - NOW, lambda: post(world, "link", category=NEW_LINK))
    days.until(BEGIN + HOUR + 2 * MINUTE)
    assert lines(world) == [1]


def test_digest_is_not_held() -> None:
    world = a_world(QuietHours.of("07:00-20:00"))
    world.choose(comment=Frequency.DAILY)
    post(world, "e1")
    due = world.schedules.rows["ann", "daily"].next_due_at
    world.clock.now = due + 5 * MINUTE
    world.fan_out(due.replace(minute=due.minute - due.minute % 10))
    days = Days(world)
    days.until(due + 20 * MINUTE)
    assert lines(world) == [1]


def test_event_that_lapses_in_quiet_hours_is_not_sent() -> None:
    world = a_world()
    days = Days(world)
    days.until(BEGIN + HOUR)
    event = an_event("e1", occurred_at=world.clock())
    world.create(replace(event, expires_at=world.clock() + 2 * HOUR))
    days.then(BEGIN + HOUR + MINUTE - NOW, lambda: post(world, "e2"))
    days.until(END + JITTER + ON_TIME)
    assert lines(world) == [1]


# Whose hours count.


@pytest.mark.parametrize("in_an_event", [True, False])
def test_reader_and_service_may_choose_other_hours_or_none(in_an_event: bool) -> None:
    world = a_world()
    if in_an_event:
        profile = replace(
            a_subscriber(changed_at=NOW - HOUR, comment=Frequency.IMMEDIATE),
            quiet_hours=NO_QUIET_HOURS,
        )
        world.say(ChangeSubscriber(profile))
    else:
        choice = Choice(quiet_hours=NO_QUIET_HOURS)
        world.say(ChoosePreferences("ann", choice, NOW - HOUR))
    days = Days(world)
    days.then(BEGIN + HOUR - NOW, lambda: post(world, "e1"))
    days.until(BEGIN + HOUR + 2 * MINUTE)
    assert lines(world) == [1]


def test_later_end_that_was_chosen_in_quiet_hours_counts() -> None:
    world = a_world()
    days = at_night(world)
    choice = Choice(quiet_hours="09:00-13:00")
    world.say(ChoosePreferences("ann", choice, world.clock()))
    days.until(END + HOUR)
    assert lines(world) == []
    days.until(END + HOUR + JITTER + ON_TIME)
    assert lines(world) == [1]


def test_zone_that_changes_in_quiet_hours_counts() -> None:
    """The reader flies west, where the quiet hours end six hours later."""
    world = a_world()
    days = at_night(world)
    world.say(ChoosePreferences("ann", Choice(time_zone="America/New_York"), world.clock()))
    days.until(END + JITTER + ON_TIME)
    assert lines(world) == [1], "the hours have not begun in New York"
    days.then(END + 4 * HOUR - NOW, lambda: post(world, "e2"))
    days.until(END + 6 * HOUR)
    assert lines(world) == [1]
    days.until(END + 6 * HOUR + JITTER + ON_TIME)
    assert lines(world) == [1, 1]


# Emails that were tried before, and other runs of the thread.


def test_refused_email_is_tried_again_after_quiet_hours_with_all_events() -> None:
    world = a_world()
    world.mailer.script += [RefusedForNow(1, "Throttling"), RefusedForNow(2, "Throttling")]
    days = Days(world)
    days.then(BEGIN - NOW - 5 * MINUTE, lambda: post(world, "e1"))
    days.then(BEGIN - NOW + 30 * MINUTE, lambda: post(world, "e2"))
    days.until(END)
    assert lines(world) == []
    assert all(at < BEGIN for at in days.sent_at), "only tries before the quiet hours"
    days.until(END + JITTER + ON_TIME)
    assert lines(world) == [2]
    assert not any(run.is_open for run in world.runs.rows.values())


def test_email_that_may_have_been_sent_is_not_held() -> None:
    """The policy decides about it, and no other email may show its events in the meantime."""
    world = a_world(policy=Policy.RESEND)
    world.mailer.script += [Uncertain(1, "no answer")]
    days = Days(world)
    days.then(BEGIN - NOW - 5 * MINUTE, lambda: post(world, "e1"))
    days.until(BEGIN)
    (run,) = world.runs.rows.values()
    assert run.status is Status.UNKNOWN
    world.runs.rows[run.key] = replace(run, status=Status.RETRYING, reason=Reason.POLICY_RESEND)
    world.clock.now = BEGIN + HOUR
    world.deliver(run.key)
    assert world.runs.rows[run.key].status is Status.SENT


def test_run_of_a_redrive_waits_without_messages() -> None:
    world = a_world()
    days = at_night(world)
    held = held_run(world)
    key = replace(held.key, sequence=held.key.sequence + 1)
    now = world.clock()
    world.runs.create(Run(key, due_at=now, check_at=now + HOUR))
    expected = forecast(key, context=world.dry_run_context())
    assert (expected.redrive, expected.waiting_for) == (Redrive.WAITS, WaitingFor.COLLECTED)
    world.generate(key)
    assert world.generate_queue.sent == []
    days.until(END + JITTER + ON_TIME)
    assert lines(world) == [1]


def test_message_that_comes_again_in_quiet_hours_is_dropped() -> None:
    world = a_world()
    at_night(world)
    run = held_run(world)
    world.generate(run.key)
    assert world.runs.rows[run.key] == run
    assert world.generate_queue.sent == []


def test_quiet_hours_that_begin_while_the_worker_waits_are_respected() -> None:
    world = a_world()
    post(world, "e1")
    (run,) = world.runs.rows.values()
    world.clock.now = BEGIN - timedelta(seconds=1)

    def pass_time(name: str, call: Callable[[], object]) -> object:
        if name == "immediate_rate_limiter.reserve":
            world.clock.now = BEGIN
        return call()

    with world.watched(pass_time):
        world.deliver(run.key)
    assert lines(world) == []
    assert held_run(world).due_at >= END


def test_no_worker_sends_what_another_one_holds() -> None:
    def make() -> World:
        world = a_world()
        post(world, "e1")
        world.clock.now = BEGIN + MINUTE
        return world

    def act(world: World) -> object:
        (key,) = world.runs.rows
        return world.deliver(key)

    def other(world: World) -> object:
        return act(world)

    worlds = list(interleavings(make, act, other))
    for world, where in worlds:
        assert lines(world) == [], where
        days = Days(world)
        days.until(END + JITTER + ON_TIME)
        assert lines(world) == [1], where
    assert len(worlds) > 3


def test_run_that_waits_cannot_be_claimed_as_it_was_read_before() -> None:
    world = a_world()
    post(world, "e1")
    (before,) = world.runs.rows.values()
    world.clock.now = BEGIN + MINUTE
    world.deliver(before.key)
    assert held_run(world).epoch == before.epoch + 1


@pytest.mark.parametrize("was_refused", [False, True])
def test_worker_that_dies_while_it_holds_a_run_loses_no_event(was_refused: bool) -> None:
    def make() -> World:
        world = a_world()
        post(world, "e1")
        (key,) = world.runs.rows
        if was_refused:
            world.clock.now = BEGIN - 2 * MINUTE
            world.mailer.script += [RefusedForNow(1, "Throttling")]
            world.deliver(key)
        world.clock.now = BEGIN + 10 * MINUTE
        return world

    def act(world: World) -> object:
        return world.generate(min(world.runs.rows, key=lambda key: key.sequence))

    worlds = list(crashes(make, act))
    for world, where in worlds:
        days = Days(world)
        days.until(END)
        assert lines(world) == [], where
        days.until(END + 90 * MINUTE)
        assert lines(world) == [1], where
        assert not any(run.is_open for run in world.runs.rows.values())
    assert len(worlds) > 5


# What support sees.


def test_explain_and_forecast_name_the_quiet_hours() -> None:
    world = a_world()
    at_night(world)
    run = held_run(world)
    assert run.reason is Reason.QUIET_HOURS
    assert words_for(run).why.startswith("the reader has quiet hours, so the email waits")
    assert explained(world).quiet_hours == HOURS
    world.runs.rows[run.key] = replace(run, due_at=world.clock() - MINUTE, check_at=world.clock())
    expected = forecast(run.key, context=world.dry_run_context())
    assert (expected.redrive, expected.waiting_for) == (Redrive.WAITS, WaitingFor.QUIET_HOURS)
    assert expected.again_at
    assert expected.again_at >= END


def test_held_email_costs_two_changes_of_its_run_and_one_message_more() -> None:
    """The worker holds it, and the sweep queues it. Its events cost nothing."""
    plain, held = (number_of_calls(a_world(hours)) for hours in (None, HOURS))
    more = {name: number - plain[name] for name, number in held.items()}
    assert {name: number for name, number in more.items() if number} == {
        "runs.swap": 2,
        "generate_queue.send": 1,
        "runs.chain": 1,
        "category_holds.active": 1,
        "events.skim": 1,
        "subscribers.get": 1,
        "immediate_rate_limiter.outlook": 1,  # in the memory of the worker
    }


def number_of_calls(world: World) -> Counter[str]:
    counts = Counter[str]()

    def counted(name: str, call: Callable[[], object]) -> object:
        if name != "runs.overdue":
            counts[name] += 1
        return call()

    days = Days(world, counted)
    world.clock.now = BEGIN + HOUR
    post(world, "e1")
    sweep = world.sweep

    def watched_sweep() -> object:
        with world.watched(counted):
            return sweep()

    world.sweep = watched_sweep  # type: ignore[method-assign, assignment]
    days.until(END + JITTER + ON_TIME)
    assert lines(world) == [1]
    return counts


# Every event is in one email, and none is sent in quiet hours, whatever happens.


@dataclass
class Refusing(FakeMailer):
    """A provider that refuses its first emails."""

    refused: int = 0

    def __init__(self, refused: int) -> None:
        super().__init__()
        self.refused = refused

    def send(self, mail: Mail, attempt: int) -> SendOutcome:
        if self.refused:
            self.script.append(RefusedForNow(attempt, "Throttling"))
            self.refused -= 1
        return super().send(mail, attempt)


@given(
    moments=st.lists(st.integers(0, 6 * 3600), min_size=1, max_size=20).map(sorted),
    seed=st.integers(0, 10_000),
    rate=st.sampled_from([0.0, 0.03, 0.15]),
    hours=st.sampled_from(["09:00-12:00", "08:30-09:10", "09:00-08:00", "10:00-10:05"]),
)
@settings(max_examples=120, deadline=None)
def test_every_event_is_in_one_email_and_none_is_sent_in_quiet_hours(
    moments: list[int], seed: int, rate: float, hours: str
) -> None:
    """Messages come twice, emails are refused, workers die, the sweep runs every five minutes."""
    quiet, random = QuietHours.of(hours), Random(seed)
    assert quiet
    world = a_world(quiet, mailer=Refusing(random.choice([0, 0, 3])))
    faults = Faults(random, rate)
    days = Days(world, faults.around)
    arrivals = [
        (
            at,
            number,
            an_event(f"e{number}", entity_id=f"post{random.choice([1, 1, 2])}", occurred_at=at),
        )
        for number, at in enumerate(NOW + timedelta(seconds=moment) for moment in moments)
    ]
    heapify(arrivals)
    while arrivals:
        at, number, event = heappop(arrivals)
        days.until(at)
        try:
            with world.watched(faults.around):
                world.create(event)
                if random.random() < 0.2:
                    world.create(event)
        except (Unavailable, NotYet):
            heappush(arrivals, (world.clock() + 3 * MINUTE, number, event))
    days.until(world.clock() + 30 * HOUR)
    assert sum(lines(world)) == len(moments)
    assert not any(run.is_open for run in world.runs.rows.values())
    assert all(isinstance(row, StoredEvent) for row in world.events.rows.values())
    zone = zone_of("Europe/Berlin")
    assert not [at for at in days.sent_at if quiet.until(at, zone)]
