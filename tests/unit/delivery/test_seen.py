"""What a reader has seen is in no email, in any order of messages, and later news is sent."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import permutations
from typing import Any, cast

import pytest
from gazette.domain.delivery.run import Reason, Status
from gazette.domain.delivery.signals import Policy, Uncertain
from gazette.domain.errors import Unavailable
from gazette.domain.links import NEW_LINK
from gazette.domain.model import DAILY, Event, RunKey, StoredEvent
from gazette.domain.outcome import Outcome
from gazette.domain.ports.stores import DeferredEvents
from gazette.domain.receipts.receipt import State
from gazette.domain.scheduling.calendar import slot_of
from gazette.domain.scheduling.kinds import Unsent, immediate_schedule, urgent_schedule
from gazette.domain.scheduling.lifetime import longest_life, seen_for
from gazette.domain.stored import readable
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.subscriber import Erased
from gazette.domain.window.seen import SeenMark
from gazette.steps.delivery import windows
from gazette.steps.delivery.deliver import deliver
from gazette.steps.support.words.summary import verdict

from tests.builders import NOW, RETENTION, an_activity, an_event
from tests.explained import explained
from tests.receipts import receipt_of
from tests.world import SETTLE_LAG, Email, World, crashes, interleavings

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
THREAD = immediate_schedule("post#post1")
RHYTHMS = (Frequency.IMMEDIATE, Frequency.DAILY, Frequency.WEEKLY)

OLD = an_event("old", occurred_at=NOW - HOUR)
NEW = an_event("new", occurred_at=NOW)
SEEN_AT = NOW - MINUTE
"""After the old event, and before the new one."""


def world_with(*events: Event, often: Frequency = Frequency.DAILY) -> World:
    world = World()
    world.choose(comment=often)
    world.create(*events)
    return world


def due(*events: Event, often: Frequency, seen_at: datetime | None = None) -> World:
    """A world in which the run of these events is due, and its message is lost."""
    world = world_with(*events, often=often)
    if seen_at:
        world.see(at=seen_at)
    world.clock.pass_time(minutes=2)
    if often is not Frequency.IMMEDIATE:
        schedule = world.schedules.rows["ann", often.value]
        world.clock.now = schedule.next_due_at + 2 * SETTLE_LAG
        world.fan_out(slot_of(schedule.next_due_at))
    world.generate_queue.sent.clear()
    return world


def work(world: World) -> None:
    """Deliver every run that has not ended."""
    for run in list(world.runs.rows.values()):
        if not run.status.is_final:
            world.deliver(run.key)


def groups(world: World) -> list[Email]:
    return world.emails()


def run_of(world: World, schedule: str = DAILY) -> Reason:
    runs = [run for run in readable(world.runs.of_user("ann")) if run.key.schedule == schedule]
    return runs[-1].reason


# The promise.


@pytest.mark.parametrize("often", RHYTHMS)
def test_seen_event_is_left_out_and_newer_event_is_sent_in_any_order(often: Frequency) -> None:
    """All 720 orders of six messages."""
    acts: dict[str, Callable[[World], object]] = {
        "profile": lambda world: world.choose(comment=often),
        "old": lambda world: world.create(OLD),
        "new": lambda world: world.create(NEW),
        "seen": lambda world: world.see(at=SEEN_AT),
        "older": lambda world: world.see(at=SEEN_AT - 2 * HOUR),
        "again": lambda world: (world.create(OLD), world.see(at=SEEN_AT)),
    }
    wrong = []
    for order in permutations(acts):
        world = World()
        for name in order:
            acts[name](world)
        world.send_everything()
        world.create(OLD)
        world.send_everything()
        lines = [line for email in groups(world) for line in email.lines]
        if lines != ["post1: 1"] or world.waiting()["old"] != Unsent.EXCLUDED:
            wrong.append((order, lines))
    assert not wrong


def test_event_about_another_thing_is_sent() -> None:
    world = world_with(an_event("e1"), an_event("e2", entity_id="post2"))
    world.see()
    world.send_digest()
    assert [email.lines for email in groups(world)] == [("post2: 1",)]
    assert run_of(world) is Reason.ACCEPTED


def test_event_at_the_moment_of_the_mark_is_left_out() -> None:
    world = world_with(an_event())
    world.see(at=NOW)
    world.send_digest()
    assert not groups(world)


def test_digest_of_seen_events_is_skipped_with_the_reason() -> None:
    world = world_with(an_event())
    world.see()
    world.send_digest()
    assert run_of(world) is Reason.SEEN
    assert world.waiting() == {"e1": Unsent.EXCLUDED}


def test_immediate_run_of_seen_events_is_skipped_with_the_reason() -> None:
    world = world_with(an_event(), often=Frequency.IMMEDIATE)
    world.see()
    world.send_everything()
    assert run_of(world, THREAD) is Reason.SEEN


def test_event_that_lapsed_does_not_hide_the_reason_seen() -> None:
    lapsing = replace(an_event("e2", entity_id="post2"), expires_at=NOW + HOUR)
    world = world_with(an_event(), lapsing)
    world.see()
    world.send_digest()
    assert run_of(world) is Reason.SEEN


def test_seen_events_are_counted_once() -> None:
    world = world_with(an_event("e1"), an_event("e2"))
    world.see()
    schedule = world.schedules.rows["ann", DAILY]
    world.clock.now = schedule.next_due_at + 2 * SETTLE_LAG
    world.fan_out(slot_of(schedule.next_due_at))
    done = world.deliver(RunKey("ann", DAILY, schedule.sequence))
    assert done
    assert (done.run.reason, done.unsent.seen, done.unsent.lapsed) == (Reason.SEEN, 2, 0)


def test_activity_is_left_out_for_the_follower_who_saw_the_entity() -> None:
    world = World()
    world.choose(comment=Frequency.DAILY)
    for user_id in ("ann", "cy"):
        world.choose(user_id, comment=Frequency.DAILY)
        world.follow(user_id, entity="post#post1", at=NOW - HOUR)
    world.create(*(an_activity().event_for(user_id) for user_id in ("ann", "cy")))
    world.see()
    world.send_digest(user_id="ann")
    world.send_digest(user_id="cy")
    assert [email.user_id for email in groups(world)] == ["cy"]


def test_parent_that_was_seen_does_not_hide_events_about_its_children() -> None:
    world = World()
    world.choose(comment=Frequency.DAILY)
    world.follow(entity="blog#b1", at=NOW - HOUR)
    activity = replace(an_activity(), parent="blog#b1")
    world.create(activity.event_for("ann"))
    world.see("blog#b1")
    world.send_digest()
    assert len(groups(world)) == 1


def test_critical_email_shows_what_was_seen() -> None:
    world = World(critical=frozenset({"comment"}))
    world.choose()
    world.create(an_event())
    world.see()
    with world.calls() as called:
        world.send_everything()
    assert len(groups(world)) == 1
    assert "seen_marks.of" not in called


def test_requested_link_is_sent_although_its_entity_was_seen() -> None:
    world = world_with(an_event(category=NEW_LINK))
    world.see()
    world.send_everything()
    assert len(groups(world)) == 1


def test_mark_of_one_reader_does_not_concern_another() -> None:
    world = world_with(an_event())
    world.see(user_id="cy")
    world.send_digest()
    assert len(groups(world)) == 1


# Amendments, repetitions and late messages.


def test_amendment_that_is_later_than_the_mark_is_sent() -> None:
    world = world_with(OLD)
    world.see(at=SEEN_AT)
    world.send_digest()
    amended = replace(OLD, occurred_at=NOW, amended_at=NOW)
    assert world.create(amended) == [Outcome.AMENDED]
    assert world.waiting() == {"old": DAILY}
    world.send_digest()
    assert [email.lines for email in groups(world)] == [("post1: 1",)]


def test_amendment_of_a_seen_event_stays_left_out() -> None:
    world = world_with(OLD)
    world.see(at=SEEN_AT)
    world.send_digest()
    world.create(replace(OLD, excerpt="Better.", amended_at=NOW))
    assert world.waiting() == {"old": Unsent.EXCLUDED}


def test_repeated_seen_event_stays_left_out() -> None:
    world = world_with(OLD)
    world.see(at=SEEN_AT)
    world.send_digest()
    assert world.create(OLD) == [Outcome.DUPLICATE]
    assert world.waiting() == {"old": Unsent.EXCLUDED}


def test_change_of_choices_does_not_bring_a_seen_event_back() -> None:
    world = world_with(OLD)
    world.see(at=SEEN_AT)
    world.send_digest()
    world.choose(comment=Frequency.WEEKLY)
    world.choose(comment=Frequency.IMMEDIATE)
    world.create(OLD)
    assert world.waiting() == {"old": Unsent.EXCLUDED}


def test_returned_event_can_be_left_out_again() -> None:
    world = world_with(OLD)
    world.see(at=SEEN_AT)
    world.send_digest()
    world.create(replace(OLD, occurred_at=NOW, amended_at=NOW))
    world.see(at=NOW)
    world.send_digest()
    assert not groups(world)
    assert world.waiting() == {"old": Unsent.EXCLUDED}


def test_mark_outlives_every_event_that_arrives_late() -> None:
    """An event may arrive as late as events are kept, and then wait for its longest life."""
    assert seen_for(RETENTION) >= RETENTION + longest_life(RETENTION) + HOUR


@pytest.mark.parametrize("often", RHYTHMS)
def test_trace_an_amendment_at_any_moment_of_a_delivery_is_sent(
    often: Frequency,
) -> None:
    amended = replace(OLD, occurred_at=NOW, amended_at=NOW, excerpt="Amended.")

    def make() -> World:
        return due(OLD, often=often, seen_at=SEEN_AT)

    for world, where in interleavings(make, work, lambda world: world.create(amended)):
        world.send_everything()
        lines = [line for email in groups(world) for line in email.lines]
        assert lines == ["post1: 1"], where


# Several workers, crashes, and marks during a delivery.


@pytest.mark.parametrize("life", [None, HOUR], ids=["usual", "urgent"])
def test_trace_an_visit_before_the_claim_of_an_immediate_email_stops_it(
    life: timedelta | None,
) -> None:
    """Without raised epochs, some moments show what was seen before the claim."""
    event = replace(an_event(), expires_at=NOW + life if life else None)
    schedule = urgent_schedule("post#post1") if life else THREAD
    claimed: list[bool] = []

    def mark(world: World) -> None:
        statuses = {run.status for run in world.runs.rows.values()}
        claimed.append(not statuses.isdisjoint({Status.SENDING, Status.SENT}))
        world.see(at=NOW)

    for world, where in interleavings(lambda: due(event, often=Frequency.IMMEDIATE), work, mark):
        world.send_everything()
        assert {key.schedule for key in world.runs.rows} == {schedule}, where
        assert bool(groups(world)) == claimed[-1], where
    assert set(claimed) == {False, True}


def test_mark_during_a_digest_leaves_the_event_out_or_is_too_late_for_it() -> None:
    sent: list[bool] = []
    for world, where in interleavings(
        lambda: due(an_event(), often=Frequency.DAILY), work, World.see
    ):
        work(world)
        sent.append(bool(groups(world)))
        assert world.waiting()["e1"] == (DAILY if sent[-1] else Unsent.EXCLUDED), where
    assert set(sent) == {False, True}


def _two_workers(often: Frequency) -> Iterator[tuple[World, str]]:
    """A worker at each of its calls; meanwhile the reader sees the thing, and another works."""

    def other(world: World) -> None:
        world.see()
        work(world)

    yield from interleavings(lambda: due(OLD, often=often), work, other)


@pytest.mark.parametrize("often", [Frequency.IMMEDIATE, Frequency.DAILY])
def test_event_that_one_worker_left_out_is_not_sent_by_another(often: Frequency) -> None:
    for world, where in _two_workers(often):
        work(world)
        left_out = world.waiting()["old"] == Unsent.EXCLUDED
        assert len(groups(world)) == (0 if left_out else 1), where


class Dying:
    """A port whose worker dies right after it has left an event out."""

    def __init__(self, port: DeferredEvents) -> None:
        self._port = port

    def __getattr__(self, name: str) -> Any:
        return getattr(self._port, name)

    def leave_out(self, stored: StoredEvent, *, for_good: bool = False) -> bool:
        self._port.leave_out(stored, for_good=for_good)
        raise Unavailable("The worker died.")


@pytest.mark.parametrize("often", [Frequency.IMMEDIATE, Frequency.DAILY])
def test_trace_an_worker_that_read_before_the_visit_claims_nothing_that_was_left_out(
    often: Frequency,
) -> None:
    """The mark is stored, but its message has not raised any epoch yet."""

    def mark_and_die(world: World) -> None:
        world.subscribers.mark_seen("ann", (NOW + timedelta(days=99)).date())
        world.seen_marks.put(SeenMark("ann", "post#post1", SEEN_AT))
        context = world.delivery_context()
        deferred = cast("DeferredEvents", Dying(world.deferred_events))
        dying = replace(context, editing=replace(context.editing, deferred_events=deferred))
        for run in list(world.runs.rows.values()):
            with suppress(Unavailable):
                deliver(run.key, lambda: MINUTE, context=dying)

    for world, where in interleavings(lambda: due(OLD, NEW, often=often), work, mark_and_die):
        work(world)
        left_out = world.waiting()["old"] == Unsent.EXCLUDED
        assert [email.lines for email in groups(world)] == [
            ("post1: 1" if left_out else "post1: 2",)
        ], where


@pytest.mark.parametrize("often", [Frequency.IMMEDIATE, Frequency.DAILY])
def test_crash_at_any_moment_leaves_the_seen_event_out(often: Frequency) -> None:
    def make() -> World:
        return due(OLD, NEW, often=often, seen_at=SEEN_AT)

    for world, where in crashes(make, work):
        world.recover()
        assert world.waiting()["old"] == Unsent.EXCLUDED, where


def test_crash_keeps_the_reason_seen() -> None:
    def make() -> World:
        return due(OLD, often=Frequency.DAILY, seen_at=SEEN_AT)

    for world, where in crashes(make, work):
        world.recover()
        assert world.runs.rows[RunKey("ann", DAILY, 1)].reason is Reason.SEEN, where


def test_crash_of_the_message_at_any_moment_is_completed_by_its_repetition() -> None:
    def make() -> World:
        return world_with(an_event(), often=Frequency.IMMEDIATE)

    for world, where in crashes(make, World.see):
        world.see(at=NOW)
        world.send_everything()
        assert not groups(world), where


def test_many_seen_events_are_left_out_by_several_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(windows, "MOST_LEFT_OUT", 3)
    events = [an_event(f"e{number}") for number in range(10)]
    world = due(*events, often=Frequency.DAILY, seen_at=NOW)
    for _ in range(4):
        work(world)
    assert set(world.waiting().values()) == {Unsent.EXCLUDED}
    assert run_of(world) is Reason.SEEN


# What may have been sent.


def unknown_then_seen() -> World:
    world = world_with(an_event())
    world.policy = Policy.RESEND
    world.mailer.script.append(Uncertain(1, "ReadTimeoutError"))
    world.send_digest()
    world.see(at=NOW)
    return world


def test_event_that_may_have_been_sent_is_given_up_once_it_is_seen() -> None:
    world = unknown_then_seen()
    world.recover()
    assert not groups(world)
    assert world.waiting() == {"e1": Unsent.GIVEN_UP}
    world.create(an_event())
    assert world.waiting() == {"e1": Unsent.GIVEN_UP}


# The reader.


def test_mark_is_a_sign_of_life() -> None:
    world = World(sunset=timedelta(days=45))
    world.choose()
    world.see(at=NOW)
    reader = world.subscribers.get("ann")
    assert reader
    assert not isinstance(reader, Erased)
    assert reader.active_on == NOW.date()


def test_mark_of_an_erased_reader_is_not_kept() -> None:
    world = world_with(an_event())
    world.erase()
    assert world.see() is Outcome.ERASED
    assert not world.events.marks


def test_erasure_deletes_the_marks() -> None:
    world = world_with(an_event())
    world.see()
    world.erase()
    assert not world.events.marks


def test_erasure_at_any_moment_of_the_message_leaves_no_mark() -> None:
    for world, where in interleavings(lambda: world_with(), World.see, World.erase):
        assert not world.events.marks, where
        assert world.subscribers.seen == {}, where


def test_marks_of_a_returned_reader_are_kept() -> None:
    world = world_with()
    world.see(at=NOW - HOUR)
    world.clock.pass_time(minutes=10)
    world.choose(at=world.clock())
    world.see("post#post2", at=world.clock())
    world.erase(at=NOW)
    assert set(world.events.marks) == {("ann", "post#post2")}


# The cost.


def test_reader_without_marks_costs_no_read() -> None:
    world = world_with(an_event())
    world.see(user_id="cy")
    with world.calls() as called:
        world.send_digest()
    assert not [name for name in called if name.startswith("seen_marks")]
    assert called.count("events.skim") == 1


def test_reader_whose_marks_have_ended_costs_no_read() -> None:
    world = world_with()
    world.see()
    world.clock.pass_time(days=400)
    world.create(an_event(occurred_at=world.clock()))
    with world.calls() as called:
        world.send_digest()
    assert not [name for name in called if name.startswith("seen_marks")]


def test_mark_that_concerns_no_event_costs_one_read() -> None:
    world = world_with(NEW)
    world.see(at=SEEN_AT)
    with world.calls() as called:
        world.send_digest()
    assert called.count("seen_marks.of") == 1
    assert called.count("events.skim") == 1


def test_reader_is_marked_once_a_month() -> None:
    world = world_with()
    with world.calls() as called:
        for _ in range(60):
            world.clock.pass_time(days=1)
            world.see()
    assert called.count("subscribers.mark_seen") == 2


# What is said of it.


def test_receipt_says_seen() -> None:
    world = world_with(an_event())
    world.see()
    world.send_digest()
    assert receipt_of(world, "e1").state is State.SEEN


def test_explain_names_the_category_of_seen_events() -> None:
    world = world_with(an_event("e1"), an_event("e2"))
    world.see()
    world.send_digest()
    found = explained(world)
    assert [(each.category, each.count) for each in found.seen] == [("comment", 2)]
    assert not found.waiting
    assert any("Left out: 2 events of comment" in line for line in verdict(found))


def test_unavailable_marks_do_not_send_the_email() -> None:
    world = world_with(an_event())
    world.see()

    def fail() -> None:
        raise Unavailable("the marks")

    with pytest.raises(Unavailable), world.meanwhile("seen_marks.of", fail):
        world.send_digest()
    assert not groups(world)
    assert [run.status for run in readable(world.runs.of_user("ann"))] == [Status.PENDING]
