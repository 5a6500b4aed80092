"""A row that this release cannot read stops no other, and nothing is lost (rule 20)."""

from dataclasses import replace
from datetime import timedelta

import pytest
from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.errors import UnreadableRow
from gazette.domain.identity import shard_of
from gazette.domain.model import DAILY, RunKey
from gazette.domain.ports.queues import Shard
from gazette.domain.scheduling.calendar import SLOT, slot_of
from gazette.domain.stored import as_stored, is_known
from gazette.domain.subscribers.frequency import Frequency, frequencies_as_stored
from gazette.domain.subscribers.subscriber import SubscriberStatus
from gazette.domain.subscribers.suppression import Cause
from gazette.steps.fanout.fanout import FannedOut, tick
from gazette.steps.ingest.followers import start_walk
from gazette.steps.runs import raise_epochs
from gazette.steps.subscribers.schedules import set_schedules
from gazette.steps.sweep.unknown import Swept

from tests.builders import NOW, a_schedule, a_subscriber, an_activity, an_event
from tests.fake_stores import PARTITIONS
from tests.world import World

HOUR = timedelta(hours=1)
READERS = ("ann", "bo", "cy", "di", "ed")
CURSED = "cy"
PARKED = as_stored(Status, "parked")
POSTPONED = as_stored(Reason, "postponed")


@pytest.fixture
def world() -> World:
    """Readers with a digest that is due now, of whom each has an event that waits."""
    world = World()
    world.clock.now = NOW - HOUR
    for user_id in READERS:
        world.choose(user_id)
        world.create(an_event(f"for-{user_id}", user_id=user_id))
    world.clock.now = NOW
    for key, schedule in world.schedules.rows.items():
        world.schedules.rows[key] = replace(schedule, next_due_at=slot_of(NOW), sequence=7)
    return world


def fan_out(world: World) -> FannedOut:
    return world.fan_out(slot_of(NOW))


def started(world: World) -> set[str]:
    return {each.key.user_id for each in world.generate_queue.sent}


def run_of(user_id: str, sequence: int = 7) -> Run:
    key = RunKey(user_id, DAILY, sequence)
    return Run(key, due_at=slot_of(NOW), check_at=NOW + HOUR)


def test_trace_u_unknown_reason_blocks_no_reader(world: World) -> None:
    run = replace(run_of(CURSED, 6), status=Status.SKIPPED, reason=POSTPONED)
    world.runs.create(run)
    world.runs.create(replace(run_of("di"), reason=POSTPONED))
    assert fan_out(world) == FannedOut(queued=5)
    assert started(world) == set(READERS)
    assert world.batches.done == {0: slot_of(NOW)}
    world.deliver_queued()
    sent = {run.key.user_id for run in world.runs.rows.values() if run.status is Status.SENT}
    assert sent == set(READERS)
    assert world.runs.rows[run.key] == run


def test_trace_u_unreadable_run_delays_only_its_schedule(world: World) -> None:
    world.runs.create(run_of(CURSED, 6))
    world.runs.unreadable.add(RunKey(CURSED, DAILY, 6))
    done = fan_out(world)
    assert (done.queued, len(done.unreadable)) == (4, 1)
    assert CURSED in done.unreadable[0]
    assert started(world) == set(READERS) - {CURSED}
    assert world.batches.done == {0: slot_of(NOW)}
    assert world.schedules.rows[CURSED, DAILY].sequence == 7


@pytest.mark.parametrize("what", ["schedule", "reader"])
def test_trace_u_unreadable_schedule_or_subscriber_blocks_no_reader(
    world: World, what: str
) -> None:
    if what == "schedule":
        world.schedules.unreadable.add((CURSED, DAILY))
    else:
        world.subscribers.unreadable.add(CURSED)
        world.schedules.rows[CURSED, DAILY] = replace(
            world.schedules.rows[CURSED, DAILY], active_until=None
        )
    assert len(fan_out(world).unreadable) == 1
    assert started(world) == set(READERS) - {CURSED}
    assert world.batches.done == {0: slot_of(NOW)}


def test_trace_u_skipped_schedule_resumes_once_readable(world: World) -> None:
    """However far the checkpoint has moved: nobody else looks into so old a slot."""
    world.schedules.unreadable.add((CURSED, DAILY))
    fan_out(world)
    world.generate_queue.sent.clear()
    world.clock.now = NOW + 3 * HOUR
    world.batches.save_checkpoint(0, slot_of(world.clock()) - SLOT)
    again = Shard(0, slot_of(NOW), slot_of(NOW))
    assert again in ticked(world)
    assert len(fan_out(world).unreadable) == 1
    assert again in ticked(world), "as long as it cannot be read"
    world.schedules.unreadable.clear()
    assert fan_out(world).unreadable == ()
    assert started(world) == {CURSED}
    assert again not in ticked(world), "nothing is left behind"


def ticked(world: World) -> list[Shard]:
    world.shard_queue.sent.clear()
    at = world.clock()
    tick(at, batches=world.batches, shard_queue=world.shard_queue, shards=1, lookback=2)
    return list(world.shard_queue.sent)


def test_trace_u_sweep_skips_unreadable_runs(world: World) -> None:
    """Of twenty, two."""
    of_one = [f"reader{n}" for n in range(400) if shard_of(f"reader{n}", PARTITIONS) == 3][:20]
    for number, user_id in enumerate(of_one):
        run = world.runs.create(replace(run_of(user_id), check_at=NOW + timedelta(seconds=number)))
        if number in {0, 5}:
            world.runs.unreadable.add(run.key)
    world.clock.now = NOW + HOUR
    assert world.sweep() == {Swept.QUEUED: 18, Swept.UNREADABLE: 2}
    assert len(started(world) & set(of_one)) == 18


def test_run_with_unknown_status_is_reported_and_unchanged(world: World) -> None:
    run = world.runs.create(replace(run_of("ann"), status=PARKED, reason=POSTPONED, epoch=3))
    world.clock.now = NOW + 24 * HOUR
    assert world.sweep() == {Swept.UNREADABLE: 1}
    delivery = world.deliver(run.key)
    assert delivery
    assert (delivery.run, delivery.again_at) == (run, None)
    assert not world.mailer.calls


def test_run_waits_for_predecessor_with_unknown_status(world: World) -> None:
    world.runs.create(replace(run_of("ann", 6), status=PARKED))
    fan_out(world)
    delivery = world.deliver(RunKey("ann", DAILY, 7))
    assert delivery
    assert delivery.again_at
    assert not world.mailer.calls


def test_stop_reaches_run_with_unknown_status(world: World) -> None:
    run = world.runs.create(replace(run_of("ann"), status=PARKED, reason=POSTPONED))
    raise_epochs([run], runs=world.runs)
    stopped = world.runs.rows[run.key]
    assert (stopped.status, stopped.epoch, stopped.overtaken) == (PARKED, 1, True)


def test_reader_with_unknown_status_keeps_schedule_and_events(world: World) -> None:
    there = world.subscribers.rows["ann"]
    resting = as_stored(SubscriberStatus, "resting")
    world.subscribers.set_status("ann", resting)
    world.schedules.rows["ann", DAILY] = replace(
        world.schedules.rows["ann", DAILY], active_until=None
    )
    done = fan_out(world)
    assert (done.queued, len(done.unreadable)) == (4, 1)
    assert world.schedules.rows["ann", DAILY].listed
    world.create(an_event("more", user_id="ann"))
    assert ("ann", "more") in world.events.rows
    world.choose("ann")
    assert world.subscribers.get("ann") != there
    assert world.subscribers.rows["ann"].status == resting  # type: ignore[union-attr]


def test_no_email_is_sent_to_reader_with_unknown_status(world: World) -> None:
    fan_out(world)
    world.subscribers.set_status("ann", as_stored(SubscriberStatus, "resting"))
    with pytest.raises(UnreadableRow):
        world.deliver(RunKey("ann", DAILY, 7))
    assert world.runs.rows[RunKey("ann", DAILY, 7)].status is Status.PENDING


def test_window_never_closes_over_unreadable_event(world: World) -> None:
    """The run waits: what it sends would close the window over the event."""
    fan_out(world)
    world.create(an_event("damaged", user_id="ann"))
    world.clock.pass_time(minutes=1)
    world.events.unreadable.add(("ann", "damaged"))
    key = RunKey("ann", DAILY, 7)
    with pytest.raises(UnreadableRow):
        world.deliver(key)
    assert world.runs.rows[key].status is Status.PENDING
    world.events.unreadable.clear()
    world.deliver(key)
    assert world.runs.rows[key].status is Status.SENT


def test_unknown_frequency_is_treated_as_daily(world: World) -> None:
    ann = world.subscribers.rows["ann"]
    chosen = frequencies_as_stored({"comment": "hourly"})
    world.subscribers.rows["ann"] = replace(ann, choices=((NOW - 2 * HOUR, chosen),))  # type: ignore[arg-type]
    world.create(an_event("hourly", user_id="ann"))
    assert world.events.get("ann", "hourly").schedule == DAILY  # type: ignore[union-attr]


def test_schedule_of_unknown_kind_is_left_unchanged(world: World) -> None:
    hourly = replace(a_schedule(), name="hourly")
    world.schedules.put(hourly, replacing=None)
    set_schedules(a_subscriber("ann", changed_at=NOW), context=world.context)
    assert world.schedules.rows["ann", "hourly"] == hourly


def test_suppression_with_unknown_cause_is_kept(world: World) -> None:
    unheard_of = as_stored(Cause, "trap")
    assert unheard_of.lesser == ()
    world.suppressions.add("hash", unheard_of)
    for cause in Cause:
        assert not world.suppressions.add("hash", cause)
        world.suppressions.lift("hash", cause)
    assert world.suppressions.holds("hash")


def test_unreadable_follower_does_not_block_other_followers(world: World) -> None:
    """And their own comes with the next attempt: the message is not done with."""
    for user_id in READERS:
        world.follow(user_id, at=NOW - HOUR)
    world.follows.unreadable.add(("post#post1", "ann"))
    world.subscribers.unreadable.add("bo")
    activity = an_activity(actor="Zoe")
    world.activities.create(activity)

    def bring() -> None:
        start_walk(
            activity,
            activities=world.activities,
            followers_queue=world.followers_queue,
            context=world.context,
        )

    with pytest.raises(UnreadableRow):
        bring()
    assert {user for user, event in world.events.rows if event == "a1"} == {"cy", "di", "ed"}
    world.follows.unreadable.clear()
    world.subscribers.unreadable.clear()
    bring()
    assert {user for user, event in world.events.rows if event == "a1"} == set(READERS)


def test_unknown_stored_value_keeps_text_and_equals_no_member() -> None:
    assert (PARKED.value, f"{PARKED}", str(PARKED)) == ("parked", "parked", "parked")
    assert as_stored(Status, "parked") == PARKED
    assert PARKED not in set(Status)
    assert not is_known(PARKED)
    assert all(map(is_known, Status))
    assert as_stored(Status, "sent") is Status.SENT
    with pytest.raises(ValueError, match="parked"):
        Status("parked")
    assert as_stored(Frequency, "hourly") not in set(Frequency)
