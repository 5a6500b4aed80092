"""Many immediate runs of one thread wait when the reader chooses less, or mutes it.

A choice leaves threads to their runs. An event that is put again leaves at once, whatever waits.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import timedelta

import pytest
from gazette.domain.commands import CreateActivity
from gazette.domain.delivery.run import Reason, Run, Status, sent_until
from gazette.domain.delivery.signals import Uncertain
from gazette.domain.errors import NotYet
from gazette.domain.identity import latest_run
from gazette.domain.model import DAILY, RunKey, StoredEvent
from gazette.domain.scheduling.growing import Wait
from gazette.domain.scheduling.kinds import immediate_schedule
from gazette.domain.subscribers.frequency import Frequency
from gazette.steps.routing import immediate

from tests.builders import NOW, an_activity
from tests.world import COLLAPSE, World, crashes, interleavings

POST1 = immediate_schedule("post#post1")
MANY = 130
"""More than the hundred items of a transaction."""

SOME = 12
"""Just more than are left open when something leaves."""

Act = Callable[[World], object]


@contextmanager
def many_may_wait() -> Iterator[None]:
    """As in versions before, in which no event joined a run, and no run waited for longer."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(immediate, "_WAITING", MANY + 1)
        patch.setattr(immediate, "wait_after", lambda *given: Wait(0, given[-1]))
        yield


def waiting(number: int) -> World:
    """Ann follows post1, and wants everything at once; so many runs of it wait, each with a comment
    or, in turn, a mention.
    """
    world = World()
    world.choose(
        at=NOW - timedelta(days=1), comment=Frequency.IMMEDIATE, mention=Frequency.IMMEDIATE
    )
    world.follow(at=NOW - timedelta(days=1))
    world.immediate_rate_limiter.open_by_hand("the provider is down", world.clock())
    with many_may_wait():
        for each in range(number):
            world.clock.now += COLLAPSE + timedelta(seconds=1)
            category = "mention" if each % 2 else "comment"
            activity = an_activity(
                f"{category}{each}", category=category, occurred_at=world.clock()
            )
            world.say(CreateActivity(activity))
    return world


def put_again(world: World, name: str = "comment0") -> None:
    """An event is put again, as it is stored, if it has not left with its follow."""
    stored = world.events.get("ann", name)
    if isinstance(stored, StoredEvent):
        world.create(stored.event)


def mute_comments(world: World) -> None:
    world.choose(comment=Frequency.NEVER, mention=Frequency.IMMEDIATE)


def unfollow(world: World) -> None:
    world.follow(following=False)


def mute_the_thread(world: World) -> None:
    world.follow(often=Frequency.NEVER)


def want_it_daily(world: World) -> None:
    world.choose(comment=Frequency.DAILY, mention=Frequency.DAILY)


def open_runs(world: World) -> list[Run]:
    return [run for run in world.runs.rows.values() if run.is_open]


def events_sent(world: World) -> dict[str, int]:
    """How many events went out in all emails of each schedule."""
    sent: dict[str, int] = {}
    for email in world.emails():
        number = sum(int(line.rpartition(" ")[2]) for line in email.lines)
        sent[email.schedule] = sent.get(email.schedule, 0) + number
    return sent


def send_everything(world: World) -> None:
    world.immediate_rate_limiter.close_by_hand()
    world.send_everything()


@pytest.mark.parametrize(
    ("act", "sent"),
    [
        (mute_comments, {POST1: MANY // 2}),
        (unfollow, {}),
        (mute_the_thread, {}),
        (want_it_daily, {DAILY: MANY}),
    ],
)
def test_trace_w_event_can_be_withdrawn_despite_many_waiting_runs(
    act: Act, sent: dict[str, int]
) -> None:
    world = waiting(MANY)
    assert len(open_runs(world)) == MANY
    act(world)
    put_again(world)
    assert len(open_runs(world)) == 1
    assert world.waiting().get("comment0") == next((name for name in sent if name != POST1), None)
    send_everything(world)
    assert events_sent(world) == sent
    assert not open_runs(world)
    assert not [name for name in world.waiting().values() if name not in sent]


def test_newest_run_supersedes_many_waiting_runs_and_is_requeued() -> None:
    world = waiting(SOME)
    mute_comments(world)
    world.generate_queue.sent.clear()
    put_again(world)
    (newest,) = open_runs(world)
    assert newest.key.sequence == max(key.sequence for key in world.runs.rows)
    assert {message.key for message in world.generate_queue.sent} == {newest.key}
    ended = [run for run in world.runs.rows.values() if run != newest]
    assert {(run.status, run.reason) for run in ended} == {(Status.CANCELLED, Reason.SUPERSEDED)}


def test_few_waiting_runs_are_not_superseded() -> None:
    world = waiting(SOME - 2)
    mute_comments(world)
    put_again(world)
    assert len(open_runs(world)) == SOME - 2
    send_everything(world)
    assert events_sent(world) == {POST1: (SOME - 2) // 2}


def test_unknown_run_is_not_superseded() -> None:
    """What it may have sent stays with it."""
    world = waiting(1)
    world.immediate_rate_limiter.close_by_hand()
    world.mailer.script.append(Uncertain(1, "read timeout"))
    world.deliver_queued()
    (unknown,) = open_runs(world)
    with many_may_wait():
        for each in range(SOME):
            world.clock.now += COLLAPSE + timedelta(seconds=1)
            world.say(CreateActivity(an_activity(f"later{each}", occurred_at=world.clock())))
    unfollow(world)
    put_again(world, "later0")
    assert replace(world.runs.rows[unknown.key], epoch=unknown.epoch) == unknown
    assert "comment0" in world.waiting()
    assert "later0" not in world.waiting()
    assert len(open_runs(world)) == 2


def test_event_can_be_withdrawn_despite_many_digest_runs() -> None:
    world = World()
    world.choose(at=NOW - timedelta(days=1))
    world.follow(at=NOW - timedelta(days=1))
    world.say(CreateActivity(an_activity()))
    for number in range(1, MANY):
        due_at = NOW + timedelta(seconds=number)
        world.runs.create(Run(RunKey("ann", DAILY, number), due_at=due_at, check_at=due_at))
    unfollow(world)
    assert not world.waiting()
    (newest,) = open_runs(world)
    assert newest.key.sequence == MANY - 1
    assert newest.key in {message.key for message in world.generate_queue.sent}


def ready_to_send() -> World:
    world = waiting(SOME)
    world.immediate_rate_limiter.close_by_hand()
    world.clock.now += timedelta(minutes=2)
    return world


def deliver_the(place: int) -> Act:
    """Deliver the run in that place among those of the thread."""

    def act(world: World) -> None:
        keys = sorted((key for key in world.runs.rows if key.schedule == POST1), key=str)
        with suppress(NotYet):
            world.deliver(keys[place])

    return act


@pytest.mark.parametrize("place", [-1, SOME // 2, 0])
@pytest.mark.parametrize("act", [mute_comments, want_it_daily])
def test_concurrent_delivery_sends_no_duplicate_or_unwanted_event(act: Act, place: int) -> None:
    for world, where in interleavings(ready_to_send, act, deliver_the(place)):
        before = sum(events_sent(world).values())
        until = sent_until(world.runs.chain(latest_run("ann", POST1)))
        unsent = [
            stored.event.id
            for stored in world.events.rows.values()
            if isinstance(stored, StoredEvent) and stored.stored_at > until
        ]
        if act is mute_comments:
            assert not [name for name in unsent if name.startswith("comment")], where
        else:
            assert before + len(unsent) == SOME, where
        send_everything(world)
        assert sum(events_sent(world).values()) == before + len(unsent), where
        assert not open_runs(world), where


@pytest.mark.parametrize(
    ("act", "sent"), [(mute_comments, {POST1: SOME // 2}), (want_it_daily, {DAILY: SOME})]
)
def test_interrupted_superseding_is_complete_after_redelivery(
    act: Act, sent: dict[str, int]
) -> None:
    for world, where in crashes(lambda: waiting(SOME), act):
        act(world)
        send_everything(world)
        assert events_sent(world) == sent, where
        assert not open_runs(world), where


def test_crash_while_superseding_leaves_a_queued_run_with_wanted_events() -> None:
    """Also where nobody repeats it: the newest was queued before the first one ended."""
    for world, where in crashes(lambda: waiting(SOME), mute_comments):
        send_everything(world)
        assert not open_runs(world), where
        mentions = {name for name in world.waiting() if name.startswith("mention")}
        assert len(mentions) == SOME // 2, where
        assert events_sent(world)[POST1] >= SOME // 2, where
