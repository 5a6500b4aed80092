"""Batches: the counts are those of the runs, and a cancelled run is never claimed."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from gazette.domain.delivery.batch import BatchRun
from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.delivery.signals import RefusedForNow, Uncertain
from gazette.domain.model import DAILY, RunKey
from gazette.domain.scheduling.calendar import SLOT, slot_of
from gazette.domain.subscribers.frequency import Frequency

from gazette_support.steps.batches import BatchView, cancel_batch, view_batch
from tests.builders import an_event
from tests.world import World, crashes, interleavings

READERS = ("ann", "bo", "cy")


def waiting() -> World:
    """Three readers are due in the same slot; for the third nothing waits any more."""
    world = World()
    for reader in READERS:
        world.choose(reader)
    world.arm()
    for reader in READERS[:2]:
        world.create(an_event(user_id=reader))
    world.clock.now = world.schedules.rows["ann", DAILY].next_due_at + timedelta(minutes=1)
    return world


def started() -> World:
    """The same, after fan-out."""
    world = waiting()
    world.fan_out(slot_of(world.clock.now))
    return world


def view(world: World) -> BatchView:
    """The batch of the slot that is open."""
    return view_batch(
        world.batches.get(slot_of(world.clock.now)),
        schedules=world.schedules,
        runs=world.runs,
        shards=range(1),
        clock=world.clock,
    )


def cancel(world: World) -> int:
    """Of the slot that is open."""
    slot = slot_of(world.clock.now)
    stopped = list(cancel_batch(slot, batches=world.batches, runs=world.runs))
    return sum(run.reason is Reason.BATCH_CANCELLED for run in stopped)


def test_due_digests_are_expected_before_they_start() -> None:
    world = waiting()
    assert (view(world).expected, view(world).not_started, view(world).ended) == (3, 3, 0)
    assert not view(world).is_over


def test_batch_is_counted_by_status_and_reason() -> None:
    world = started()
    seen = view(world)
    assert (seen.expected, seen.not_started, seen.ended) == (2, 0, 0)
    assert seen.number(Status.PENDING) == 2
    assert not seen.is_over
    world.deliver_queued()
    assert view(world).by_reason(Status.SENT) == {Reason.ACCEPTED: 2}
    assert (view(world).expected, view(world).ended, view(world).is_over) == (2, 2, True)


def test_occurrence_without_waiting_events_is_in_no_batch() -> None:
    world = started()
    ended = world.runs.rows[RunKey("cy", DAILY, 1)]
    assert (ended.reason, ended.slot) == (Reason.NOTHING_WAITED, None)
    assert slot_of(ended.due_at) == slot_of(world.clock.now)
    assert view(world).by_reason(Status.SKIPPED) == {}


def test_batch_with_an_unknown_outcome_counts_as_over() -> None:
    world = started()
    world.mailer.script.extend([Uncertain(1, "read timeout"), RefusedForNow(1, "throttled")])
    world.deliver_queued()
    assert view(world).by_reason(Status.UNKNOWN) == {Reason.UNCERTAIN: 1}
    assert view(world).by_reason(Status.RETRYING) == {Reason.REFUSED_FOR_NOW: 1}
    assert not view(world).is_over
    world.deliver_queued()
    assert view(world).is_over


def test_batch_cancelled_before_its_hour_sends_and_loses_no_events() -> None:
    world = waiting()
    assert cancel(world) == 0
    world.fan_out(slot_of(world.clock.now))
    assert world.deliver_queued() == []
    assert view(world).by_reason(Status.CANCELLED) == {Reason.BATCH_CANCELLED: 3}
    world.send_digest()
    world.send_digest(user_id="bo")
    assert len(world.emails("ann")) == len(world.emails("bo")) == 1


def test_cancelling_a_batch_stops_only_unsent_runs() -> None:
    world = started()
    first, *rest = world.generate_queue.sent
    world.generate_queue.sent = [first]
    world.deliver_queued()
    assert cancel(world) == 1
    world.generate_queue.sent = rest
    world.deliver_queued()
    assert len(world.emails()) == 1
    assert view(world).by_reason(Status.CANCELLED) == {Reason.BATCH_CANCELLED: 1}
    assert cancel(world) == 0, "again"


def test_batch_in_another_slot_continues() -> None:
    world = started()
    list(cancel_batch(slot_of(world.clock.now) - SLOT, batches=world.batches, runs=world.runs))
    world.deliver_queued()
    assert len(world.emails()) == 2


def test_worker_that_finds_a_cancelled_batch_ends_the_run() -> None:
    """The walk over the index may have missed the run."""
    world = started()
    world.batches.cancel(slot_of(world.clock.now))
    ended = [run.reason for run in world.deliver_queued() if run]
    assert ended == [Reason.BATCH_CANCELLED] * 2
    assert world.emails() == []


def test_immediate_email_belongs_to_no_batch() -> None:
    world = World()
    world.choose(comment=Frequency.IMMEDIATE)
    world.create(an_event())
    [run] = world.runs.rows.values()
    list(cancel_batch(slot_of(run.due_at), batches=world.batches, runs=world.runs))
    assert list(world.runs.of_batch(slot_of(run.due_at))) == []
    world.deliver_queued()
    assert len(world.emails()) == 1


def test_trace_o_email_is_not_claimed_after_an_acknowledged_cancel() -> None:
    """The worker looked at the batch before it was cancelled."""

    claimed = []

    def ann(world: World) -> Run:
        [run] = [run for run in world.runs.rows.values() if run.key.user_id == "ann"]
        return run

    def stop(world: World) -> None:
        claimed.append(ann(world).status is Status.SENDING)
        cancel(world)

    for world, where in interleavings(started, lambda world: world.deliver(ann(world).key), stop):
        assert bool(world.emails("ann")) == claimed[-1], where
    assert set(claimed) == {True, False}


def test_unindexed_run_is_cancelled_until_the_check_before_its_claim() -> None:
    """Between them are a cached read and one write; the next walk finds the rest.

    The reader is read for the email, and once more after the claim, beside the suppressions.
    """
    gone = []

    def make() -> World:
        world = started()
        world.runs.of_batch = nothing  # type: ignore[method-assign]
        return world

    def nothing(slot: datetime) -> Iterator[BatchRun]:
        return iter(())

    def ann(world: World) -> Run:
        [run] = [run for run in world.runs.rows.values() if run.key.user_id == "ann"]
        return run

    for world, where in interleavings(make, lambda world: world.deliver(ann(world).key), cancel):
        if world.emails("ann"):
            gone.append(where)
    assert {where.split(",")[0] for where in gone} == {
        "before category_holds.active",
        "before runs.swap",
        "before subscribers.get",
        "before suppressions.holds",
        "before mailer.send",
    }


def test_interrupted_cancel_is_complete_after_a_repetition() -> None:
    for world, where in crashes(started, cancel):
        cancel(world)
        world.deliver_queued()
        assert world.emails() == [], where
        assert view(world).is_over, where


def test_concurrent_fan_out_and_cancel_send_no_email() -> None:
    def fan_out(world: World) -> None:
        world.fan_out(slot_of(world.clock.now))

    for world, where in interleavings(waiting, fan_out, cancel):
        world.deliver_queued()
        assert world.emails() == [], where
        assert {run.reason for run in world.runs.rows.values()} <= {
            Reason.BATCH_CANCELLED,
            Reason.NOTHING_WAITED,
        }, where
