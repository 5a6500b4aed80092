"""What the port `Batches` promises, and `Runs.of_batch`, on our fakes and the real adapters."""

from dataclasses import replace
from datetime import timedelta

from gazette.domain.delivery.batch import Batch, BatchRun
from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.model import RunKey
from gazette.domain.ports.ledgers import Batches, Runs
from gazette.domain.scheduling.calendar import SLOT, slot_of
from gazette.domain.scheduling.kinds import immediate_schedule
from gazette.domain.stored import readable

from tests.builders import NOW, SettableClock, a_run

FIRST = slot_of(NOW)
LATER = NOW + timedelta(minutes=3)


def test_slot_without_data_has_an_empty_batch(batches: Batches) -> None:
    assert batches.get(FIRST) == Batch(FIRST)
    assert batches.latest(5) == []


def test_batch_begins_once(batches: Batches, clock: SettableClock) -> None:
    assert batches.begin(FIRST) == Batch(FIRST, started_at=NOW)
    clock.now = LATER
    assert batches.begin(FIRST) == Batch(FIRST, started_at=NOW)
    assert batches.get(FIRST) == Batch(FIRST, started_at=NOW)


def test_cancelled_batch_stays_cancelled_when_started(
    batches: Batches, clock: SettableClock
) -> None:
    assert batches.cancel(FIRST) == Batch(FIRST, cancelled_at=NOW)
    clock.now = LATER
    assert batches.begin(FIRST) == Batch(FIRST, LATER, NOW)
    assert batches.cancel(FIRST) == batches.get(FIRST) == Batch(FIRST, LATER, NOW)


def test_latest_batches_are_listed_newest_first(batches: Batches) -> None:
    for number in (1, 3, 0, 2):
        batches.begin(FIRST + number * SLOT)
    batches.save_checkpoint(0, FIRST + 9 * SLOT)
    found = [batch.slot for batch in batches.latest(3)]
    assert found == [FIRST + number * SLOT for number in (3, 2, 1)]


def test_checkpoint_only_moves_forward(batches: Batches) -> None:
    assert batches.checkpoints() == {}
    batches.save_checkpoint(0, FIRST)
    batches.save_checkpoint(255, FIRST)
    batches.save_checkpoint(0, FIRST - SLOT)
    batches.save_checkpoint(255, FIRST + SLOT)
    assert batches.checkpoints() == {0: FIRST, 255: FIRST + SLOT}


def test_batch_of_a_slot_excludes_immediate_runs(runs: Runs) -> None:
    of_first = [RunKey(f"user{number}", "daily", number) for number in range(1, 20)]
    due = dict.fromkeys(of_first, FIRST) | {
        RunKey("ann", "weekly", 1): FIRST + SLOT - timedelta(seconds=1),
        RunKey("ann", "weekly", 2): FIRST + SLOT,
        RunKey("ann", immediate_schedule("post#p1"), 5): FIRST,
    }
    for key, due_at in due.items():
        runs.create(replace(a_run(), key=key, due_at=due_at))
    found = set(runs.of_batch(FIRST))
    keys = {*of_first, RunKey("ann", "weekly", 1)}
    assert found == {BatchRun(key, Status.PENDING, Reason.DUE) for key in keys}


def test_batch_counts_the_current_status_of_a_run(runs: Runs) -> None:
    run = a_run()
    runs.create(run)

    def then(before: Run, status: Status, reason: Reason) -> BatchRun:
        after = replace(before, status=status, reason=reason)
        runs.swap(before, after)
        [found] = readable(runs.of_batch(FIRST))
        return found

    claimed = replace(run, status=Status.SENDING, reason=Reason.CLAIMED)
    pending = BatchRun(run.key, Status.PENDING, Reason.DUE)
    assert then(run, claimed.status, claimed.reason) == pending
    unknown = replace(run, status=Status.UNKNOWN, reason=Reason.UNCERTAIN)
    assert then(claimed, unknown.status, unknown.reason).status is Status.UNKNOWN
    sent = BatchRun(run.key, Status.SENT, Reason.EVIDENCE)
    assert then(unknown, sent.status, sent.reason) == sent


def test_shard_count_is_announced_once(batches: Batches, clock: SettableClock) -> None:
    assert batches.announced() == {}
    batches.announce(16)
    clock.now = NOW + timedelta(hours=1)
    batches.announce(16)
    batches.announce(256)
    assert batches.announced() == {16: FIRST, 256: slot_of(NOW + timedelta(hours=1))}
    assert batches.checkpoints() == {}
    assert batches.latest(5) == []
