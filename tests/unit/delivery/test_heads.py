"""Stored heads: schedules of which nothing is ever sent are read in a page, and nothing is lost."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from gazette.domain.delivery.redrive import RedriveResult
from gazette.domain.delivery.run import (
    BEGINNING,
    Head,
    Reason,
    Run,
    Status,
    possibly_sent_until,
    sent_until,
    settled_until,
)
from gazette.domain.identity import latest_run
from gazette.domain.model import DAILY, RunKey, StoredEvent, Window
from gazette.domain.scheduling.chain import PAGE, back_to_end, head_for, is_behind_head
from gazette.domain.scheduling.kinds import critical_schedule, immediate_schedule
from gazette.domain.subscribers.frequency import Frequency

from tests.builders import NOW, an_event
from tests.world import World, events_in

POST1 = immediate_schedule("post#post1")
DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
FIRST = int((NOW - 30 * DAY).timestamp())

Change = Callable[[Run], Run]


def ended(number: int, schedule: str = DAILY) -> Run:
    """A run that has ended unsent, a day before the next one."""
    at = NOW - timedelta(days=40 - number)
    sequence = FIRST + number if schedule == POST1 else number
    return Run(
        key=RunKey("ann", schedule, sequence),
        due_at=at,
        check_at=at,
        created_at=at,
        status=Status.SKIPPED,
        reason=Reason.NOTHING_WAITED,
    )


def sent(number: int, schedule: str = DAILY) -> Run:
    run = ended(number, schedule)
    return replace(
        run,
        status=Status.SENT,
        reason=Reason.ACCEPTED,
        attempt=1,
        claimed_at=run.due_at,
        window=Window(BEGINNING, run.due_at),
    )


def chain(number: int, change: dict[int, Change] | None = None) -> list[Run]:
    """The first was sent and so many have ended since, newest first."""
    runs = [sent(1), *(ended(each + 2) for each in range(number))]
    for place, act in (change or {}).items():
        runs[place] = act(runs[place])
    return runs[::-1]


def test_full_page_of_runs_has_head_with_sent_time() -> None:
    runs = chain(PAGE)
    assert head_for(runs, NOW) == Head(PAGE + 1, runs[-1].due_at)
    assert head_for(chain(PAGE - 1), NOW) is None


def test_head_has_no_sent_time_without_sent_run() -> None:
    assert head_for(chain(PAGE)[:-1], NOW) == Head(PAGE + 1, BEGINNING)


@pytest.mark.parametrize(
    "change",
    [
        lambda run: replace(run, status=Status.PENDING, reason=Reason.DUE),
        lambda run: replace(run, status=Status.UNKNOWN, attempt=1, uncertain=frozenset({1})),
        lambda run: replace(
            run,
            status=Status.FAILED,
            reason=Reason.CARRIED_INTO,
            attempt=1,
            uncertain=frozenset({1}),
            claimed_at=NOW - 30 * DAY,
        ),
        lambda run: replace(
            run, status=Status.FAILED, attempt=1, claimed_at=NOW - timedelta(hours=23)
        ),
        lambda run: replace(run, created_at=NOW - timedelta(minutes=10)),
    ],
    ids=["open", "unknown", "uncertain", "refused today", "just created"],
)
def test_head_precedes_runs_that_may_still_change(change: Change) -> None:
    number = PAGE + 4
    head = head_for(chain(number, {number - 2: change}), NOW)
    assert head
    assert head.sequence == number - 2
    assert head_for(chain(number, {3: change}), NOW) is None


def test_head_includes_run_rejected_a_day_ago() -> None:
    def refused(run: Run) -> Run:
        at = NOW - timedelta(hours=25)
        return replace(run, status=Status.FAILED, attempt=1, claimed_at=at)

    head = head_for(chain(PAGE, {4: refused}), NOW)
    assert head
    assert head.sequence == PAGE + 1


def test_head_keeps_sent_time_of_previous_head() -> None:
    """What was given up counts while its attempts are in the chain: a refusal may still come."""
    before = replace(ended(50), head=Head(49, NOW - 20 * DAY))
    runs = [*(ended(51 + each) for each in range(PAGE))][::-1]
    head = head_for([*runs, before], NOW + 30 * DAY)
    assert head == Head(50 + PAGE, NOW - 20 * DAY)
    uncertain = replace(
        ended(90),
        status=Status.UNKNOWN,
        attempt=2,
        uncertain=frozenset({1, 2}),
        window=Window(BEGINNING, NOW),
    )
    head = head_for([uncertain, *runs, before], NOW + 60 * DAY)
    assert head
    assert head.sent_until == NOW - 20 * DAY
    head = head_for([replace(uncertain, head=before.head), *runs], NOW + 60 * DAY)
    assert head
    assert head.sent_until == NOW - 20 * DAY


def test_run_chain_ends_at_newest_head() -> None:
    runs = [ended(each) for each in range(1, 41)]
    runs[29] = replace(runs[29], head=Head(25, NOW - 9 * DAY))
    runs[35] = replace(runs[35], head=Head(33, NOW - 9 * DAY))
    found = back_to_end(reversed(runs), of=latest_run("ann", DAILY))
    assert [run.key.sequence for run in found] == [40, 39, 38, 37, 36, 35, 34]
    for until in (sent_until, settled_until, possibly_sent_until):
        assert until(found) == NOW - 9 * DAY
    older = back_to_end(reversed(runs[:30]), of=RunKey("ann", DAILY, 30))
    assert [run.key.sequence for run in older] == [30, 29, 28, 27, 26]


def test_run_chain_reads_no_unnecessary_rows() -> None:
    def rows() -> list[Run]:
        raise AssertionError("one row more")

    def newest_first() -> object:
        yield replace(ended(9), head=Head(8, NOW))
        rows()

    found = back_to_end(newest_first(), of=latest_run("ann", DAILY))  # type: ignore[arg-type]
    assert len(found) == 1


def test_run_chain_for_past_time_continues_beyond_later_head() -> None:
    runs = [sent(1), *(ended(each) for each in range(2, 20)), sent(20), ended(21)]
    runs.append(replace(ended(22), head=Head(21, runs[19].due_at)))
    holding = runs[19].due_at - HOUR
    found = back_to_end(reversed(runs), of=latest_run("ann", DAILY), holding=holding)
    assert [run.key.sequence for run in found] == [*range(22, 0, -1)]
    after = runs[19].due_at + HOUR
    found = back_to_end(reversed(runs), of=latest_run("ann", DAILY), holding=after)
    assert [run.key.sequence for run in found] == [22]


def at_once() -> World:
    """Ann wants comments at once. One email was sent, and then a page of runs has ended unsent."""
    world = World()
    world.choose(at=NOW - 50 * DAY, comment=Frequency.IMMEDIATE)
    for run in [sent(1, POST1), *(ended(each, POST1) for each in range(2, PAGE + 4))]:
        world.runs.rows[run.key] = run
    return world


def post(world: World, event_id: str) -> None:
    world.create(an_event(event_id, occurred_at=world.clock()))


def emails(world: World) -> list[int]:
    return [events_in(email.lines) for email in world.emails()]


def test_thread_event_stores_head_with_its_run() -> None:
    world = at_once()
    post(world, "e1")
    newest = world.runs.chain(latest_run("ann", POST1))
    (run,) = newest
    assert run.head == Head(FIRST + PAGE + 3, sent(1).due_at)
    world.send_everything()
    assert emails(world) == [1]


def test_run_before_head_is_superseded() -> None:
    """Who created it slept for longer than any function lives."""
    world = at_once()
    post(world, "e1")
    strayed = replace(
        ended(3, POST1), status=Status.PENDING, reason=Reason.DUE, head=None, due_at=NOW - DAY
    )
    key = replace(strayed.key, sequence=FIRST)
    world.runs.rows[key] = replace(strayed, key=key)
    world.clock.pass_time(minutes=5)
    world.generate(key)
    assert world.runs.rows[key].reason is Reason.SUPERSEDED
    world.send_everything()
    assert emails(world) == [1]


def test_older_run_uses_head_of_newer_run() -> None:
    """It does not show again what the email at the beginning had."""
    world = World()
    world.choose(at=NOW - 50 * DAY, comment=Frequency.IMMEDIATE)
    world.clock.now = NOW - 31 * DAY
    post(world, "old")
    world.send_everything()
    assert emails(world) == [1]
    (old,) = world.events.rows.values()
    assert isinstance(old, StoredEvent)
    assert old.lasts_until > NOW
    for each in range(5, PAGE + 8):
        run = ended(each, POST1)
        world.runs.rows[run.key] = run
    world.clock.now = NOW
    post(world, "e1")
    world.clock.pass_time(seconds=25)
    post(world, "e2")
    older, newer = sorted(world.runs.rows, key=lambda key: key.sequence)[-2:]
    head = world.runs.rows[older].head
    assert head
    world.runs.rows[older] = replace(world.runs.rows[older], head=None)
    world.runs.rows[newer] = replace(world.runs.rows[newer], head=head)
    world.clock.pass_time(minutes=2)
    world.generate(older)
    world.send_everything()
    assert sum(emails(world)) == 3


def test_duplicate_of_old_event_creates_run_after_newest() -> None:
    world = at_once()
    post(world, "e1")
    before = set(world.runs.rows)
    (stored,) = (each for each in world.events.rows.values())
    old = replace(stored, stored_at=NOW - 25 * DAY)
    world.events.rows["ann", "e1"] = old
    world.runs.rows = {
        key: replace(run, status=Status.CANCELLED, reason=Reason.SUPERSEDED) if run.is_open else run
        for key, run in world.runs.rows.items()
    }
    world.clock.pass_time(hours=1)
    world.create(an_event("e1", occurred_at=NOW))
    (created,) = set(world.runs.rows) - before
    assert created.sequence > max(key.sequence for key in before)
    world.send_everything()
    assert emails(world) == [1]


def test_redrive_finds_sent_email_before_head() -> None:
    world = World()
    failed = replace(
        ended(1),
        status=Status.FAILED,
        reason=Reason.ATTEMPTS_EXHAUSTED,
        attempt=6,
        claimed_at=ended(1).due_at,
        window=Window(BEGINNING, ended(1).due_at),
    )
    runs = [failed, sent(2), *(ended(each) for each in range(3, 30))]
    runs.append(replace(ended(30), head=Head(29, sent(2).due_at)))
    for run in runs:
        world.runs.rows[run.key] = run
    redriven = world.redrive(failed)
    assert redriven.result is RedriveResult.SENT_SINCE
    assert redriven.run == sent(2)


def test_head_covers_all_earlier_runs() -> None:
    newer = [replace(ended(9), head=Head(7, NOW))]
    assert is_behind_head(ended(7), newer)
    assert not is_behind_head(ended(8), newer)


@pytest.mark.parametrize("hours", [12, 48])
@pytest.mark.parametrize("probed", [False, True])
@pytest.mark.parametrize("critical", [frozenset(), frozenset({"comment"})])
def test_events_read_few_runs_while_stream_is_stopped(
    hours: int, critical: frozenset[str], *, probed: bool
) -> None:
    """Each minute one comes, and by the next the newest run has ended those before it.

    A probe of this thread is refused every half hour: for a day no head passes that run. Critical
    runs do not wait for longer after others.
    """
    world = World(critical=critical)
    schedule = critical_schedule("post#post1") if critical else POST1
    world.choose(at=NOW - 50 * DAY, comment=Frequency.IMMEDIATE)
    rows: dict[RunKey, Run] = world.runs.rows
    most = 0
    for minute in range(hours * 60):
        now = world.clock()
        if minute:  # the message of the newest comes, and there is no permit for it
            supersede_older(world.runs.chain(latest_run("ann", schedule)), rows, now)
        post(world, f"e{minute}")
        found = world.runs.chain(latest_run("ann", schedule))
        most = max(most, len(found))
        newest = found[0]
        if probed and minute % 30 == 0 and newest.attempt == 0:
            rows[newest.key] = refused(newest, now)
        world.events.rows.clear()
        world.generate_queue.sent.clear()
        world.clock.pass_time(minutes=1)
        drop_what_no_chain_reads(rows, newest)
    assert most <= (128 if probed else 32)


def supersede_older(chain: Sequence[Run], rows: dict[RunKey, Run], now: datetime) -> None:
    newest, *older = chain
    for run in older:
        if run.is_unclaimed and newest.due_at <= now:
            rows[run.key] = replace(run, status=Status.CANCELLED, reason=Reason.SUPERSEDED)


def refused(run: Run, now: datetime) -> Run:
    return replace(
        run,
        status=Status.RETRYING,
        reason=Reason.REFUSED_ACCOUNT,
        attempt=1,
        claimed_at=now,
        window=Window(BEGINNING, now),
    )


def drop_what_no_chain_reads(rows: dict[RunKey, Run], newest: Run) -> None:
    """For speed."""
    if newest.head:
        for key in [key for key in rows if key.sequence <= newest.head.sequence]:
            del rows[key]
