"""What the port `Runs` promises, held against our fake and the real adapter on moto."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from gazette.adapters.dynamodb.runs import DynamoRuns, run_sort_key
from gazette.adapters.dynamodb.tables import RunRow
from gazette.domain.delivery.run import Head, Reason, Run, Status
from gazette.domain.errors import Unavailable
from gazette.domain.identity import latest_run
from gazette.domain.model import DAILY, RunKey
from gazette.domain.ports.ledgers import Runs
from gazette.domain.scheduling.kinds import (
    critical_schedule,
    immediate_schedule,
    urgent_schedule,
)
from gazette.domain.stored import readable

from tests.builders import KEY, NOW, a_claimed_run, a_run, a_window
from tests.contract.conftest import SECOND
from tests.fake_stores import FakeRuns

IMMEDIATE = immediate_schedule("post#post1")
URGENT = urgent_schedule("post#post1")


def of_schedule(name: str, sequence: int) -> Run:
    return replace(a_run(), key=RunKey("ann", name, sequence))


def test_run_is_created_once(runs: Runs) -> None:
    assert runs.create(a_run()) == a_run()
    later = replace(a_run(), due_at=NOW + timedelta(days=1))
    assert runs.create(later) == a_run()
    assert list(runs.chain(KEY)) == [a_run()]


def test_runs_are_read_together(runs: Runs) -> None:
    stored = [runs.create(of_schedule(DAILY, number)) for number in range(1, 131)]
    keys = {run.key for run in stored} | {RunKey("ben", DAILY, 1)}
    assert runs.get_many(keys) == {run.key: run for run in stored}
    assert runs.get_many(set()) == {}


def test_run_is_read_with_all_attributes(runs: Runs) -> None:
    runs.create(a_run())
    full = replace(
        a_run(),
        status=Status.UNKNOWN,
        reason=Reason.UNCERTAIN,
        attempt=2,
        refusals=1,
        epoch=3,
        uncertain=frozenset({1, 2}),
        resent=True,
        window=a_window(),
        created_at=NOW,
        claimed_at=NOW + SECOND,
        sent_at=NOW + 2 * SECOND,
        deadline=NOW + SECOND,
        nonce="nonce",
        message_id="message",
        detail="TooManyRequestsException",
        events=12,
    )
    assert runs.swap(a_run(), full) == full
    assert list(runs.chain(KEY)) == [full]
    assert list(runs.of_user("ann")) == [full]


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
@pytest.mark.usefixtures("engine")
def test_run_of_an_earlier_version_has_no_times(runs: Runs) -> None:
    timed = replace(a_run(), created_at=NOW, claimed_at=NOW, sent_at=NOW)
    runs.create(timed)
    row = RunRow.get("ann", run_sort_key(KEY))
    row.update([each.remove() for each in (RunRow.created_at, RunRow.claimed_at, RunRow.sent_at)])
    assert runs.get(KEY) == replace(timed, created_at=None, claimed_at=None, sent_at=None)


def test_failed_swap_returns_the_stored_run(runs: Runs) -> None:
    runs.create(a_run())
    first = replace(a_run(), status=Status.SENDING, attempt=1, nonce="first")
    second = replace(first, nonce="second")
    assert runs.swap(a_run(), first) == first
    assert runs.swap(a_run(), second) == first
    assert runs.swap(a_run(), first) == first, "its own answer was lost: it recognises itself"


@pytest.mark.parametrize(
    "read",
    [
        replace(a_run(), status=Status.RETRYING),
        replace(a_run(), attempt=1),
        replace(a_run(), epoch=1),
        replace(a_run(), reason=Reason.REFUSED_FOR_NOW),
    ],
)
def test_swap_succeeds_only_if_the_run_is_unchanged_since_read(runs: Runs, read: Run) -> None:
    runs.create(a_run())
    assert runs.swap(read, replace(read, status=Status.SENT)) == a_run()


@pytest.mark.parametrize(
    "meanwhile",
    [
        replace(a_run(), asked_at=NOW),
        replace(a_run(), check_at=a_run().check_at + timedelta(hours=1)),
    ],
)
def test_swap_overwrites_no_concurrent_write(runs: Runs, meanwhile: Run) -> None:
    """The sweep sets when to look again, while a delivery stores that it has asked its sources."""
    runs.create(a_run())
    assert runs.swap(a_run(), meanwhile) == meanwhile
    late = replace(a_run(), check_at=a_run().check_at + timedelta(hours=2), asked_at=None)
    assert runs.swap(a_run(), late) == meanwhile
    assert runs.get(KEY) == meanwhile
    claimed = replace(a_run(), status=Status.SENDING, attempt=1, nonce="n")
    assert runs.swap(a_run(), claimed) == meanwhile, "whoever claims reads again"
    assert not runs.swap_together([(a_run(), claimed)])
    assert runs.get(KEY) == meanwhile
    assert runs.swap(meanwhile, replace(meanwhile, asked_at=NOW)).asked_at == NOW


def test_swap_never_creates_a_run(runs: Runs) -> None:
    with pytest.raises(LookupError):
        runs.swap(a_run(), replace(a_run(), status=Status.SENDING, attempt=1))
    assert list(runs.chain(KEY)) == []


def test_chain_reaches_back_to_the_previous_sent_run(runs: Runs) -> None:
    statuses = [Status.SENT, Status.SENT, Status.SKIPPED, Status.FAILED, Status.SENT]
    for number, status in enumerate(statuses, 1):
        runs.create(a_claimed_run(number, status=status))
    runs.create(a_run(2, user_id="bo"))
    runs.create(of_schedule("weekly", 4))
    chain = runs.chain(RunKey("ann", DAILY, 5))
    assert [run.key.sequence for run in chain] == [5, 4, 3, 2]
    assert [run.key.sequence for run in runs.chain(RunKey("ann", DAILY, 9))] == [5]


def test_chain_ends_at_the_head_of_a_run(runs: Runs) -> None:
    head = Head(sequence=30, sent_until=NOW)
    for number in range(1, 41):
        run = replace(a_run(number), head=head if number == 35 else None)
        assert runs.create(run) == run
    chain = runs.chain(RunKey("ann", DAILY, 40))
    assert [run.key.sequence for run in chain] == list(range(40, 30, -1))
    assert chain[5].head == head
    older = runs.chain(RunKey("ann", DAILY, 40), holding=NOW)
    assert [run.key.sequence for run in older] == list(range(40, 0, -1))


def test_next_sent_run_covers_the_events_of_an_earlier_run(runs: Runs) -> None:
    window = a_window()
    assert runs.first_sent(RunKey("ann", DAILY, 1), until=window.until) is None
    for number in range(1, 251):
        runs.create(a_run(number))
    sent = [a_claimed_run(number, status=Status.SENT, window=window) for number in (251, 252)]
    for run in (a_claimed_run(253, status=Status.FAILED, window=window), *sent):
        runs.create(run)
    runs.create(replace(sent[0], key=RunKey("ann", "weekly", 2)))
    runs.create(replace(sent[0], key=RunKey("bo", DAILY, 2)))
    first = RunKey("ann", DAILY, 1)
    assert runs.first_sent(first, until=window.until) == sent[0]
    assert runs.first_sent(sent[0].key, until=window.since) == sent[1]
    assert runs.first_sent(sent[1].key, until=window.until) is None
    assert runs.first_sent(first, until=window.until + timedelta(seconds=1)) is None


def test_chain_continues_past_a_sent_run_without_a_window(runs: Runs) -> None:
    runs.create(a_claimed_run(1, status=Status.SENT))
    runs.create(replace(a_run(2), status=Status.SENT))
    assert [run.key.sequence for run in runs.chain(RunKey("ann", DAILY, 3))] == [2, 1]


def test_chain_of_many_unsent_runs_reaches_the_first(runs: Runs) -> None:
    for number in range(1, 41):
        runs.create(replace(a_run(number), status=Status.SKIPPED))
    chain = runs.chain(RunKey("ann", DAILY, 40))
    assert [run.key.sequence for run in chain] == list(range(40, 0, -1))


def test_chain_before_the_latest_run_contains_every_sequence(runs: Runs) -> None:
    """Those of immediate runs are seconds since 1970, with ten digits."""
    assert list(runs.chain(latest_run("ann", IMMEDIATE))) == []
    numbers = [1, int(NOW.timestamp()), 9_999_999_999]
    for number in numbers:
        runs.create(of_schedule(IMMEDIATE, number))
    chain = runs.chain(latest_run("ann", IMMEDIATE))
    assert [run.key.sequence for run in chain] == numbers[::-1]


@pytest.mark.parametrize(("usual", "urgent"), [(0, 0), (3, 0), (0, 3), (30, 5), (5, 30), (16, 16)])
def test_chains_of_a_thread_are_those_of_both_its_schedules(
    runs: Runs, usual: int, urgent: int
) -> None:
    """The chain of each schedule ends at its own run that was sent, number 2."""
    for name, number in ((IMMEDIATE, usual), (URGENT, urgent)):
        for sequence in range(1, number + 1):
            sent = replace(a_claimed_run(), status=Status.SENT) if sequence == 2 else a_run()
            runs.create(replace(sent, key=RunKey("ann", name, sequence)))
    for name in (critical_schedule("post#post1"), immediate_schedule("post#post2"), DAILY):
        runs.create(of_schedule(name, 1))
    runs.create(replace(a_run(), key=RunKey("bo", URGENT, 1)))
    found = [(run.key.schedule, run.key.sequence) for run in runs.of_thread("ann", "post#post1")]
    assert found == [
        (name, sequence)
        for name, number in ((URGENT, urgent), (IMMEDIATE, usual))
        for sequence in range(number, 1 if number > 1 else 0, -1)
    ]


def test_every_run_of_a_user_is_found(runs: Runs) -> None:
    mine = [
        a_run(1),
        replace(a_run(2), status=Status.SENT),
        of_schedule("weekly", 1),
        of_schedule(IMMEDIATE, int(NOW.timestamp())),
    ]
    for run in (*mine, a_run(user_id="bo")):
        runs.create(run)
    found = sorted(readable(runs.of_user("ann")), key=lambda run: mine.index(run))
    assert found == mine
    assert list(runs.of_user("nobody")) == []


def test_run_instants_are_read_in_utc(runs: Runs) -> None:
    berlin = datetime.fromisoformat("2026-11-22T08:00:00.000001+01:00")
    runs.create(replace(a_run(), due_at=berlin))
    assert runs.chain(KEY)[0].due_at == berlin.astimezone(UTC)


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
def test_claim_is_retried_after_a_transaction_conflict(runs: Runs, answers: list[str]) -> None:
    runs.create(a_run())
    claimed = replace(a_run(), status=Status.SENDING, attempt=1, nonce="first")
    answers += ["in the way", "in the way"]
    assert runs.swap(a_run(), claimed) == claimed


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
def test_claim_with_a_lost_response_recognises_its_nonce(runs: Runs, answers: list[str]) -> None:
    runs.create(a_run())
    claimed = replace(a_run(), status=Status.SENDING, attempt=1, nonce="first")
    answers += ["lost after"]
    with pytest.raises(Unavailable):
        runs.swap(a_run(), claimed)
    assert runs.swap(a_run(), claimed) == claimed


def test_run_is_read_by_its_key_alone(runs: Runs) -> None:
    assert runs.get(a_run().key) is None
    runs.create(a_run())
    runs.create(a_run(2))
    assert runs.get(a_run(2).key) == a_run(2)


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 9])
def test_pages_of_a_readers_runs_are_complete_and_in_descending_order(
    runs: DynamoRuns | FakeRuns, limit: int
) -> None:
    for number in (1, 2, 10):
        run = a_run(number)
        for key in (run.key, replace(run.key, schedule="weekly"), replace(run.key, user_id="bo")):
            runs.create(replace(run, key=key))
    every: list[RunKey] = []
    place = ""
    for _ in range(9):
        page, place = runs.page("ann", before=place, limit=limit)
        every += [run.key for run in page]
        if not place:
            break
    assert every == [
        RunKey("ann", schedule, number) for schedule in ("weekly", DAILY) for number in (10, 2, 1)
    ]


def test_page_of_one_schedule_contains_no_other(runs: DynamoRuns | FakeRuns) -> None:
    for number in (1, 2):
        run = a_run(number)
        for schedule in (DAILY, "dailyx", "dail", "weekly"):
            runs.create(replace(run, key=replace(run.key, schedule=schedule)))
    first, place = runs.page("ann", schedule=DAILY, limit=1)
    last, end = runs.page("ann", schedule=DAILY, before=place, limit=1)
    assert [run.key for run in (*first, *last)] == [RunKey("ann", DAILY, n) for n in (2, 1)]
    assert (place, end) == (run_sort_key(RunKey("ann", DAILY, 2)), "")
    assert runs.page("bo", limit=1) == ([], "")
