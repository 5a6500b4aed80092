"""Events that an operator withdrew are in no later email. Events after the withdrawal are sent."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from gazette.domain.delivery.run import Reason
from gazette.domain.delivery.signals import Policy, Uncertain
from gazette.domain.links import NEW_LINK
from gazette.domain.model import DAILY, Event, RunKey, StoredEvent
from gazette.domain.receipts.receipt import Because, State
from gazette.domain.scheduling.calendar import slot_of
from gazette.domain.scheduling.kinds import Unsent, immediate_schedule
from gazette.domain.stored import readable
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.window.briefs import stored_brief_of
from gazette.domain.withdrawing.withdrawals import Withdrawal, WithdrawalKind, Withdrawals
from gazette.domain.withdrawing.withdrawn import Withdrawn
from gazette.steps.api.reader import read_reader
from gazette.steps.delivery import windows
from gazette.steps.delivery.deliver import deliver
from gazette.steps.support.dry_run import dry_run
from gazette.steps.support.pending import read_pending
from gazette.steps.support.words.summary import verdict

from gazette_support.steps.withdrawals import WithdrawalContext, remove_withdrawal
from tests.builders import NOW, an_activity, an_event
from tests.explained import explained
from tests.receipts import receipt_of
from tests.services import reader_context
from tests.world import SETTLE_LAG, World, crashes, interleavings

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
THREAD = immediate_schedule("post#post1")
RHYTHMS = (Frequency.IMMEDIATE, Frequency.DAILY, Frequency.WEEKLY)

SPAM = an_event("spam", actor="Mallory", occurred_at=NOW - MINUTE)
FINE = an_event("fine", occurred_at=NOW)
PRIVATE = an_event("private", entity_id="post2", occurred_at=NOW - MINUTE)


def world_with(*events: Event, often: Frequency = Frequency.DAILY) -> World:
    world = World()
    world.choose(comment=often)
    world.create(*events)
    return world


def due(*events: Event, often: Frequency) -> World:
    """A world in which the run of these events is due, and its message is lost."""
    world = world_with(*events, often=often)
    world.clock.pass_time(minutes=2)
    if often is not Frequency.IMMEDIATE:
        schedule = world.schedules.rows["ann", often.value]
        world.clock.now = schedule.next_due_at + 2 * SETTLE_LAG
        world.fan_out(slot_of(schedule.next_due_at))
    world.generate_queue.sent.clear()
    return world


def work(world: World, withdrawals: Withdrawals | None = None) -> None:
    """Deliver every run that has not ended, with the list of `withdrawals`, or the current one."""
    context = world.delivery_context()
    if withdrawals is not None:
        decisions = world.decisions()._replace(withdrawals=withdrawals)
        context = replace(context, decisions=lambda: decisions)
    for run in list(world.runs.rows.values()):
        if not run.status.is_final:
            deliver(run.key, lambda: MINUTE, context=context)


def remove(world: World, kind: WithdrawalKind, of: str) -> None:
    context = WithdrawalContext(store=world.withdrawals, applies_for=HOUR, clock=world.clock)
    assert remove_withdrawal(kind, of, context=context)


def lines(world: World) -> list[str]:
    return [line for email in world.emails() for line in email.lines]


def reason_of(world: World, schedule: str = DAILY) -> Reason:
    runs = [run for run in readable(world.runs.of_user("ann")) if run.key.schedule == schedule]
    return runs[-1].reason


# The promise.


@pytest.mark.parametrize("often", RHYTHMS)
def test_events_of_a_withdrawn_actor_are_left_out(often: Frequency) -> None:
    world = world_with(SPAM, FINE, often=often)
    world.withdraw(actor="mallory")
    world.send_everything()
    assert lines(world) == ["post1: 1"]
    assert world.waiting()["spam"] == Unsent.EXCLUDED


@pytest.mark.parametrize("often", RHYTHMS)
def test_events_about_a_withdrawn_entity_are_left_out(often: Frequency) -> None:
    world = world_with(FINE, PRIVATE, often=often)
    world.withdraw(entity="post#post2")
    world.send_everything()
    assert lines(world) == ["post1: 1"]
    assert world.waiting()["private"] == Unsent.EXCLUDED


def test_events_that_came_through_a_withdrawn_entity_are_left_out() -> None:
    world = world_with()
    world.follow(entity="blog#b1", at=NOW - HOUR)
    activity = replace(an_activity(), parent="blog#b1")
    world.create(activity.event_for("ann"), PRIVATE)
    world.withdraw(entity="blog#b1")
    world.send_digest()
    assert lines(world) == ["post2: 1"]


def test_later_event_of_a_withdrawn_actor_is_sent() -> None:
    world = world_with(SPAM)
    world.withdraw(actor="mallory")
    world.clock.pass_time(seconds=1)
    world.create(replace(SPAM, id="later", occurred_at=world.clock()))
    world.send_digest()
    assert lines(world) == ["post1: 1"]
    assert world.waiting()["spam"] == Unsent.EXCLUDED


def test_event_at_the_moment_of_the_withdrawal_is_left_out() -> None:
    world = world_with(FINE)
    world.withdraw(actor="bo")
    assert world.withdrawals.current()[0].at == FINE.occurred_at
    world.send_digest()
    assert not lines(world)


def test_event_that_arrives_after_the_withdrawal_is_left_out() -> None:
    world = world_with()
    world.withdraw(actor="mallory")
    world.clock.pass_time(days=1)
    world.create(SPAM)
    world.send_everything()
    assert not lines(world)
    assert world.waiting() == {"spam": Unsent.EXCLUDED}


def test_critical_email_leaves_out_withdrawn_events() -> None:
    world = World(critical=frozenset({"comment"}))
    world.choose()
    world.create(SPAM)
    world.withdraw(actor="mallory")
    world.send_everything()
    assert not lines(world)
    assert world.waiting() == {"spam": Unsent.EXCLUDED}


def test_requested_link_is_sent_although_its_entity_was_withdrawn() -> None:
    world = world_with(an_event(category=NEW_LINK))
    world.withdraw(entity="post#post1")
    world.send_everything()
    assert len(world.emails()) == 1


def test_actor_and_entity_with_the_same_id_are_different() -> None:
    world = world_with(FINE)
    world.withdraw(entity="bo")
    world.withdraw(actor="post#post1")
    world.send_digest()
    assert lines(world) == ["post1: 1"]


def test_every_reader_is_concerned() -> None:
    world = world_with(SPAM)
    world.choose("cy", comment=Frequency.DAILY)
    world.create(replace(SPAM, user_id="cy"))
    world.withdraw(actor="mallory")
    world.send_digest(user_id="ann")
    world.send_digest(user_id="cy")
    assert not world.emails()


@pytest.mark.parametrize(("schedule", "often"), [(DAILY, RHYTHMS[1]), (THREAD, RHYTHMS[0])])
def test_run_of_withdrawn_events_is_skipped_with_the_reason(
    schedule: str, often: Frequency
) -> None:
    world = world_with(SPAM, often=often)
    world.withdraw(actor="mallory")
    world.send_everything()
    assert reason_of(world, schedule) is Reason.WITHDRAWN


def test_withdrawn_event_on_hold_is_left_out() -> None:
    world = world_with(SPAM)
    world.held_categories = lambda: {"comment"}
    world.withdraw(actor="mallory")
    world.send_digest()
    assert world.waiting() == {"spam": Unsent.EXCLUDED}


def test_withdrawn_event_that_was_seen_has_the_reason_withdrawn() -> None:
    world = world_with(SPAM)
    world.see(at=NOW)
    world.withdraw(actor="mallory")
    world.send_digest()
    assert reason_of(world) is Reason.WITHDRAWN


def test_withdrawn_events_are_counted_once() -> None:
    world = due(SPAM, replace(SPAM, id="spam2"), often=Frequency.DAILY)
    world.withdraw(actor="mallory")
    done = world.deliver(RunKey("ann", DAILY, 1))
    assert done
    assert (done.run.reason, done.unsent.withdrawn) == (Reason.WITHDRAWN, 2)
    assert (done.unsent.expired, done.unsent.lapsed, done.unsent.seen) == (0, 0, 0)


# Repetitions, amendments and the end of a withdrawal.


def test_repeated_event_is_left_out_again() -> None:
    world = world_with(SPAM)
    world.withdraw(actor="mallory")
    world.send_everything()
    world.create(SPAM)
    world.send_everything()
    assert not lines(world)
    assert world.waiting() == {"spam": Unsent.EXCLUDED}


def test_amendment_of_a_withdrawn_event_is_left_out_again() -> None:
    world = world_with(SPAM)
    world.withdraw(actor="mallory")
    world.send_everything()
    world.clock.pass_time(hours=1)
    world.create(replace(SPAM, excerpt="Buy!", amended_at=world.clock()))
    world.send_everything()
    assert not lines(world)
    assert world.waiting() == {"spam": Unsent.EXCLUDED}


def test_change_of_choices_does_not_bring_a_withdrawn_event_back() -> None:
    world = world_with(SPAM)
    world.withdraw(actor="mallory")
    world.send_digest()
    world.choose(comment=Frequency.WEEKLY)
    world.choose(comment=Frequency.IMMEDIATE)
    assert world.waiting() == {"spam": Unsent.EXCLUDED}


def test_removal_of_a_withdrawal_brings_back_nothing_unless_published_again() -> None:
    world = world_with(SPAM)
    world.withdraw(actor="mallory")
    world.send_digest()
    remove(world, WithdrawalKind.ACTOR, "mallory")
    world.send_everything()
    assert not lines(world)
    world.create(SPAM)
    stored = world.events.get("ann", "spam")
    assert isinstance(stored, StoredEvent)
    assert stored.withdrawn_at is None
    world.send_digest()
    assert lines(world) == ["post1: 1"]


def test_event_that_waits_when_the_withdrawal_is_removed_is_sent() -> None:
    world = world_with(SPAM)
    world.withdraw(actor="mallory")
    remove(world, WithdrawalKind.ACTOR, "mallory")
    world.send_digest()
    assert lines(world) == ["post1: 1"]


# Workers with lists of different ages, crashes, and withdrawals during a delivery.


@pytest.mark.parametrize("often", [Frequency.IMMEDIATE, Frequency.DAILY])
def test_worker_with_an_older_list_sends_nothing_that_another_left_out(often: Frequency) -> None:
    """An older list may send the event once. It never sends what is stored as withdrawn."""
    sent: set[bool] = set()
    for old_first in (True, False):

        def make() -> World:
            world = due(SPAM, FINE, often=often)
            world.withdraw(actor="mallory")
            return world

        one: Callable[[World], None] = lambda world: work(world, ())  # noqa: E731
        other: Callable[[World], None] = work
        first, second = (one, other) if old_first else (other, one)
        for world, where in interleavings(make, first, second):
            work(world)
            left_out = world.waiting()["spam"] == Unsent.EXCLUDED
            assert lines(world) == [f"post1: {1 if left_out else 2}"], where
            sent.add(left_out)
    assert sent == {True, False}


@pytest.mark.parametrize("often", [Frequency.IMMEDIATE, Frequency.DAILY])
def test_withdrawal_before_the_last_check_of_a_delivery_stops_the_event(often: Frequency) -> None:
    """With a current list, only a withdrawal after the check before the claim is too late."""
    sent: list[bool] = []

    def withdraw(world: World) -> None:
        world.withdraw(actor="mallory")

    for world, _ in interleavings(lambda: due(SPAM, FINE, often=often), work, withdraw):
        sent.append(lines(world) == ["post1: 2"])
    assert sent == sorted(sent)
    assert sent.index(True) >= len(sent) - 6
    assert not sent[0]


@pytest.mark.parametrize("often", [Frequency.IMMEDIATE, Frequency.DAILY])
def test_crash_at_any_moment_leaves_the_withdrawn_event_out(often: Frequency) -> None:
    def make() -> World:
        world = due(SPAM, FINE, often=often)
        world.withdraw(actor="mallory")
        return world

    for world, where in crashes(make, work):
        world.recover()
        assert world.waiting()["spam"] == Unsent.EXCLUDED, where
        assert set(lines(world)) == {"post1: 1"}, where


def test_crash_keeps_the_reason_withdrawn() -> None:
    def make() -> World:
        world = due(SPAM, often=Frequency.DAILY)
        world.withdraw(actor="mallory")
        return world

    for world, where in crashes(make, work):
        world.recover()
        assert world.runs.rows[RunKey("ann", DAILY, 1)].reason is Reason.WITHDRAWN, where


def test_many_withdrawn_events_are_left_out_by_several_messages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(windows, "MOST_REMOVED", 3)
    world = due(*(replace(SPAM, id=f"e{number}") for number in range(10)), often=Frequency.DAILY)
    world.withdraw(actor="mallory")
    for _ in range(4):
        work(world)
    assert set(world.waiting().values()) == {Unsent.EXCLUDED}
    assert reason_of(world) is Reason.WITHDRAWN


@pytest.mark.parametrize("policy", [Policy.RESEND, Policy.CARRY_OVER])
def test_withdrawn_event_that_may_have_been_sent_is_given_up(policy: Policy) -> None:
    world = world_with(SPAM)
    world.policy = policy
    world.mailer.script.append(Uncertain(1, "ReadTimeoutError"))
    world.send_digest()
    world.withdraw(actor="mallory")
    world.recover()
    assert not lines(world)
    assert world.waiting() == {"spam": Unsent.GIVEN_UP}
    remove(world, WithdrawalKind.ACTOR, "mallory")
    world.create(SPAM)
    assert world.waiting() == {"spam": Unsent.GIVEN_UP}


# Support.


@pytest.mark.parametrize("often", [Frequency.IMMEDIATE, Frequency.DAILY])
def test_receipt_and_explanation_state_the_withdrawal(often: Frequency) -> None:
    world = world_with(SPAM, often=often)
    withdrawal = world.withdraw(actor="mallory")
    before = receipt_of(world, "spam")
    assert before.because is Because.WITHDRAWN
    assert before.next_digest is None
    for after in (False, True):
        if after:
            world.send_everything()
            answer = receipt_of(world, "spam")
            assert (answer.state, answer.at) == (State.WITHDRAWN, withdrawal.at)
        found = explained(world)
        assert [(each.category, each.count) for each in found.withdrawn] == [("comment", 1)]
        assert not found.waiting
        assert "gazette withdraw list" in " ".join(verdict(found))


def test_preview_api_and_forecast_leave_withdrawn_events_out() -> None:
    world = due(SPAM, often=Frequency.DAILY)
    world.create(FINE)
    world.withdraw(actor="mallory")
    pending = read_pending(
        "ann",
        subscribers=world.subscribers,
        runs=world.runs,
        events=world.events,
        withdrawals=world.withdrawals.current,
        clock=world.clock,
        critical=world.critical,
    )
    assert pending
    assert [each.id for some in pending.by_schedule.values() for each in some] == ["fine"]
    state = read_reader("ann", context=reader_context(world))
    assert state
    assert [each.events for each in state.waiting] == [1]
    forecast = dry_run(RunKey("ann", DAILY, 1), context=world.dry_run_context())
    assert forecast
    assert forecast.delivery.run.reason is Reason.WITHDRAWN


def test_only_withdrawn_entities_require_decoding_events_of_followers() -> None:
    def decode() -> StoredEvent:
        raise AssertionError

    event = an_event(via=("post#post1",))
    stored = stored_brief_of(StoredEvent(event, DAILY, NOW, NOW + HOUR))
    followed = stored._replace(decode=decode)
    assert not Withdrawn((), NOW)
    actor = Withdrawal(WithdrawalKind.ACTOR, "mallory", NOW, NOW + HOUR)
    assert Withdrawn((actor,), NOW).at_of(followed) is None
    entity = Withdrawal(WithdrawalKind.ENTITY, "post#post1", NOW, NOW + HOUR)
    assert Withdrawn((entity,), NOW).at_of(stored) == NOW
