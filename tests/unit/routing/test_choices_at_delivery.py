"""A choice need only be written: whatever run is prepared later sends nothing that it mutes."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from gazette.domain.delivery.run import OUTDATED_FOR, Reason, Status
from gazette.domain.errors import NotYet, Unavailable
from gazette.domain.model import DAILY, RunKey, StoredEvent
from gazette.domain.scheduling.kinds import immediate_schedule
from gazette.domain.subscribers.choices import NOTHING
from gazette.domain.subscribers.following import FollowState
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.subscriber import Subscriber

from tests.builders import NOW, a_claimed_run, a_window, an_event
from tests.interruptions import Moments, die
from tests.world import World, crashes, interleavings

DAY = timedelta(days=1)
THREAD = immediate_schedule("post#post1")


def at_once() -> World:
    """A comment waits for its email, which goes out at once; Ann follows its post."""
    world = World()
    world.choose(at=NOW - DAY, comment=Frequency.IMMEDIATE)
    world.follow(at=NOW - DAY)
    world.create(an_event(via=("post#post1",), occurred_at=world.clock()))
    world.clock.pass_time(minutes=1)
    return world


def mute(world: World) -> None:
    world.choose(comment=Frequency.NEVER)


def unfollow(world: World) -> None:
    world.follow(following=False)


def with_a_past(threads: int) -> World:
    """Ann has had an email from each of so many threads."""
    world = at_once()
    sent = a_claimed_run(status=Status.SENT, reason=Reason.ACCEPTED, window=a_window())
    for number in range(threads):
        key = RunKey("ann", f"now{number:020d}", 1)
        world.runs.rows[key] = replace(sent, key=key)
    return world


@pytest.mark.parametrize(
    "act",
    [
        mute,
        unfollow,
        lambda world: world.choose(comment=Frequency.IMMEDIATE, like=Frequency.NEVER),
        World.unsubscribe,
        lambda world: world.deliver(next(iter(world.runs.rows))),
    ],
    ids=["mute", "unfollow", "nothing waits", "leave", "generate"],
)
def test_twelve_thousand_ended_threads_add_no_calls(
    act: Callable[[World], object],
) -> None:
    """Not even a query: a reader of 60 threads a day, over 200 days."""
    counts = []
    for threads in (10, 12_000):
        world = with_a_past(threads)
        with world.calls() as calls:
            act(world)
        counts.append(len(calls))
    assert counts[1] == counts[0] <= 30


def only_run(world: World, *, of: str = THREAD) -> RunKey:
    (key,) = (key for key in world.runs.rows if key.schedule == of)
    return key


@pytest.mark.parametrize("act", [mute, unfollow])
def test_trace_n_event_muted_in_a_thread_is_withdrawn_at_preparation(
    act: Callable[[World], object],
) -> None:
    world = at_once()
    act(world)
    assert world.waiting() == {"e1": THREAD}, "nobody looked for it"
    run = world.deliver(only_run(world))
    assert run
    assert run.run.reason is Reason.EMPTY
    assert not world.events.rows
    assert not world.mailer.calls


@pytest.mark.parametrize("act", [mute, unfollow])
def test_trace_n_event_muted_before_the_last_look_is_not_sent(
    act: Callable[[World], object],
) -> None:
    """Whatever the worker was about to do when the reader muted it."""
    later = []
    for world, where in interleavings(at_once, lambda world: world.deliver(only_run(world)), act):
        if world.mailer.calls:
            later.append(where.partition(",")[0])
    assert (
        later
        == [
            "before suppressions.holds",
            "before mailer.send",
            "before runs.swap",
            "before immediate_rate_limiter.record",
        ][: len(later)]
    )
    assert "before runs.swap" in later


@pytest.mark.parametrize("act", [mute, unfollow])
def test_trace_n_crash_while_rerouting_neither_sends_nor_loses_events(
    act: Callable[[World], object],
) -> None:
    def make() -> World:
        world = at_once()
        act(world)
        return world

    for world, where in crashes(make, lambda world: world.deliver(only_run(world))):
        world.send_everything()
        assert not world.mailer.calls, where


def test_trace_n_event_moved_to_a_digest_is_sent_after_any_crash() -> None:
    """What it moves to is armed before, because its message finds the thread empty afterwards."""

    def make() -> World:
        world = at_once()
        world.choose(comment=Frequency.DAILY)
        return world

    for world, where in crashes(make, lambda world: world.deliver(only_run(world))):
        world.send_everything()
        assert [email.schedule for email in world.emails()] == [DAILY], where


def test_trace_n_second_choice_made_during_rerouting_takes_effect() -> None:
    """The worker moves to the daily digest what is muted by then, and dies or goes on."""

    def make() -> World:
        world = at_once()
        world.choose(comment=Frequency.DAILY)
        world.clock.pass_time(seconds=1)
        return world

    def deliver(world: World) -> None:
        world.deliver(only_run(world))

    for world, where in interleavings(make, deliver, mute):
        world.send_everything()
        assert not world.emails(), where

    for number in range(1, 200):
        world = make()
        died: list[bool] = []

        def mute_and_die(world: World = world, died: list[bool] = died) -> None:
            mute(world)
            died.append(True)
            die()

        try:
            with world.watched(Moments(number, mute_and_die).around):
                deliver(world)
        except Unavailable:
            pass
        if not died:
            break
        world.send_everything()
        assert not world.emails(), number
    assert number > 10


def test_trace_n_event_stored_by_a_stalled_writer_after_muting_is_not_sent() -> None:
    """It had read the choices before, and dies before it reads them again."""
    world = World()
    world.choose(at=NOW - DAY, comment=Frequency.IMMEDIATE)

    def stall(name: str, call: Callable[[], object]) -> object:
        if name == "events.store":
            mute(world)
            world.clock.pass_time(seconds=100)
        if name == "subscribers.get_many" and world.events.rows:
            raise Unavailable("the worker died")
        return call()

    with world.watched(stall), pytest.raises(Unavailable):
        world.create(an_event(occurred_at=NOW))
    assert world.waiting() == {"e1": THREAD}
    world.send_everything()
    assert not world.emails()


def test_event_stored_well_after_a_choice_is_not_rechecked() -> None:
    """The follows are read in the rare case alone: an email costs no more than before."""
    world = at_once()
    world.choose(comment=Frequency.IMMEDIATE, like=Frequency.NEVER)
    world.clock.pass_time(minutes=5)
    world.create(an_event("late", entity_id="post2", occurred_at=world.clock()))
    world.clock.pass_time(minutes=1)
    with world.calls() as calls:
        world.deliver(only_run(world, of=immediate_schedule("post#post2")))
    assert "follows.get_many" not in calls
    assert "subscribers.get_many" not in calls
    with world.calls() as calls:
        world.deliver(only_run(world))
    assert calls.count("follows.get_many") == 1
    assert len(world.emails()) == 2


def test_window_is_rechecked_up_to_the_last_outdated_event() -> None:
    world = at_once()
    reader = world.subscribers.rows["ann"]
    stored = world.events.rows["ann", "e1"]
    assert isinstance(reader, Subscriber)
    assert isinstance(stored, StoredEvent)
    for late, is_looked_at in ((OUTDATED_FOR, True), (OUTDATED_FOR + timedelta(seconds=1), False)):
        world = at_once()
        world.clock.pass_time(minutes=10)
        since = stored.stored_at - late
        world.subscribers.mark_rerouted("ann", since)
        with world.calls() as calls:
            world.deliver(only_run(world))
        assert ("subscribers.get_many" in calls) == is_looked_at


def test_muted_event_that_may_have_been_sent_stays_with_its_run() -> None:
    """Rule 15: it would not be known any more in how many emails it was."""
    world = at_once()
    key = only_run(world)
    window = a_window(until=world.clock())
    world.runs.rows[key] = replace(
        world.runs.rows[key],
        status=Status.RETRYING,
        reason=Reason.POLICY_RESEND,
        attempt=1,
        uncertain=frozenset({1}),
        resent=True,
        window=window,
    )
    stored = world.events.rows["ann", "e1"]
    assert isinstance(stored, StoredEvent)
    assert window.holds(stored.stored_at)
    mute(world)
    world.clock.pass_time(minutes=1)
    world.deliver(key)
    assert world.waiting() == {"e1": THREAD}


def test_rerouting_that_runs_out_of_time_continues_with_the_next_receive() -> None:
    world = at_once()
    world.create(*(an_event(f"more{number}", occurred_at=world.clock()) for number in range(600)))
    world.clock.pass_time(minutes=5)
    mute(world)
    key, receives = min(world.runs.rows, key=lambda key: key.sequence), 0
    while world.waiting() and receives < 9:
        left = iter([timedelta(minutes=1)])
        world.time_left = lambda left=left: next(left, timedelta(0))  # type: ignore[misc]
        receives += 1
        try:
            world.deliver(key)
        except NotYet:
            continue
    assert receives == 7, "a transaction each"
    assert not world.mailer.calls


def test_saved_page_choice_applies_to_every_later_email() -> None:
    for world, where in interleavings(
        at_once,
        lambda world: world.deliver(only_run(world)),
        lambda world: world.save(NOTHING, ("post#post1", FollowState(following=False))),
    ):
        is_late = where.partition(",")[0] in {
            "before suppressions.holds",
            "before mailer.send",
            "before runs.swap",
        }
        assert not world.mailer.calls or is_late, where
