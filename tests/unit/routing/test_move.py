"""An event moves to another schedule while a worker sends: it is in one email."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.delivery.signals import Evidence, RefusedForGood, RefusedForNow, Uncertain
from gazette.domain.errors import NotYet
from gazette.domain.model import DAILY, RunKey, StoredEvent, Window
from gazette.domain.scheduling.calendar import slot_of
from gazette.domain.scheduling.kinds import immediate_schedule
from gazette.domain.subscribers.frequency import Frequency
from gazette.steps.runs import apply

from tests.builders import NOW, an_event
from tests.unit.routing.digests import put, shown
from tests.world import COLLAPSE, SETTLE_LAG, World, events_in

POST1 = immediate_schedule("post#post1")
SECONDS = timedelta(seconds=10)
DAY = timedelta(days=1)


def strike(world: World, meanwhile: Callable[[], object], *, dies: bool) -> None:
    """Whoever writes an event next stands still before the write; and does not live to see it."""

    def around(name: str, call: Callable[[], Any]) -> Any:
        if name != "events.write":
            return call()
        world.events.around = lambda _, call: call()
        meanwhile()
        done = call()
        if dies:
            raise NotYet("The worker is gone.")
        return done

    world.events.around = around


def send_due_digest(world: World) -> None:
    world.clock.pass_time(minutes=1)
    world.fan_out(slot_of(world.schedules.rows["ann", DAILY].next_due_at))
    world.deliver_queued()


def shortly_before_the_daily_digest(*, full: bool) -> World:
    """What waits elsewhere comes under the daily digest ten seconds before that is due."""
    world = World()
    world.choose(at=NOW - DAY, comment=Frequency.WEEKLY, mention=Frequency.DAILY)
    world.send_digest()
    idle = world.schedules.rows["ann", DAILY]
    world.schedules.rows["ann", DAILY] = idle.armed(idle.due_after(world.clock()))
    put(world, 1)
    if full:
        world.create(
            an_event("m", category="mention", entity_id="post9", occurred_at=world.clock())
        )
    world.clock.now = world.schedules.rows["ann", DAILY].next_due_at - SECONDS
    return world


@pytest.mark.parametrize("full", [True, False], ids=["sent", "quiet"])
@pytest.mark.parametrize("dies", [True, False])
def test_trace_n_late_move_is_not_behind_a_closed_window(dies: bool, full: bool) -> None:
    """The digest that it goes to closes its window between the stamp and the write."""
    world = shortly_before_the_daily_digest(full=full)
    chosen_at = world.clock()

    def choose() -> None:
        world.choose(at=chosen_at, comment=Frequency.DAILY, mention=Frequency.DAILY)

    strike(world, lambda: send_due_digest(world), dies=dies)
    if dies:
        with pytest.raises(NotYet):
            choose()
        world.clock.pass_time(minutes=9)
    choose()
    for day in range(3):
        world.send_digest()
        put(world, 10 + day)
    assert shown(world).count("post1: 1") == 1


def test_trace_n_fan_out_with_a_fast_clock_sees_a_moved_event() -> None:
    """Fan-out has looked before it was there, and takes the schedule out afterwards."""
    world = shortly_before_the_daily_digest(full=False)
    world.clock.now += SECONDS + timedelta(seconds=1)
    put_schedule = world.schedules.put

    def put_once(schedule: Any, *, replacing: Any) -> bool:
        world.schedules.put = put_schedule  # type: ignore[method-assign]
        world.clock.now -= 2 * SECONDS
        world.choose(comment=Frequency.DAILY, mention=Frequency.DAILY)
        world.clock.now += 2 * SECONDS
        return put_schedule(schedule, replacing=replacing)

    world.schedules.put = put_once  # type: ignore[method-assign]
    world.fan_out(slot_of(world.schedules.rows["ann", DAILY].next_due_at))
    for _ in range(3):
        world.send_digest()
    assert shown(world) == ["post1: 1"]


def test_trace_n_run_claimed_during_superseding_keeps_its_events() -> None:
    """More runs wait than one transaction holds, so the older ones end first; one is faster."""
    world = World()
    world.choose(at=NOW - DAY, comment=Frequency.DAILY)
    put(world, 1)
    world.clock.pass_time(minutes=1)
    for number in range(1, 13):
        key = RunKey("ann", DAILY, number)
        world.runs.create(Run(key, due_at=world.clock(), check_at=world.clock() + DAY))
    schedule = world.schedules.rows["ann", DAILY]
    world.schedules.put(replace(schedule, sequence=13), replacing=schedule)
    swap = world.runs.swap

    def faster(before: Run, after: Run) -> Run:
        if after.status is Status.CANCELLED and before.key.sequence == 5:
            world.runs.swap = swap  # type: ignore[method-assign]
            world.generate(before.key)
        return swap(before, after)

    world.runs.swap = faster  # type: ignore[method-assign]
    world.choose(comment=Frequency.WEEKLY)
    for name in ("weekly", DAILY, "weekly"):
        world.send_digest(name)
    assert shown(world) == ["post1: 1"]


def refused_to_the_end() -> World:
    """An immediate run of post1 has failed; its message waits for support."""
    world = World()
    world.choose(at=NOW - DAY, comment=Frequency.IMMEDIATE)
    put(world, 1)
    for attempt in range(1, 7):
        world.mailer.script.append(RefusedForNow(attempt, "Throttling"))
    for _ in range(8):
        world.deliver_queued()
    (run,) = world.runs.rows.values()
    assert run.reason is Reason.ATTEMPTS_EXHAUSTED
    world.clock.pass_time(hours=1)
    return world


def put_again(world: World) -> None:
    """The producer repeats the event, as it is stored."""
    stored = world.events.get("ann", "e1")
    assert isinstance(stored, StoredEvent)
    world.create(stored.event)


def test_trace_n_event_moved_from_an_ended_thread_is_not_redriven() -> None:
    """A redrive starts a run of the old thread and sends the event, while an amendment moves the
    event to the thread of another entity.

    The move has read the old thread before, when that thread had no open run.
    """
    world = refused_to_the_end()
    (failed,) = world.runs.rows
    (stored,) = world.events.rows.values()
    assert isinstance(stored, StoredEvent)
    move = world.events.move

    def late(*args: Any, **named: Any) -> Any:
        world.events.move = move  # type: ignore[method-assign]
        world.resend(failed, given_up=True)
        redriven = max(key.sequence for key in world.runs.rows if key.schedule == POST1)
        world.clock.pass_time(seconds=COLLAPSE.total_seconds())
        world.generate(RunKey("ann", POST1, redriven))
        return move(*args, **named)

    world.events.move = late  # type: ignore[method-assign]
    post2 = an_event("e1", entity_id="post2").entity
    world.create(replace(stored.event, entity=post2, amended_at=world.clock()))
    assert world.events.move == move
    for _ in range(4):
        world.deliver_queued()
        world.clock.pass_time(minutes=1)
    assert shown(world) == ["post2: 1"]


def test_empty_run_started_by_a_move_is_ended_by_the_sweep() -> None:
    world = refused_to_the_end()
    world.choose(comment=Frequency.DAILY)
    put_again(world)
    assert world.waiting() == {"e1": DAILY}
    newest = max(world.runs.rows.values(), key=lambda run: run.key.sequence)
    assert (newest.status, newest.due_at) == (Status.PENDING, world.clock() + COLLAPSE)
    assert not world.generate_queue.sent
    world.clock.pass_time(hours=2)
    world.sweep("ann")
    world.deliver_queued()
    assert world.runs.rows[newest.key].reason is Reason.EMPTY


def at_once() -> World:
    world = World()
    world.choose(at=NOW - DAY, comment=Frequency.IMMEDIATE)
    return world


def test_trace_ab_run_stored_after_a_later_sent_run_sends_no_duplicate() -> None:
    """Between the event and its run the worker stands still, and the next event has a run."""
    world = at_once()
    create = world.runs.create

    def late(run: Any) -> Any:
        world.runs.create = create  # type: ignore[method-assign]
        world.clock.pass_time(seconds=10)
        put(world, 2, "post1")
        for _ in range(3):
            world.clock.pass_time(seconds=30)
            world.deliver_queued()
        return create(run)

    world.runs.create = late  # type: ignore[method-assign]
    put(world, 1, "post1")
    put(world, 3, "post1")
    for _ in range(4):
        world.deliver_queued()
        world.clock.pass_time(minutes=1)
    assert shown(world) == ["post1: 1", "post1: 2"]


def test_trace_ab_event_sent_after_an_unknown_run_is_sent_once() -> None:
    """A run is stored after a newer run has ended with an unknown outcome, and after another event.

    If it sent that event, the run after the newer run would send the event again.
    """
    world = at_once()
    create = world.runs.create

    def die(run: Run) -> Run:
        world.runs.create = create  # type: ignore[method-assign]
        raise NotYet("The worker is gone.")

    def late(run: Run) -> Run:
        world.runs.create = create  # type: ignore[method-assign]
        world.clock.pass_time(seconds=10)
        put(world, 2, "post1")
        (unknown,) = world.runs.rows
        world.mailer.script.append(Uncertain(1, "ReadTimeoutError"))
        world.mailer.script.append(RefusedForGood(2, "MessageRejected"))
        for _ in range(12):
            world.clock.pass_time(minutes=10)
            world.evidence_log.record(world.clock())
            world.sweep("ann")
            world.deliver_queued()
        assert world.runs.rows[unknown].status is Status.FAILED
        world.runs.create = die  # type: ignore[method-assign]
        with pytest.raises(NotYet):
            put(world, 3, "post1")
        world.clock.pass_time(minutes=1)
        return create(run)

    world.runs.create = late  # type: ignore[method-assign]
    put(world, 1, "post1")
    for _ in range(4):
        world.deliver_queued()
        world.clock.pass_time(minutes=1)
    unknown = next(run for run in world.runs.rows.values() if run.uncertain)
    apply(unknown, Evidence(1, "m1"), runs=world.runs)
    put(world, 4, "post1")
    for _ in range(3):
        world.clock.pass_time(minutes=1)
        world.deliver_queued()
    assert events_in(shown(world)) == 4


def test_trace_ab_redriven_run_includes_events_of_collecting_runs() -> None:
    """It is due at once, and has a higher number than one that collects for longer."""
    world = refused_to_the_end()
    (failed,) = world.runs.rows
    create = world.runs.create

    def redrive_meanwhile(run: Any) -> Any:
        world.runs.create = create  # type: ignore[method-assign]
        world.clock.pass_time(seconds=1)
        world.resend(failed, given_up=True)
        return create(run)

    world.runs.create = redrive_meanwhile  # type: ignore[method-assign]
    put(world, 2, "post1")
    world.clock.pass_time(seconds=14)
    put(world, 3, "post1")
    redriven = max(world.runs.rows, key=lambda key: key.sequence)
    world.clock.pass_time(seconds=7)
    world.generate(redriven)
    for _ in range(3):
        world.deliver_queued()
        world.clock.pass_time(minutes=1)
    assert events_in(shown(world)) == 3


@pytest.mark.parametrize("meanwhile", ["sent", "quiet", "written in between"])
def test_trace_n_move_to_a_digest_in_creation_is_not_skipped(
    meanwhile: str,
) -> None:
    """The profile is there, and its schedule is not yet; fan-out sends, or finds nothing."""
    world = World()
    world.choose(at=NOW - DAY)
    due = world.schedules.rows["ann", DAILY].next_due_at
    world = World()
    world.clock.now = due - SECONDS
    at = world.clock()
    put(world, 1)
    create = world.runs.create

    def register(*, up_to: str) -> None:
        def die(name: str, call: Callable[[], Any]) -> Any:
            if name == up_to:
                raise NotYet("The worker is gone.")
            return call()

        with world.watched(die), suppress(NotYet):
            world.choose(at=at)

    register(up_to="schedules.put")
    assert not world.schedules.rows

    def around(name: str, call: Callable[[], Any]) -> Any:
        if world.clock() == at:
            world.clock.pass_time(seconds=0.1)
            return call()
        world.events.around = lambda _, call: call()
        register(up_to="events.stored_under")
        if meanwhile == "sent":
            put(world, 2)
        moved: list[Any] = []

        def write_first(run: Run) -> Run:
            world.runs.create = create  # type: ignore[method-assign]
            moved.append(call())
            return create(run)

        if meanwhile == "written in between":
            world.runs.create = write_first  # type: ignore[method-assign]
        world.clock.now = due + timedelta(seconds=30)
        world.fan_out(slot_of(due))
        world.deliver_queued()
        return moved[0] if moved else call()

    world.events.around = around
    world.create(an_event("e1", entity_id="post1", occurred_at=at))
    world.clock.pass_time(minutes=9)
    world.choose(at=at)
    for _ in range(2):
        world.send_digest()
    assert shown(world) == ["post1: 1"] + ["post2: 1"] * (meanwhile == "sent")


def a_run_at(world: World, after: float, due: float) -> Run:
    """A run of post1 with the number of a second, due at an instant: both from now on."""
    at = world.clock() + timedelta(seconds=due)
    number = int(world.clock().timestamp()) + int(after)
    return world.runs.create(Run(RunKey("ann", POST1, number), due_at=at, check_at=at + DAY))


def test_trace_ab_run_due_at_once_does_not_absorb_later_events() -> None:
    world = at_once()
    run = a_run_at(world, 0, due=0)
    world.clock.pass_time(seconds=0.8)
    put(world, 1, "post1")
    world.clock.now = run.due_at + SETTLE_LAG
    world.generate(run.key)
    for _ in range(3):
        world.deliver_queued()
        world.clock.pass_time(minutes=1)
    assert shown(world) == ["post1: 1"]


def test_trace_ab_fixed_window_run_does_not_end_a_longer_run() -> None:
    world = at_once()
    late = a_run_at(world, 0, due=30)
    fixed = Window(NOW - DAY, world.clock() + timedelta(seconds=1))
    refused = replace(
        a_run_at(world, 1, due=1),
        status=Status.RETRYING,
        reason=Reason.REFUSED_FOR_NOW,
        attempt=1,
        refusals=1,
        window=fixed,
    )
    world.runs.rows[refused.key] = refused
    put(world, 1, "post1")
    world.clock.pass_time(seconds=15)
    put(world, 2, "post1")
    world.clock.pass_time(minutes=1)
    world.generate_queue.sent.clear()
    world.generate(refused.key)
    assert shown(world) == ["post1: 1"]
    world.generate(late.key)
    for _ in range(3):
        world.deliver_queued()
        world.clock.pass_time(minutes=1)
    assert shown(world) == ["post1: 1", "post1: 1"]


def test_republished_event_does_not_start_another_run() -> None:
    """The run of its second found nothing, and the one behind that was refused for good."""
    world = at_once()
    ended = a_run_at(world, 0, due=20)
    empty = replace(ended, status=Status.SKIPPED, reason=Reason.EMPTY)
    world.runs.rows[ended.key] = empty
    world.mailer.script.append(RefusedForGood(1, "MessageRejected"))
    event = an_event("e1", entity_id="post1", occurred_at=world.clock())
    for _ in range(5):
        world.create(event)
        world.deliver_queued()
        world.clock.pass_time(minutes=1)
    assert [run.reason for run in world.runs.rows.values()] == [
        Reason.EMPTY,
        Reason.REFUSED_FOR_GOOD,
    ]
    assert world.mailer.calls == 1


def test_trace_ab_later_run_reads_again_after_an_earlier_run_is_stored() -> None:
    """The earlier run is stored after the later one has looked for what is before it."""
    world = at_once()
    create, read = world.runs.create, world.events.read
    late_run: list[Any] = []

    def keep(run: Any) -> Any:
        world.runs.create = create  # type: ignore[method-assign]
        late_run.append(run)
        raise NotYet("The worker stands still.")

    world.runs.create = keep  # type: ignore[method-assign]
    with pytest.raises(NotYet):
        put(world, 1, "post1")
    world.clock.pass_time(seconds=10)
    put(world, 2, "post1")
    (later,) = world.runs.rows
    world.clock.now += COLLAPSE + 3 * SETTLE_LAG

    def reading(*given: Any) -> Any:
        world.events.read = read  # type: ignore[method-assign]
        found = list(read(*given))
        earlier = create(late_run[0])
        world.generate(earlier.key)
        return iter(found)

    world.events.read = reading  # type: ignore[assignment,method-assign]
    world.generate(later)
    for _ in range(3):
        world.deliver_queued()
        world.clock.pass_time(minutes=1)
    assert shown(world) == ["post1: 2"]


def test_busy_thread_is_not_requeued_indefinitely() -> None:
    """The next one always waits behind it already."""
    world = at_once()
    emails = []
    for number in range(30):
        put(world, number, "post1")
        world.clock.pass_time(minutes=3)
        world.sweep()
        queued, world.generate_queue.sent = world.generate_queue.sent, []
        for message in queued:
            run = world.runs.rows[message.key]
            if run.due_at + 2 * SETTLE_LAG <= world.clock():
                world.generate(message.key)
            else:
                world.generate_queue.sent.append(message)
        emails.append(len(world.emails()))
    assert emails[0] == 1
    assert emails[5] == 2
    assert emails[-1] == 3
    world.send_everything()
    assert events_in(shown(world)) == 30


def test_run_is_found_among_adjacent_sequences() -> None:
    world = at_once()
    put(world, 1, "post1")
    (first,) = world.runs.rows.values()
    behind = replace(first, key=RunKey("ann", POST1, first.key.sequence + 90))
    world.runs.create(behind)
    assert world.generate(first.key) == first
    assert world.generate(RunKey("ann", POST1, first.key.sequence + 1)) is None
    assert world.generate(RunKey("ann", POST1, first.key.sequence - 1)) is None
    sent = replace(behind, status=Status.SENT, window=Window(NOW - DAY, world.clock()))
    world.runs.rows[behind.key] = sent
    assert world.generate(first.key) is not None
    assert world.generate(RunKey("ann", POST1, first.key.sequence + 1)) is None
