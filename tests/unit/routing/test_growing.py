"""The collecting time of immediate runs grows while emails about an entity are frequent."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from heapq import heapify, heappop, heappush
from itertools import count
from random import Random

import pytest
from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.errors import NotYet, Unavailable
from gazette.domain.model import Event, RunKey, StoredEvent, Window
from gazette.domain.outcome import Outcome
from gazette.domain.ports.queues import LONGEST_DELAY
from gazette.domain.redelivery import MANY, pause_before
from gazette.domain.scheduling.growing import LAPSES_SOON, QUIET, WAITS, Wait, wait_after
from gazette.domain.scheduling.kinds import (
    Unsent,
    critical_schedule,
    immediate_schedule,
    urgent_schedule,
)
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.templates.settings import VersionSettings
from gazette.steps.sweep.sweep import sweep
from hypothesis import given, settings
from hypothesis import strategies as st

from gazette_cdk.topology import MAX_RECEIVES
from tests.builders import NOW, an_event
from tests.days import Days, Faults
from tests.fake_stores import PARTITIONS
from tests.world import HOLD, World, crashes, events_in, interleavings

POST1 = immediate_schedule("post#post1")
URGENT = urgent_schedule("post#post1")
DAY, HOUR, MINUTE = timedelta(days=1), timedelta(hours=1), timedelta(minutes=1)
A_SECOND = timedelta(seconds=1)
ON_TIME = MINUTE
"""The longest time from the end of collecting until the email is sent."""


def a_world(**given: object) -> World:
    """Ann wants comments and mentions at once."""
    world = World(**given)  # type: ignore[arg-type]
    world.choose(at=NOW - DAY, comment=Frequency.IMMEDIATE, mention=Frequency.IMMEDIATE)
    return world


def post(world: World, name: str, **fields: object) -> Event:
    """Something happens on post1 now."""
    event = an_event(name, occurred_at=world.clock(), **fields)  # type: ignore[arg-type]
    world.create(event)
    return event


def events_of(world: World, at: list[timedelta]) -> Days:
    """Events of post1 at these times, and four hours more."""
    days = Days(world)
    for number, after in enumerate(at):
        days.then(after, lambda number=number: post(world, f"e{number}"))  # type: ignore[misc]
    days.until(NOW + max(at) + 4 * HOUR)
    return days


def lines(world: World) -> list[int]:
    """How many events each email shows."""
    return [events_in(email.lines) for email in world.emails()]


def thread(world: World) -> list[Run]:
    """The runs of post1, in order."""
    return sorted(
        (run for run in world.runs.rows.values() if run.key.schedule == POST1),
        key=lambda run: run.key.sequence,
    )


# What readers get.


def test_ten_comments_ten_minutes_apart_are_four_emails() -> None:
    world = a_world()
    days = events_of(world, [10 * number * MINUTE for number in range(10)])
    assert lines(world) == [1, 1, 6, 2]
    first, second, third, fourth = days.sent_at
    assert first - NOW <= MINUTE
    assert second - (NOW + 10 * MINUTE) <= MINUTE
    assert HOUR <= third - second <= HOUR + 2 * MINUTE
    assert HOUR <= fourth - third <= HOUR + 2 * MINUTE
    assert all(not run.is_open for run in thread(world))


def test_two_hundred_mentions_in_an_hour_are_three_emails() -> None:
    world = a_world()
    events_of(world, [number * 18 * A_SECOND for number in range(200)])
    assert sum(lines(world)) == 200
    assert len(lines(world)) == 3
    assert len(thread(world)) <= 6, "the late sending of a run takes what the next was started for"


def test_events_on_two_hundred_things_are_not_held_together() -> None:
    world = a_world()
    days = Days(world)
    for number in range(200):
        days.then(
            number * A_SECOND,
            lambda number=number: post(world, f"e{number}", entity_id=f"post{number}"),  # type: ignore[misc]
        )
    days.until(NOW + HOUR)
    assert len(world.emails()) == 200


@pytest.mark.parametrize("apart", [QUIET + 2 * MINUTE, 3 * HOUR])
def test_quiet_of_an_hour_resets_the_wait(apart: timedelta) -> None:
    world = a_world()
    days = events_of(world, [number * apart for number in range(4)])
    assert lines(world) == [1, 1, 1, 1]
    for number, sent_at in enumerate(days.sent_at):
        assert sent_at - (NOW + number * apart) <= MINUTE


def test_wait_after_quiet_of_an_hour_is_ten_minutes_again() -> None:
    world = a_world()
    later = 5 * HOUR
    days = events_of(world, [timedelta(0), 3 * MINUTE, 15 * MINUTE, later, later + 3 * MINUTE])
    *_, fourth, fifth = days.sent_at
    assert fourth - (NOW + later) <= MINUTE
    assert fifth - (NOW + later) <= 11 * MINUTE
    assert [run.step for run in thread(world)] == [0, 1, 2, 0, 1]


def test_long_run_is_sent_as_soon_as_it_has_collected() -> None:
    """The sweep queues it before, so its own period does not delay the email."""
    world = a_world()
    days = events_of(world, [timedelta(0), 3 * MINUTE, 15 * MINUTE])
    *_, third = thread(world)
    assert third.step == 2
    assert third.due_at - NOW > LONGEST_DELAY
    assert days.sent_at[-1] == third.due_at + HOLD


def test_events_of_a_long_run_send_no_messages() -> None:
    """Each would have to be queued again every quarter of an hour."""
    world = a_world()
    events_of_first = [timedelta(0), 3 * MINUTE]
    days = Days(world)
    for number, after in enumerate(events_of_first):
        days.then(after, lambda number=number: post(world, f"e{number}"))  # type: ignore[misc]
    days.until(NOW + 15 * MINUTE)
    world.generate_queue.calls = 0
    for number in range(20):
        post(world, f"more{number}")
    assert world.generate_queue.calls == 0
    days.until(NOW + 2 * HOUR)
    assert lines(world) == [1, 1, 20]


def test_event_costs_no_call_more_than_before() -> None:
    world = a_world()
    days = Days(world)
    calls: list[list[str]] = []
    for number in range(3):
        days.until(NOW + 20 * number * MINUTE)
        with world.calls() as called:
            post(world, f"e{number}")
        calls.append([name for name in called if name != "generate_queue.send"])
    assert calls[0] == calls[1] == calls[2]


def test_template_version_still_sets_the_first_window() -> None:
    world = a_world()
    world.context = replace(
        world.context,
        settings_for=lambda _: VersionSettings(collapse=90 * A_SECOND),
    )
    post(world, "e1")
    (run,) = thread(world)
    assert run.due_at == NOW + 90 * A_SECOND


# What waits for no window.


def test_critical_email_does_not_wait_for_longer() -> None:
    world = a_world(critical=frozenset({"security"}))
    days = Days(world)
    for number in range(4):
        days.then(
            number * 2 * MINUTE,
            lambda number=number: post(world, f"e{number}", category="security"),  # type: ignore[misc]
        )
    days.until(NOW + HOUR)
    assert [email.schedule for email in world.emails()] == [critical_schedule("post#post1")] * 4


@pytest.mark.parametrize("in_quick_succession", [0, 2])
def test_event_that_lapses_within_a_long_wait_is_sent_at_once(in_quick_succession: int) -> None:
    """Trace (v): within the hour of a run that collects it would never be told."""
    world = a_world()
    days = Days(world)
    for number in range(in_quick_succession):
        days.then(number * 3 * MINUTE, lambda number=number: post(world, f"e{number}"))  # type: ignore[misc]
    days.until(NOW + 15 * MINUTE)
    post(world, "usual")
    event = replace(an_event("short"), occurred_at=world.clock())
    world.create(replace(event, expires_at=world.clock() + LAPSES_SOON - A_SECOND))
    assert world.waiting()["short"] == URGENT
    posted_at = world.clock()
    days.until(posted_at + MINUTE)
    assert world.emails()[-1].schedule == URGENT or world.emails()[-2].schedule == URGENT
    days.until(posted_at + 3 * HOUR)
    assert sum(lines(world)) == in_quick_succession + 2


def test_urgent_event_does_not_end_a_run_that_collects() -> None:
    """Whoever found that run open relies on it."""
    world = a_world()
    days = Days(world)
    for number in range(3):
        days.then(number * 6 * MINUTE, lambda number=number: post(world, f"e{number}"))  # type: ignore[misc]
    *_, collecting = thread(world)
    event = replace(an_event("short"), occurred_at=world.clock())
    world.create(replace(event, expires_at=world.clock() + HOUR))
    days.until(world.clock() + 10 * MINUTE)
    assert world.runs.rows[collecting.key].due_at == collecting.due_at
    assert world.runs.rows[collecting.key].is_unclaimed
    days.until(NOW + 3 * HOUR)
    assert sum(lines(world)) == 4


def test_event_with_enough_time_waits_with_the_others() -> None:
    world = a_world()
    event = an_event("long", occurred_at=world.clock())
    world.create(replace(event, expires_at=world.clock() + LAPSES_SOON))
    assert world.waiting() == {"long": POST1}


def test_event_does_not_leave_its_run_because_it_lapses_soon() -> None:
    """A message that comes again, and a choice that is changed, find it more urgent than before."""
    world = a_world()
    event = an_event("e1", occurred_at=world.clock())
    event = replace(event, expires_at=world.clock() + LAPSES_SOON + MINUTE)
    world.create(event)
    world.clock.pass_time(seconds=10)
    world.choose(comment=Frequency.IMMEDIATE)
    world.clock.pass_time(minutes=10)
    world.send_everything()
    assert [email.schedule for email in world.emails()] == [POST1]


def test_amended_event_that_lapses_soon_leaves_a_run_that_collects() -> None:
    world = a_world()
    days = Days(world)
    for number in range(3):
        days.then(number * 6 * MINUTE, lambda number=number: post(world, f"e{number}"))  # type: ignore[misc]
    now = world.clock()
    amended = an_event("e2", occurred_at=now, amended_at=now)
    world.create(replace(amended, expires_at=now + 30 * MINUTE))
    assert world.waiting()["e2"] == URGENT
    days.until(now + 5 * MINUTE)
    assert URGENT in {email.schedule for email in world.emails()}
    days.until(now + 3 * HOUR)
    assert sum(lines(world)) == 3


def test_lapsed_event_is_not_sent_by_the_urgent_schedule() -> None:
    world = a_world()
    event = replace(an_event("short"), occurred_at=world.clock())
    world.create(replace(event, expires_at=world.clock() + 10 * A_SECOND))
    world.send_everything()
    assert not world.emails()
    assert world.waiting() == {"short": Unsent.EXPIRED}


# How a run comes to be sent.


def after_two_emails() -> World:
    """Two emails were sent, and nothing waits; the next run collects for an hour."""
    world = a_world()
    days = Days(world)
    for number in range(2):
        days.then(number * 3 * MINUTE, lambda number=number: post(world, f"e{number}"))  # type: ignore[misc]
    days.until(NOW + 15 * MINUTE)
    assert lines(world) == [1, 1]
    return world


def test_two_workers_that_do_not_see_each_other_collect_until_the_same_time() -> None:
    """Trace (i): both wait after the same email, so one run takes the events of both."""

    def other(world: World) -> None:
        world.clock.pass_time(seconds=2)
        post(world, "second")

    seen = 0
    for world, where in interleavings(after_two_emails, lambda world: post(world, "first"), other):
        collecting = [run for run in thread(world) if run.is_open]
        assert len({run.due_at for run in collecting}) == 1, where
        seen = max(seen, len(collecting))
        Days(world).until(NOW + 4 * HOUR)
        assert lines(world) == [1, 1, 2], where
        assert all(not run.is_open for run in thread(world)), where
    assert seen == 2, "no interleaving stored two runs"


@pytest.mark.parametrize("after", [timedelta(0), 2 * HOUR, 3 * DAY])
def test_message_that_comes_again_does_not_wait_after_its_own_future(after: timedelta) -> None:
    """Trace (ii): the wait of a run depends on what was sent before its event was stored."""
    world = a_world()
    first = post(world, "e1")
    days = Days(world)
    days.until(NOW + 3 * MINUTE)
    second = post(world, "e2")
    days.until(NOW + 15 * MINUTE + after)
    assert world.create(first) == world.create(second) == [Outcome.DUPLICATE]
    days.until(world.clock() + 3 * HOUR)
    assert lines(world) == [1, 1]
    world.create(first)
    third = post(world, "e3")
    days.until(world.clock() + 3 * HOUR)
    world.create(third)
    assert lines(world) == [1, 1, 1]


def a_sent_run(number: int, ended: datetime, step: int) -> Run:
    key = RunKey("ann", POST1, number)
    return Run(
        key,
        due_at=ended,
        check_at=ended,
        status=Status.SENT,
        reason=Reason.ACCEPTED,
        attempt=1,
        window=Window(NOW - DAY, ended),
        step=step,
    )


def test_later_email_does_not_count() -> None:
    """Trace (ii), of the rule itself."""
    chain = [a_sent_run(2, NOW + 2 * DAY, 2), a_sent_run(1, NOW - MINUTE, 0)]
    assert wait_after(POST1, chain, NOW) == Wait(1, NOW - MINUTE + WAITS[0])
    assert wait_after(POST1, chain[:1], NOW) == Wait(0, NOW)


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (Status.SKIPPED, Reason.EMPTY),
        (Status.CANCELLED, Reason.SUPERSEDED),
        (Status.FAILED, Reason.REFUSED_FOR_GOOD),
    ],
)
def test_email_that_was_never_sent_does_not_count(status: Status, reason: Reason) -> None:
    unsent = replace(a_sent_run(1, NOW - MINUTE, 1), status=status, reason=reason, window=None)
    assert wait_after(POST1, [unsent], NOW) == Wait(0, NOW)


def test_email_that_may_have_been_sent_counts() -> None:
    unknown = replace(
        a_sent_run(1, NOW - MINUTE, 1),
        status=Status.SKIPPED,
        reason=Reason.GIVEN_UP,
        uncertain=frozenset({1}),
    )
    assert wait_after(POST1, [unknown], NOW) == Wait(2, NOW - MINUTE + WAITS[1])


def test_run_that_waits_counts_from_the_end_of_its_collecting() -> None:
    waiting = replace(a_sent_run(1, NOW - MINUTE, 0), status=Status.PENDING, window=None)
    assert wait_after(POST1, [waiting], NOW) == Wait(1, NOW - MINUTE + WAITS[0])


def test_step_does_not_grow_beyond_the_longest_wait() -> None:
    assert wait_after(POST1, [a_sent_run(1, NOW - MINUTE, 2)], NOW).step == len(WAITS)
    assert max(WAITS) <= QUIET


def test_worker_that_dies_before_the_message_delays_no_email() -> None:
    """Trace (iii): the sweep looks at the run before it is due, and not an hour later."""
    sent_at = set()
    for world, where in crashes(after_two_emails, lambda world: post(world, "third")):
        has_run = any(run.is_open for run in thread(world))
        days = Days(world)
        if not has_run:
            post(world, "third")  # the message comes again
        due_at = max(run.due_at for run in thread(world))
        days.until(due_at + ON_TIME)
        assert lines(world) == [1, 1, 1], where
        sent_at.add(days.sent_at[-1] - due_at)
    assert sent_at == {HOLD}


def test_sweep_that_is_late_delays_no_email_for_ten_minutes() -> None:
    world = after_two_emails()
    post(world, "third")
    (run,) = (run for run in thread(world) if run.is_open)
    world.clock.now = run.due_at + HOLD - 2 * A_SECOND
    world.sweep()
    (message,) = world.generate_queue.sent
    assert (message.key, message.delay) == (run.key, 2 * A_SECOND)


def test_sweep_that_was_silent_spreads_the_runs_that_are_due() -> None:
    world = after_two_emails()
    post(world, "third")
    world.clock.pass_time(hours=3)
    context = replace(world.sweeping(), random=lambda: 1.0)
    for partition in range(PARTITIONS):
        sweep(partition, context=context, time_left=lambda: MINUTE)
    (message,) = world.generate_queue.sent
    assert message.delay == LONGEST_DELAY / 3


def test_sweep_that_fails_to_queue_a_run_finds_it_again() -> None:
    world = after_two_emails()
    post(world, "third")
    (run,) = (run for run in thread(world) if run.is_open)
    send = world.generate_queue.send

    def fail(messages: object) -> None:
        world.generate_queue.send = send  # type: ignore[method-assign]
        raise Unavailable("SQS did not answer.")

    world.generate_queue.send = fail  # type: ignore[method-assign]
    days = Days(world)
    days.until(run.due_at + ON_TIME)
    assert days.sent_at == [run.due_at + HOLD]


def test_redrive_waits_for_a_run_that_collects_for_an_hour() -> None:
    """Trace (iv)."""
    world = after_two_emails()
    post(world, "third")
    (collecting,) = (run for run in thread(world) if run.is_open)
    key = replace(collecting.key, sequence=collecting.key.sequence + 1)
    now = world.clock()
    world.runs.create(Run(key, due_at=now, check_at=now + HOUR, step=1))
    assert world.generate(key) == world.runs.rows[key]
    days = Days(world)
    days.until(collecting.due_at)
    assert lines(world) == [1, 1]
    days.until(collecting.due_at + 20 * MINUTE)
    assert lines(world) == [1, 1, 1]


def test_previous_release_retries_until_it_can_queue_a_long_run() -> None:
    """It asks SQS for the whole delay, which SQS rejects (docs/compatibility.md)."""
    pauses = (pause_before(receives, pauses=MANY, random=0) for receives in range(1, MAX_RECEIVES))
    assert max(WAITS) + HOLD - LONGEST_DELAY < 46 * MINUTE < sum(pauses, timedelta(0))


# Every event is in exactly one email, whatever happens.


@given(
    moments=st.lists(st.integers(0, 3 * 3600), min_size=1, max_size=25).map(sorted),
    seed=st.integers(0, 10_000),
    rate=st.sampled_from([0.0, 0.03, 0.15]),
)
@settings(max_examples=150, deadline=None)
def test_every_event_is_in_one_email_and_no_run_stays_open(
    moments: list[int], seed: int, rate: float
) -> None:
    """Messages come twice and in any order, workers die, the sweep runs every five minutes."""
    world, random = a_world(), Random(seed)
    faults = Faults(random, rate)
    days = Days(world, faults.around)
    arrivals = list(_arrivals(moments, random))
    heapify(arrivals)
    while arrivals:
        at, number, event = heappop(arrivals)
        days.until(at)
        try:
            with world.watched(faults.around):
                world.create(event)
        except (Unavailable, NotYet):
            heappush(arrivals, (world.clock() + 3 * MINUTE, number, event))
    days.until(world.clock() + 8 * HOUR)
    assert sum(lines(world)) == len(moments)
    assert all(not run.is_open for run in world.runs.rows.values())
    assert all(isinstance(row, StoredEvent) for row in world.events.rows.values())
    if not rate:
        # After an hour without an email, two emails follow each other in ten minutes.
        hours = (moments[-1] - moments[0]) / 3600
        assert sum(email.schedule == POST1 for email in world.emails()) <= 3 + 2 * hours


def _arrivals(moments: list[int], random: Random) -> Iterator[tuple[datetime, int, Event]]:
    """The messages of the events, some of which are late, come twice, or are of little time."""
    number = count()
    for name, moment in enumerate(moments):
        at = NOW + moment * A_SECOND
        lapses_at = at + 70 * MINUTE if random.random() < 0.1 else None
        event = replace(an_event(f"e{name}", occurred_at=at), expires_at=lapses_at)
        yield at + random.choice([0, 0, 5, 90]) * A_SECOND, next(number), event
        if random.random() < 0.3:
            yield at + random.choice([1, 600, 7200]) * A_SECOND, next(number), event
