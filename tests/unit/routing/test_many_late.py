"""More events were stored in the last two minutes of a window than a run may name."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from gazette.adapters.dynamodb.runs import run_row
from gazette.domain.content.items import CONTENT_SOURCES
from gazette.domain.delivery.run import (
    EACH_READ,
    MOST_NEWEST,
    STILL_WRITTEN,
    Reason,
    Run,
    Status,
    name_of,
)
from gazette.domain.delivery.signals import RefusedForNow
from gazette.domain.feedback.experiment import Variant
from gazette.domain.identity import LAST_SEQUENCE
from gazette.domain.model import DAILY, RunKey, StoredEvent, Window
from gazette.domain.scheduling.calendar import slot_of
from gazette.domain.scheduling.kinds import immediate_schedule
from gazette.domain.subscribers.frequency import Frequency

from tests.builders import NOW, RETENTION, an_event
from tests.meter import item_size
from tests.world import SETTLE_LAG, World

MANY = MOST_NEWEST + 20
SECOND = timedelta(seconds=1)


def put(world: World, ids: list[str]) -> None:
    """Events of one thread, all at this instant."""
    for event_id in ids:
        world.create(an_event(event_id, occurred_at=world.clock()))


def burst(number: int = MANY, *, of: str = "e") -> list[str]:
    return [f"{of}{nth}" for nth in range(number)]


def due_soon(number: int = MANY) -> World:
    """So many events wait, stored ten seconds before the digest is due; it is fanned out."""
    world = World()
    world.choose(comment=Frequency.DAILY)
    world.create(an_event("first", occurred_at=world.clock()))
    due = world.schedules.rows["ann", DAILY].next_due_at
    world.clock.now = due - 10 * SECOND
    put(world, burst(number))
    world.clock.now = due + 2 * SETTLE_LAG
    world.fan_out(slot_of(due))
    return world


def only_run(world: World) -> Run:
    (run,) = world.runs.rows.values()
    return run


def sent(world: World) -> list[str]:
    """How many events each email had."""
    return [line for email in world.emails() for line in email.lines]


def test_up_to_the_name_limit_recent_events_are_sent_at_once() -> None:
    world = due_soon(MOST_NEWEST)
    world.deliver_queued()
    run = only_run(world)
    assert run.status is Status.SENT
    assert len(run.newest) == MOST_NEWEST
    assert run.newest != EACH_READ


def test_digest_with_too_many_recent_events_waits_for_pending_writes() -> None:
    """They lie two minutes before the end of the window by then."""
    world = due_soon()
    due = world.clock() - 2 * SETTLE_LAG
    world.deliver_queued()
    assert only_run(world).status is Status.PENDING
    world.deliver_queued()
    run = only_run(world)
    assert (run.status, run.newest) == (Status.SENT, ())
    assert sent(world) == [f"post1: {MANY + 1}"]
    assert run.window
    assert run.window.until >= due
    assert world.clock() <= due + STILL_WRITTEN + 4 * SETTLE_LAG


def test_constant_stream_of_events_does_not_delay_a_digest() -> None:
    """The events that come while it waits are in the next one."""
    world = due_soon()
    put(world, burst(of="while"))
    world.deliver_queued()
    world.clock.pass_time(minutes=1)
    put(world, burst(of="later"))
    world.deliver_queued()
    assert only_run(world).status is Status.SENT
    first = sent(world)
    world.clock.pass_time(minutes=10)
    world.send_digest()
    assert len(sent(world)) == 2
    assert sum(int(line.split()[-1]) for line in sent(world)) == 3 * MANY + 1
    assert first != sent(world)


def test_overdue_digest_does_not_wait_for_pending_writes() -> None:
    world = due_soon()
    world.clock.pass_time(minutes=20)
    put(world, burst(of="since"))
    world.clock.pass_time(minutes=1)
    world.deliver_queued()
    run = only_run(world)
    assert (run.status, run.newest) == (Status.SENT, EACH_READ)
    assert sent(world) == [f"post1: {MANY + 1}"]


def test_redelivered_message_does_not_repeat_a_shown_event() -> None:
    world = due_soon()
    world.deliver_queued()
    world.deliver_queued()
    world.clock.pass_time(minutes=9)
    put(world, ["first", *burst()])
    world.send_digest()
    assert sent(world) == [f"post1: {MANY + 1}"]


def test_event_counts_as_shown_unless_listed_as_left_out() -> None:
    window = Window(NOW - timedelta(days=1), NOW)
    run = Run(RunKey("ann", DAILY, 1), NOW, NOW, status=Status.SENT, attempt=1, window=window)
    run = replace(run, newest=EACH_READ, left_out=(name_of("out"),))
    for stored_at in (NOW, NOW - STILL_WRITTEN, NOW - timedelta(hours=1)):
        assert run.has_shown("in", stored_at)
        assert run.has_passed_over("out", stored_at)
    assert not run.has_shown("in", NOW + SECOND)


def test_retry_with_a_fixed_window_waits_for_pending_writes() -> None:
    """Names that the first attempt had room for become too many with what was written late."""
    world = due_soon(MOST_NEWEST)
    world.mailer.script.append(RefusedForNow(1, "Throttling"))
    world.deliver_queued()
    run = only_run(world)
    assert run.status is Status.RETRYING
    assert run.window
    late = world.events.rows["ann", "e0"]
    assert isinstance(late, StoredEvent)
    for nth in range(3):
        row = replace(
            late,
            event=an_event(f"late{nth}", occurred_at=world.clock()),
            stored_at=run.window.until - SECOND,
        )
        world.events.rows["ann", f"late{nth}"] = row
        world.events.expires_at["ann", f"late{nth}"] = world.clock() + timedelta(days=9)
    world.clock.now = run.window.until + STILL_WRITTEN + SETTLE_LAG
    assert run.retry_at
    if world.clock() < run.retry_at:
        world.clock.now = run.retry_at
    world.deliver(run.key)
    run = only_run(world)
    assert (run.status, run.newest) == (Status.SENT, EACH_READ)


@pytest.mark.parametrize("minutes", [0, 5])
def test_immediate_run_waits_for_pending_writes(minutes: int) -> None:
    world = World()
    world.choose(comment=Frequency.IMMEDIATE)
    put(world, burst())
    for _ in range(6):
        world.deliver_queued()
        world.clock.pass_time(minutes=minutes)
    assert sent(world) == [f"post1: {MANY}"]
    (run,) = [run for run in world.runs.rows.values() if run.status is Status.SENT]
    assert run.window
    assert run.window.until >= run.due_at
    world.clock.pass_time(minutes=9)
    put(world, burst())
    for _ in range(6):
        world.deliver_queued()
    assert sent(world) == [f"post1: {MANY}"]


def worst_run() -> Run:
    """Every attribute as long as it may be."""
    return Run(
        key=RunKey("u" * 64, immediate_schedule("post#1"), LAST_SEQUENCE),
        due_at=NOW,
        check_at=NOW,
        status=Status.RETRYING,
        reason=Reason.PREFERENCES_CHANGED,
        attempt=99,
        refusals=99,
        epoch=10**6,
        uncertain=frozenset({98, 99}),
        resent=True,
        overtaken=True,
        retry_at=NOW,
        window=Window(NOW - timedelta(days=200), NOW),
        deadline=NOW,
        nonce="n" * 16,
        created_at=NOW,
        claimed_at=NOW,
        sent_at=NOW,
        message_id="m" * 76,
        detail="d" * 200,
        variant=Variant(99, "e" * 32),
        locale="l" * 35,
        categories=tuple("c" * 32 for _ in range(10)),
        newest=tuple(name_of(str(nth)) for nth in range(MOST_NEWEST)),
        events=999_999,
        left_out=tuple(name_of(str(nth)) for nth in range(10)),
        sources=CONTENT_SOURCES,
        asked_at=NOW,
        without=CONTENT_SOURCES,
        templates=10**9,
        templates_gone=10**9,
    )


def size_of(run: Run) -> int:
    row: dict[str, Any] = run_row(run, retention=RETENTION).serialize()
    return item_size(row)


def test_largest_run_row_matches_the_documented_size() -> None:
    most, few = size_of(worst_run()), size_of(replace(worst_run(), newest=(), left_out=()))
    names = 9 * (MOST_NEWEST + 10) + len("newest") + len("left_out") - 2
    assert most - few == names
    said = f"has at most {most:,} bytes, including {9 * MOST_NEWEST:,} for these names"
    assert said in Path("docs/tables.md").read_text(encoding="utf-8")
    assert most < 3 * 1024
