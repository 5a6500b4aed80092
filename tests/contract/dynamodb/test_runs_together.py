"""What `Runs` promises of writes that belong together, and of what is overdue."""

from dataclasses import replace
from datetime import timedelta

import pytest
from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.errors import Unavailable
from gazette.domain.identity import shard_of
from gazette.domain.model import DAILY, RunKey
from gazette.domain.ports.ledgers import Runs
from gazette.domain.stored import readable

from tests.builders import NOW, a_run, a_window
from tests.contract.conftest import SECOND
from tests.fake_stores import PARTITIONS

NEXT = timedelta(microseconds=1)
OLD = replace(
    a_run(1),
    status=Status.UNKNOWN,
    reason=Reason.CARRIED,
    attempt=1,
    uncertain=frozenset({1}),
    window=a_window(),
)
CLOSED = replace(OLD, status=Status.FAILED, reason=Reason.CARRIED_INTO)
NEW = a_run(2)
CLAIMED = replace(NEW, status=Status.SENDING, reason=Reason.CLAIMED, attempt=1, nonce="n1")
PAIRS = ((NEW, CLAIMED), (OLD, CLOSED))


@pytest.fixture
def unknown(runs: Runs) -> Runs:
    """A run that was carried, and the one that follows it."""
    runs.create(a_run(1))
    runs.swap(a_run(1), OLD)
    runs.create(NEW)
    return runs


def test_runs_are_swapped_together(unknown: Runs) -> None:
    assert unknown.swap_together(PAIRS)
    assert [unknown.get(run.key) for run in (OLD, NEW)] == [CLOSED, CLAIMED]


@pytest.mark.parametrize("moved", [OLD, NEW])
def test_no_run_is_swapped_if_any_has_changed(unknown: Runs, moved: Run) -> None:
    now = replace(moved, epoch=moved.epoch + 1)
    unknown.swap(moved, now)
    assert not unknown.swap_together(PAIRS)
    assert {unknown.get(run.key) for run in (OLD, NEW)} == ({OLD, NEW} - {moved}) | {now}


def test_unchanged_run_in_a_swap_is_only_checked(unknown: Runs) -> None:
    unknown.swap(OLD, CLOSED)
    assert unknown.swap_together(((NEW, CLAIMED), (CLOSED, CLOSED)))
    assert unknown.get(NEW.key) == CLAIMED


def test_changed_run_that_was_only_checked_fails_the_swap(unknown: Runs) -> None:
    """Evidence for what was carried long ago."""
    unknown.swap(OLD, replace(OLD, status=Status.SENT, reason=Reason.EVIDENCE))
    assert not unknown.swap_together(((NEW, CLAIMED), (CLOSED, CLOSED)))
    assert unknown.get(NEW.key) == NEW


def test_repeated_swap_recognises_its_nonce(unknown: Runs) -> None:
    assert unknown.swap_together(PAIRS)
    assert unknown.swap_together(PAIRS)
    others = ((NEW, replace(CLAIMED, nonce="n2")), (OLD, CLOSED))
    assert not unknown.swap_together(others), "another worker's"


def test_transaction_with_a_lost_response_may_have_succeeded(
    unknown: Runs, engine: str, answers: list[str]
) -> None:
    if engine != "moto":
        return
    answers.extend(["lost after"] * 3)
    with pytest.raises(Unavailable):
        unknown.swap_together(PAIRS)
    answers.clear()
    assert unknown.get(NEW.key) == CLAIMED
    assert unknown.swap_together(PAIRS)


def overdue(runs: Runs, at: timedelta = timedelta(0), user_id: str = "ann") -> list[RunKey]:
    partition = shard_of(user_id, PARTITIONS)
    return [run.key for run in readable(runs.overdue(partition, NOW + at))]


def test_run_is_overdue_from_its_check_time(runs: Runs) -> None:
    runs.create(replace(a_run(), check_at=NOW))
    assert overdue(runs, -NEXT) == []
    assert overdue(runs) == [a_run().key]


def test_each_partition_lists_its_own_overdue_runs(runs: Runs) -> None:
    users = [f"reader{number}" for number in range(40)]
    for user_id in users:
        runs.create(replace(a_run(user_id=user_id), check_at=NOW))
    found = [
        run.key.user_id
        for partition in range(PARTITIONS)
        for run in readable(runs.overdue(partition, NOW))
    ]
    assert sorted(found) == sorted(users)


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (Status.SENT, Reason.ACCEPTED),
        (Status.FAILED, Reason.REFUSED_FOR_GOOD),
        (Status.SKIPPED, Reason.EMPTY),
        (Status.CANCELLED, Reason.SUPERSEDED),
        (Status.UNKNOWN, Reason.CARRIED),
    ],
)
def test_ended_run_is_never_overdue(runs: Runs, status: Status, reason: Reason) -> None:
    runs.create(replace(a_run(), check_at=NOW))
    before = runs.get(a_run().key)
    assert before
    runs.swap(before, replace(before, status=status, reason=reason))
    assert overdue(runs, timedelta(days=9)) == []


def test_postponed_run_is_overdue_at_the_later_time(runs: Runs) -> None:
    run = runs.create(replace(a_run(), check_at=NOW))
    runs.swap(run, replace(run, check_at=NOW + SECOND))
    assert overdue(runs) == []
    assert overdue(runs, SECOND) == [run.key]


def test_overdue_run_is_read_as_stored(runs: Runs) -> None:
    run = runs.create(replace(a_run(), check_at=NOW))
    now = replace(
        run,
        status=Status.RETRYING,
        attempt=1,
        retry_at=NOW,
        overtaken=True,
        epoch=2,
    )
    runs.swap(run, now)
    assert list(runs.overdue(shard_of("ann", PARTITIONS), NOW)) == [now]


def test_schedule_may_have_many_overdue_runs(runs: Runs) -> None:
    for sequence in range(1, 131):
        runs.create(replace(a_run(), key=RunKey("ann", DAILY, sequence), check_at=NOW))
    assert len(overdue(runs)) == 130


def test_open_runs_are_listed_with_their_due_times(runs: Runs) -> None:
    """Not when it is looked at next."""
    partition = shard_of("ann", PARTITIONS)
    assert not list(runs.open_runs(partition))
    due = {}
    for sequence, ago in ((1, 3 * SECOND), (2, 9 * SECOND), (3, SECOND)):
        run = replace(a_run(sequence), due_at=NOW - ago, check_at=NOW + ago)
        assert runs.create(run) == run
        due[run.key] = run.due_at
    assert dict(runs.open_runs(partition)) == due
    ended = runs.get(a_run(2).key)
    assert ended
    runs.swap(ended, replace(ended, status=Status.SENT, reason=Reason.ACCEPTED))
    del due[ended.key]
    assert dict(runs.open_runs(partition)) == due
    others = set(range(PARTITIONS)) - {partition}
    assert not [run for other in others for run in runs.open_runs(other)]
