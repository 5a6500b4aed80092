"""An event is in no email from its `expires_at` on, wherever it is by then, and the run says so."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from gazette.domain.delivery.run import Reason, Status
from gazette.domain.feedback.reputation import category_hold
from gazette.domain.model import DAILY, Event, RunKey, StoredEvent
from gazette.domain.outcome import Outcome
from gazette.domain.scheduling.calendar import slot_of
from gazette.domain.scheduling.kinds import Unsent
from gazette.domain.stored import readable
from gazette.domain.subscribers.frequency import Frequency
from gazette.steps.delivery.types import Delivery
from gazette.steps.support.pending import read_pending

from tests.builders import NOW, RETENTION, an_activity, an_event
from tests.explained import explained
from tests.world import SETTLE_LAG, World, crashes, interleavings

HOUR = timedelta(hours=1)
DUE = datetime.fromisoformat("2026-11-23T07:00:00+00:00")
"""When the daily digest of an event of NOW is due."""


def lapsing(at: datetime, event_id: str = "e1", *, post: str = "post1") -> Event:
    return replace(an_event(event_id, entity_id=post), expires_at=at)


def world_with(*events: Event, often: Frequency = Frequency.DAILY) -> World:
    world = World()
    world.choose(comment=often)
    world.create(*events)
    return world


def delivered(world: World) -> Delivery:
    """The next digest."""
    schedule = world.schedules.rows["ann", DAILY]
    world.clock.now = max(world.clock(), schedule.next_due_at) + 2 * SETTLE_LAG
    world.fan_out(slot_of(schedule.next_due_at))
    world.generate_queue.sent.clear()
    done = world.deliver(RunKey("ann", DAILY, schedule.sequence))
    assert done
    return done


def lines(world: World) -> list[tuple[str, ...]]:
    return [email.lines for email in world.emails()]


# Before it is due.


def test_event_expiring_before_digest_is_omitted_and_recorded() -> None:
    world = world_with(lapsing(NOW + HOUR))
    done = delivered(world)
    assert (done.run.status, done.run.reason) == (Status.SKIPPED, Reason.LAPSED)
    assert (done.unsent.lapsed, done.unsent.expired) == (1, 0)
    assert not world.emails()


def test_expired_event_no_longer_waits() -> None:
    world = world_with(lapsing(NOW + HOUR))
    delivered(world)
    assert world.waiting() == {"e1": Unsent.EXPIRED}
    world.send_digest()
    assert [run.reason for run in readable(world.runs.of_user("ann"))][-1] is Reason.NOTHING_WAITED


def test_remaining_events_are_sent_and_lapsed_events_counted_once() -> None:
    world = world_with(lapsing(NOW + HOUR), an_event("e2", entity_id="post2"))
    done = delivered(world)
    assert (done.run.status, done.unsent.lapsed) == (Status.SENT, 1)
    assert lines(world) == [("post2: 1",)]
    world.create(an_event("e3", occurred_at=world.clock()))
    assert delivered(world).unsent.lapsed == 0


def test_unexpired_event_is_sent() -> None:
    world = world_with(lapsing(DUE + HOUR))
    done = delivered(world)
    assert (done.run.status, done.unsent.lapsed) == (Status.SENT, 0)
    assert lines(world) == [("post1: 1",)]


def test_expired_reason_takes_precedence_over_lapsed_reason() -> None:
    world = world_with(an_event(), lapsing(NOW + HOUR, "e2"))
    world.clock.now = NOW + RETENTION
    schedule = world.schedules.rows["ann", DAILY]
    later = datetime.fromisoformat("2026-12-28T07:00:00+00:00")
    world.schedules.rows["ann", DAILY] = replace(schedule, next_due_at=later)
    done = delivered(world)
    assert (done.run.reason, done.unsent.expired, done.unsent.lapsed) == (Reason.EXPIRED, 1, 1)


def test_event_that_lapsed_long_ago_does_not_count_as_expired() -> None:
    world = world_with(lapsing(NOW + HOUR))
    world.clock.now = NOW + RETENTION
    schedule = world.schedules.rows["ann", DAILY]
    later = datetime.fromisoformat("2026-12-28T07:00:00+00:00")
    world.schedules.rows["ann", DAILY] = replace(schedule, next_due_at=later)
    done = delivered(world)
    assert (done.run.reason, done.unsent.expired, done.unsent.lapsed) == (Reason.LAPSED, 0, 1)


def test_expired_event_is_not_held_with_its_category() -> None:
    world = world_with(lapsing(NOW + HOUR))
    world.category_holds.add(category_hold("comment", "why", world.clock()))
    done = delivered(world)
    assert (done.run.reason, done.unsent.deferred) == (Reason.LAPSED, 0)


def test_event_that_arrives_expired_is_omitted() -> None:
    world = world_with(lapsing(NOW - HOUR))
    assert delivered(world).run.reason is Reason.LAPSED


def test_expired_activity_is_omitted() -> None:
    world = World()
    world.choose(comment=Frequency.DAILY)
    world.follow(entity="post#post1", at=NOW - HOUR)
    activity = replace(an_activity(), expires_at=NOW + HOUR)
    world.create(activity.event_for("ann"))
    assert delivered(world).run.reason is Reason.LAPSED


# Between reading and claim.


def test_trace_v_event_expiring_during_permit_wait_is_omitted() -> None:
    world = world_with(lapsing(DUE + HOUR), an_event("e2", entity_id="post2"))

    def pass_time() -> None:
        world.clock.now = DUE + HOUR

    with world.meanwhile("rate_limiter.reserve", pass_time):
        done = delivered(world)
    assert (done.run.status, done.unsent.lapsed, done.permit_unused) == (Status.SENT, 1, False)
    assert lines(world) == [("post2: 1",)]


def test_no_email_is_sent_if_last_event_expires_during_wait() -> None:
    world = world_with(lapsing(DUE + HOUR))

    def pass_time() -> None:
        world.clock.now = DUE + HOUR

    with world.meanwhile("rate_limiter.reserve", pass_time):
        done = delivered(world)
    assert (done.run.status, done.run.reason) == (Status.SKIPPED, Reason.LAPSED)
    assert done.permit_unused
    assert not world.emails()


def test_crash_neither_sends_expired_event_nor_loses_other_events() -> None:
    def begin() -> World:
        return world_with(lapsing(NOW + HOUR), an_event("e2", entity_id="post2"))

    for world, where in crashes(begin, lambda world: world.send_digest()):
        world.fan_out(world.schedules.rows["ann", DAILY].next_due_at)
        world.send_everything()
        world.sweep()
        world.send_everything()
        shown = [line for email in world.emails() for line in email.lines]
        assert set(shown) == {"post2: 1"}, where


def test_crash_keeps_the_reason_lapsed() -> None:
    def begin() -> World:
        return world_with(lapsing(NOW + HOUR))

    for world, where in crashes(begin, lambda world: world.send_digest()):
        world.fan_out(world.schedules.rows["ann", DAILY].next_due_at)
        world.send_everything()
        world.sweep()
        world.send_everything()
        assert Reason.LAPSED in {run.reason for run in world.runs.rows.values()}, where


# Amended.


def test_event_extended_before_sending_is_sent() -> None:
    world = world_with(lapsing(NOW + HOUR))
    more = replace(lapsing(DUE + HOUR), amended_at=NOW + timedelta(minutes=1))
    assert world.create(more) == [Outcome.AMENDED]
    assert delivered(world).run.status is Status.SENT


def test_event_extended_after_omission_is_sent() -> None:
    world = world_with(lapsing(NOW + HOUR))
    delivered(world)
    now = world.clock()
    world.create(replace(lapsing(now + 48 * HOUR), amended_at=now))
    assert world.waiting() == {"e1": DAILY}
    assert delivered(world).run.status is Status.SENT


@pytest.mark.parametrize("also", [False, True])
def test_event_extended_between_read_and_count_is_sent(also: bool) -> None:
    """Also where the digest has something else to show: its window would close over the event."""
    others = [an_event("e2", entity_id="post2")] * also
    world = world_with(lapsing(NOW + HOUR), *others)

    def amend() -> None:
        world.create(replace(lapsing(DUE + 48 * HOUR), amended_at=world.clock()))

    with world.meanwhile("deferred_events.expire", amend, before=True):
        done = delivered(world)
    assert done.unsent.lapsed == 0
    world.send_digest()
    shown = [line for email in world.emails() for line in email.lines]
    assert sorted(shown) == ["post1: 1", "post2: 1"][: 1 + also]


def test_event_extended_by_slow_writer_is_not_lost() -> None:
    """It has written the event and not yet told the run, which could be claimed until then."""
    world = world_with(lapsing(NOW + HOUR), an_event("e2", entity_id="post2"))
    more = replace(lapsing(DUE + 48 * HOUR), amended_at=NOW + timedelta(minutes=1))

    def write() -> None:
        stored = world.events.get("ann", "e1")
        assert isinstance(stored, StoredEvent)
        assert world.events.amend(stored, more)

    with world.meanwhile("deferred_events.expire", write, before=True):
        done = delivered(world)
    assert (done.run.status, done.unsent.lapsed) == (Status.SENT, 0)
    world.create(more)
    world.send_digest()
    shown = [line for email in world.emails() for line in email.lines]
    assert sorted(shown) == ["post1: 1", "post2: 1"]


def test_event_amended_to_past_expiry_is_omitted() -> None:
    world = world_with(an_event())
    world.create(replace(lapsing(NOW), amended_at=NOW + timedelta(seconds=1)))
    assert delivered(world).run.reason is Reason.LAPSED


def test_duplicate_message_does_not_restore_expired_event() -> None:
    event = lapsing(NOW + HOUR)
    world = world_with(event)
    delivered(world)
    assert world.create(event) == [Outcome.DUPLICATE]
    assert world.waiting() == {"e1": Unsent.EXPIRED}


# At once.


def test_event_expiring_in_collapse_window_is_not_sent() -> None:
    world = world_with(lapsing(NOW + timedelta(seconds=5)), often=Frequency.IMMEDIATE)
    (run,) = world.deliver_queued()
    assert run is not None
    assert (run.status, run.reason) == (Status.SKIPPED, Reason.LAPSED)
    assert not world.emails()


def test_immediate_email_omits_only_expired_events() -> None:
    soon = lapsing(NOW + timedelta(seconds=5))
    world = world_with(soon, an_event("e2"), often=Frequency.IMMEDIATE)
    world.deliver_queued()
    assert lines(world) == [("post1: 1",)]


# What people are told.


@pytest.mark.parametrize("counted", [False, True])
def test_explain_lists_expired_event_as_no_longer_waiting(counted: bool) -> None:
    world = world_with(lapsing(NOW + HOUR), an_event("e2", entity_id="post2"))
    if counted:
        delivered(world)
    else:
        world.clock.now = NOW + HOUR
    found = explained(world)
    assert [(each.category, each.count) for each in found.lapsed] == [("comment", 1)]
    assert not found.expired
    assert [each.count for each in found.waiting] == [1] * (not counted)


def test_preview_of_next_email_omits_expired_events() -> None:
    world = world_with(lapsing(NOW + HOUR), an_event("e2", entity_id="post2"))
    world.clock.now = NOW + HOUR
    found = read_pending(
        "ann",
        subscribers=world.subscribers,
        runs=world.runs,
        events=world.events,
        withdrawals=world.withdrawals.current,
        clock=world.clock,
        critical=world.critical,
    )
    assert found is not None
    assert [event.id for event in found.by_schedule[DAILY]] == ["e2"]


def test_event_expires_at_exact_second() -> None:
    assert lapsing(NOW).has_lapsed(NOW)
    assert not lapsing(NOW).has_lapsed(NOW - timedelta(microseconds=1))
    assert not an_event().has_lapsed(NOW)
    assert StoredEvent(lapsing(NOW), DAILY, NOW, NOW + HOUR).is_over(NOW)


def test_amendment_at_any_moment_of_the_delivery_of_a_lapsed_event_is_sent() -> None:
    """Also after the event was read as lapsed, and before the run ends."""

    def make() -> World:
        world = world_with(lapsing(NOW + HOUR), often=Frequency.IMMEDIATE)
        world.generate_queue.sent.clear()
        world.clock.now = NOW + 2 * HOUR
        return world

    def work(world: World) -> None:
        for run in list(world.runs.rows.values()):
            world.deliver(run.key)

    later = replace(lapsing(NOW + 9 * HOUR), amended_at=NOW + HOUR)
    for world, where in interleavings(make, work, lambda world: world.create(later)):
        world.send_everything()
        assert lines(world) == [("post1: 1",)], where
