"""Immediate email: one email for the events on an entity within the collapse window."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from operator import itemgetter
from random import Random

import pytest
from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.delivery.signals import RefusedAccount, RefusedForNow, SendOutcome, Uncertain
from gazette.domain.errors import NotYet
from gazette.domain.feedback.reputation import CategoryHold
from gazette.domain.model import RunKey, Window
from gazette.domain.outcome import Outcome
from gazette.domain.scheduling.kinds import immediate_schedule
from gazette.domain.subscribers.frequency import Frequency
from hypothesis import given, settings
from hypothesis import strategies as st

from gazette_cdk.stage import Stage
from tests.builders import NOW, an_event
from tests.world import COLLAPSE, HOLD, SETTLE_LAG, World, crashes, events_in, interleavings

POST1 = immediate_schedule("post#post1")
FIRST = RunKey("ann", POST1, int(NOW.timestamp()))
A_SECOND = timedelta(seconds=1)
DAY = timedelta(days=1)


def a_world() -> World:
    """Ann wants comments and mentions at once, and everything else once a day."""
    world = World()
    world.choose(at=NOW - DAY, comment=Frequency.IMMEDIATE, mention=Frequency.IMMEDIATE)
    return world


@pytest.fixture
def world() -> World:
    return a_world()


def post(world: World, event_id: str = "e1", **fields: str) -> None:
    """Something happens on post1 now."""
    world.create(an_event(event_id, occurred_at=world.clock(), **fields))  # type: ignore[arg-type]


def runs(world: World) -> list[Run]:
    """The runs for post1, in order."""
    return [
        world.runs.rows[key]
        for key in sorted(world.runs.rows, key=lambda key: key.sequence)
        if key.schedule == POST1
    ]


def lines(world: World) -> list[tuple[str, ...]]:
    """What each email says."""
    return [email.lines for email in world.emails()]


def test_immediate_email_takes_less_than_a_minute_at_default_limits() -> None:
    stage = Stage(name="prod", sender="", list_id="")
    queued_for = stage.collapse + stage.settle_lag + stage.clock_skew + A_SECOND
    assert queued_for + stage.send_timeout <= timedelta(minutes=1)
    assert stage.collapse == COLLAPSE
    assert stage.settle_lag + stage.clock_skew + A_SECOND == HOLD


def test_event_starts_a_run_with_a_delayed_message(world: World) -> None:
    post(world)
    run = world.runs.rows[FIRST]
    assert (run.status, run.due_at) == (Status.PENDING, NOW + COLLAPSE)
    assert run.check_at > run.due_at + HOLD
    [queued] = world.generate_queue.sent
    assert (queued.key, queued.delay) == (FIRST, COLLAPSE + HOLD)


def test_immediate_email_is_sent_when_its_message_becomes_visible(world: World) -> None:
    post(world)
    [run] = world.deliver_queued()
    assert run
    assert (run.status, run.key) == (Status.SENT, FIRST)
    assert world.clock() == NOW + COLLAPSE + HOLD
    assert lines(world) == [("post1: 1",)]
    assert world.emails()[0].schedule == POST1


@pytest.mark.parametrize("early", [A_SECOND, HOLD, COLLAPSE, COLLAPSE + HOLD])
def test_run_is_not_sent_while_collecting(world: World, early: timedelta) -> None:
    post(world)
    world.clock.now = NOW + COLLAPSE + HOLD - early - timedelta(seconds=6)
    world.generate_queue.sent.clear()
    run = world.generate(FIRST)
    assert run == world.runs.rows[FIRST]
    assert run.status is Status.PENDING
    assert not world.mailer.calls
    [queued] = world.generate_queue.sent
    assert world.clock() + queued.delay == run.due_at + SETTLE_LAG


def test_events_on_an_entity_within_the_collapse_window_share_an_email(world: World) -> None:
    post(world, "e1")
    world.clock.now += COLLAPSE / 2
    post(world, "e2", actor="Cy")
    world.clock.now = NOW + COLLAPSE
    post(world, "e3", category="mention")
    world.send_everything()
    assert lines(world) == [("post1: 1", "post1: 2")], "the mention leads"
    assert [run.key for run in runs(world)] == [FIRST]


def test_events_on_different_entities_get_separate_emails(world: World) -> None:
    world.choose("cy", at=NOW - DAY, comment=Frequency.IMMEDIATE)
    post(world, "e1")
    post(world, "e2", entity_id="post2")
    post(world, "e3", user_id="cy")
    world.send_everything()
    assert sorted((email.user_id, email.lines) for email in world.emails()) == [
        ("ann", ("post1: 1",)),
        ("ann", ("post2: 1",)),
        ("cy", ("post1: 1",)),
    ]


def test_event_after_the_collapse_window_starts_another_run(world: World) -> None:
    post(world, "e1")
    world.clock.now = NOW + COLLAPSE + timedelta(microseconds=1)
    post(world, "e2")
    assert [run.key.sequence - FIRST.sequence for run in runs(world)] == [0, 20]
    world.send_everything()
    assert sum(int(line[-1]) for email in lines(world) for line in email) == 2


def test_next_run_is_empty_if_a_late_run_sent_its_events(world: World) -> None:
    """The window of the first reached over the event that had opened the second."""
    post(world, "e1")
    world.clock.now = NOW + COLLAPSE + A_SECOND
    post(world, "e2")
    world.send_everything()
    assert lines(world) == [("post1: 2",)]
    assert [run.status for run in runs(world)] == [Status.SENT, Status.SKIPPED]


def test_later_of_two_runs_includes_the_events_of_the_earlier_run(world: World) -> None:
    post(world, "e1")
    world.clock.now = NOW + COLLAPSE + A_SECOND
    post(world, "e2")
    world.generate_queue.sent.reverse()
    world.send_everything()
    assert lines(world) == [("post1: 2",)]
    first, second = runs(world)
    assert (first.status, first.reason) == (Status.CANCELLED, Reason.SUPERSEDED)
    assert second.status is Status.SENT


@given(
    st.lists(st.integers(0, 90_000), min_size=1, max_size=12).map(sorted),
    st.randoms(use_true_random=False),
)
@settings(max_examples=100, deadline=None)
def test_events_are_sent_once_and_collapse_windows_do_not_overlap(
    moments: list[int], random: Random
) -> None:
    """Moments in milliseconds; the queue hands out its messages in any order."""
    world = a_world()
    for number, moment in enumerate(moments):
        world.clock.now = NOW + timedelta(milliseconds=moment)
        post(world, f"e{number}")
    due = [run.due_at for run in world.runs.rows.values()]
    assert all(later - earlier > COLLAPSE for earlier, later in pairwise(sorted(due)))
    random.shuffle(world.generate_queue.sent)
    world.send_everything()
    assert events_in(line for email in lines(world) for line in email) == len(moments)
    assert all(run.status.is_final for run in world.runs.rows.values())


@given(st.lists(st.integers(0, 90_000), min_size=1, max_size=8).map(sorted))
@settings(max_examples=100, deadline=None)
def test_first_events_are_delivered_within_a_minute_and_others_in_eleven(
    moments: list[int],
) -> None:
    """The second email about an entity waits for ten minutes after the first one."""
    world = a_world()
    sent_at: list[datetime] = []

    def let_pass(until: datetime | None) -> None:
        while world.generate_queue.sent:
            first = min(world.generate_queue.sent, key=lambda queued: visible[queued.key])
            if until and visible[first.key] > until:
                return
            world.generate_queue.sent.remove(first)
            world.clock.now = max(world.clock.now, visible[first.key])
            world.deliver(first.key)
            sent_at.append(world.clock())

    visible: dict[RunKey, datetime] = {}
    stored: list[datetime] = []
    for number, moment in enumerate(moments):
        let_pass(NOW + timedelta(milliseconds=moment))
        world.clock.now = max(world.clock.now, NOW + timedelta(milliseconds=moment))
        post(world, f"e{number}")
        stored.append(world.clock())
        for queued in world.generate_queue.sent:
            visible.setdefault(queued.key, world.clock() + queued.delay)
    let_pass(None)
    for instant in stored:
        took = next(run for run in world.runs.rows.values() if _took(run, instant))
        is_first = instant <= stored[0] + COLLAPSE
        assert visible[took.key] - instant <= timedelta(minutes=1 if is_first else 11)


def _took(run: Run, instant: datetime) -> bool:
    window = run.window
    return run.status is Status.SENT and bool(window and window.since < instant <= window.until)


# What comes again.


def test_trace_q_redelivered_event_queues_its_open_run_again(world: World) -> None:
    """Rule 16: a crash between row and message must not make the redelivery change nothing."""
    event = an_event()
    world.create(event)
    world.generate_queue.sent.clear()
    world.clock.pass_time(seconds=30)
    assert world.create(event) == [Outcome.DUPLICATE]
    [queued] = world.generate_queue.sent
    assert (queued.key, queued.delay) == (FIRST, COLLAPSE + HOLD - timedelta(seconds=30))
    world.clock.pass_time(minutes=30)
    world.create(event)
    assert world.generate_queue.sent[1].delay == timedelta(0)
    assert list(world.runs.rows) == [FIRST]


@pytest.mark.parametrize("after", [timedelta(0), timedelta(minutes=1), 3 * DAY])
def test_duplicate_of_a_sent_event_sends_no_email(world: World, after: timedelta) -> None:
    event = an_event()
    world.create(event)
    world.deliver_queued()
    world.clock.now += after
    assert world.create(event) == [Outcome.DUPLICATE]
    assert not world.generate_queue.sent
    world.send_everything()
    assert lines(world) == [("post1: 1",)]


def test_event_sent_immediately_is_in_no_digest(world: World) -> None:
    post(world)
    world.deliver_queued()
    world.choose(comment=Frequency.DAILY)
    world.create(an_event())
    world.send_digest()
    assert lines(world) == [("post1: 1",)]


def test_message_of_a_sent_run_sends_no_email(world: World) -> None:
    post(world)
    queued = world.generate_queue.sent * 3
    world.generate_queue.sent = queued
    world.deliver_queued()
    assert world.mailer.calls == 1


@pytest.mark.parametrize("refusal", [RefusedForNow(1, "slow"), RefusedAccount(1, "paused")])
def test_retry_sends_an_identical_email(world: World, refusal: SendOutcome) -> None:
    post(world, "e1")
    world.mailer.script.append(refusal)
    assert [run.status for run in world.deliver_queued() if run] == [Status.RETRYING]
    world.clock.pass_time(minutes=5)
    post(world, "e2")
    world.deliver(FIRST)
    assert lines(world) == [("post1: 1",)]
    world.send_everything()
    assert lines(world) == [("post1: 1",), ("post1: 1",)]


def test_uncertain_send_is_not_repeated_by_the_next_event(world: World) -> None:
    post(world, "e1")
    world.mailer.script.append(Uncertain(1, "read timeout"))
    world.deliver_queued()
    world.clock.pass_time(minutes=5)
    post(world, "e2")
    world.deliver_queued()
    assert world.mailer.calls == 1
    assert world.runs.rows[FIRST].status is Status.UNKNOWN


def test_two_concurrent_workers_send_once() -> None:
    def make() -> World:
        world = a_world()
        post(world)
        world.clock.now += COLLAPSE + HOLD
        return world

    def other(world: World) -> None:
        try:
            world.deliver(FIRST)
        except NotYet:
            return

    for world, where in interleavings(make, lambda world: world.deliver(FIRST), other):
        assert world.mailer.calls == 1, where
        assert world.runs.rows[FIRST].status is Status.SENT, where


def test_two_events_stored_concurrently_are_each_sent_once() -> None:
    """Each of the two may be the first to see no run."""
    second = an_event("e2")
    for world, where in interleavings(
        a_world, lambda world: world.create(an_event()), lambda world: world.create(second)
    ):
        world.send_everything()
        assert sum(int(line[-1]) for email in lines(world) for line in email) == 2, where


def test_event_stored_during_the_delivery_is_sent_once() -> None:
    def make() -> World:
        world = a_world()
        post(world)
        world.clock.now += COLLAPSE + HOLD
        return world

    for world, where in interleavings(
        make,
        lambda world: world.deliver(next(iter(world.runs.rows))),
        lambda world: post(world, "e2"),
    ):
        world.send_everything()
        assert lines(world) == [("post1: 1",), ("post1: 1",)], where


# Readers who do not want it any more.


@pytest.mark.parametrize(
    ("stop", "reason"),
    [
        (lambda world: world.choose(comment=Frequency.NEVER), Reason.EMPTY),
        (World.unsubscribe, Reason.UNSUBSCRIBED),
        (World.erase, Reason.EMPTY),
    ],
    ids=["muted", "unsubscribed", "erased"],
)
def test_reader_unsubscribed_within_the_minute_gets_no_email(
    world: World, stop: Callable[[World], object], reason: Reason
) -> None:
    post(world)
    world.clock.pass_time(seconds=5)
    stop(world)
    world.send_everything()
    assert not world.mailer.calls
    assert world.runs.rows[FIRST].reason is reason


def test_switch_to_a_digest_within_the_minute_moves_the_event(world: World) -> None:
    post(world)
    world.clock.pass_time(seconds=5)
    world.choose(comment=Frequency.DAILY)
    world.send_everything()
    assert [email.schedule for email in world.emails()] == ["daily"]


def test_event_after_a_quick_erasure_and_return_is_sent(world: World) -> None:
    """The run that collected was cancelled before its time: it takes nothing any more."""
    post(world, "e1")
    world.clock.pass_time(seconds=5)
    world.erase()
    world.clock.pass_time(seconds=5)
    world.choose(comment=Frequency.IMMEDIATE)
    post(world, "e2")
    world.send_everything()
    assert lines(world) == [("post1: 1",)]


def test_next_run_sends_the_events_of_a_failed_run(world: World) -> None:
    post(world, "e1")
    world.deliver_queued()
    run = world.runs.rows[FIRST]
    world.runs.rows[FIRST] = replace(run, status=Status.FAILED, reason=Reason.REFUSED_FOR_GOOD)
    post(world, "e2")
    world.deliver_queued()
    assert lines(world)[1:] == [("post1: 2",)]


def test_crashed_delivery_is_never_repeated() -> None:
    """Whether the provider was called decides: not at all, or once."""

    def make() -> World:
        world = a_world()
        post(world)
        world.clock.now += COLLAPSE + HOLD
        return world

    for world, where in crashes(make, lambda world: world.deliver(FIRST)):
        world.clock.pass_time(minutes=5)
        world.deliver_queued()
        calls = world.mailer.calls
        if world.runs.rows[FIRST].status is Status.SENT:
            assert calls == 1, where
        else:
            assert world.runs.rows[FIRST].status is Status.UNKNOWN, where
            assert calls <= 1, where


def behind_a_sent_run() -> World:
    """A run whose event lies behind the window of a later run that was sent."""
    world = World()
    world.choose(at=NOW - DAY, comment=Frequency.IMMEDIATE)
    world.create(an_event("e1", entity_id="post1", occurred_at=world.clock()))
    (run,) = world.runs.rows.values()
    world.generate_queue.sent.clear()
    later = replace(
        run,
        key=replace(run.key, sequence=run.key.sequence + 30),
        status=Status.SENT,
        reason=Reason.ACCEPTED,
        attempt=1,
        window=Window(NOW - DAY, world.clock() - A_SECOND),
    )
    world.runs.create(later)
    world.clock.pass_time(minutes=2)
    return world


def test_crash_while_starting_the_next_run_loses_no_events() -> None:
    def earlier(world: World) -> RunKey:
        return min(world.runs.rows, key=lambda key: key.sequence)

    for world, where in crashes(behind_a_sent_run, lambda world: world.generate(earlier(world))):
        world.generate(earlier(world))
        for _ in range(4):
            world.clock.pass_time(hours=2)
            world.sweep()
            world.deliver_queued()
        assert [email.lines for email in world.emails()] == [("post1: 1",)], where


def stop_sending(world: World) -> None:
    world.immediate_rate_limiter.open_by_hand("a person stopped it", world.clock())


def resume_sending(world: World) -> None:
    world.immediate_rate_limiter.close_by_hand()


def hold_the_category(world: World) -> None:
    world.category_holds.add(CategoryHold(category="comment", why="bounces", since=world.clock()))


def release_the_category(world: World) -> None:
    world.category_holds.release("comment")


class Visible:
    """The messages of runs, each worked off when it becomes visible."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._waiting: list[tuple[datetime, RunKey]] = []

    def pass_time(self, **units: float) -> None:
        world = self._world
        until = world.clock() + timedelta(**units)
        while True:
            for queue in (world.generate_queue, world.resend_queue):
                self._waiting += [(world.clock() + each.delay, each.key) for each in queue.sent]
                queue.sent = []
            first = min(self._waiting, default=None, key=itemgetter(0))
            if first is None or first[0] > until:
                world.clock.now = until
                return
            self._waiting.remove(first)
            world.clock.now = max(first[0], world.clock.now)
            world.generate(first[1])


@pytest.mark.parametrize(
    ("pause", "resume"),
    [(stop_sending, resume_sending), (hold_the_category, release_the_category)],
)
def test_thread_of_a_stopped_stream_has_few_waiting_runs(
    world: World, pause: Callable[[World], None], resume: Callable[[World], None]
) -> None:
    """Each event takes the calls of the first, and none is lost."""
    pause(world)
    visible = Visible(world)
    number = 60
    for each in range(number):
        with world.calls() as called:
            post(world, f"e{each}")
        assert len(called) <= 6
        assert len([run for run in runs(world) if run.is_open]) <= 8
        visible.pass_time(seconds=21)
    assert not lines(world)
    resume(world)
    visible.pass_time(hours=1)
    assert sum(events_in(email) for email in lines(world)) == number
    assert len(lines(world)) <= 8


def test_thread_with_late_messages_has_few_waiting_runs(world: World) -> None:
    for each in range(30):
        with world.calls() as called:
            post(world, f"e{each}")
        assert len(called) <= 6
        world.clock.pass_time(minutes=61)
    assert len(runs(world)) == 8
    world.send_everything()
    assert sum(events_in(email) for email in lines(world)) == 30


def test_event_does_not_join_a_claimed_run(world: World) -> None:
    """Its window is fixed, so it would not have the event."""
    for each in range(9):
        post(world, f"e{each}")
        world.clock.pass_time(minutes=61)
    *_, newest = runs(world)
    window = Window(NOW, newest.due_at)
    refused = replace(newest, status=Status.RETRYING, attempt=1, window=window)
    world.runs.rows[newest.key] = refused
    post(world, "late")
    assert world.runs.rows[newest.key] == refused
    assert runs(world)[-1] != refused
    world.send_everything()
    assert sum(events_in(email) for email in lines(world)) == 10


def test_worker_cannot_claim_a_run_read_before_an_event_joined() -> None:
    """Whatever the worker has done by then: the event is sent, and nothing is sent twice."""

    def many_wait() -> World:
        world = a_world()
        for each in range(8):
            post(world, f"e{each}")
            world.clock.pass_time(minutes=61)
        newest = runs(world)[-1]
        swept = replace(newest, check_at=newest.check_at + DAY)
        world.runs.rows[newest.key] = swept
        return world

    def deliver_newest(world: World) -> None:
        world.generate(runs(world)[-1].key)

    for world, where in interleavings(many_wait, deliver_newest, lambda world: post(world, "late")):
        world.send_everything()
        assert sum(events_in(email) for email in lines(world)) == 9, where
