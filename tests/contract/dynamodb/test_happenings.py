"""Tests of the port `Events` for the bodies of one happening, on the fake and on the adapter."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from gazette.adapters.dynamodb.deferred_events import DynamoDeferredEvents
from gazette.domain.delivery.run import BEGINNING, Run
from gazette.domain.happening.bodies import LeftOut, Settlement
from gazette.domain.happening.rewriting import Pointing, Rewrite
from gazette.domain.model import DAILY, Event, Retracted, StoredEvent
from gazette.domain.ports.ledgers import Runs
from gazette.domain.ports.receipts import EventTraces
from gazette.domain.ports.stores import DeferredEvents, Events, Guard
from gazette.domain.scheduling.kinds import Unsent, immediate_schedule

from tests.builders import NOW, RETENTION, SettableClock, a_run, a_stored_event, an_event
from tests.contract.conftest import SECOND
from tests.fake_stores import FakeEvents

COMMENT = an_event("c1", via=("post#p1",))
MENTION = replace(an_event("c1", category="mention"), own_id="m1")
NO_GUARD = Guard()
THREAD = immediate_schedule(COMMENT.entity.key)
POINTING = Pointing("m1")
POINTER = Retracted("m1", part_of="c1", is_pointer=True)


def a_change(
    before: StoredEvent | Retracted | None,
    shown: Event | None,
    *others: Event,
    schedule: str = DAILY,
    moves: bool = False,
    retracted: str | None = None,
    pointing: Pointing | None = None,
) -> Rewrite:
    return Rewrite(
        user_id="ann",
        event_id="c1",
        before=before,
        after=Settlement(shown, others, schedule) if shown else None,
        moves=moves,
        retracted=retracted,
        pointing=pointing,
    )


def stored_in(events: Events, change: Rewrite) -> StoredEvent:
    is_written, stored = events.rewrite(change, NO_GUARD)
    assert is_written
    assert stored == events.get("ann", "c1")
    assert isinstance(stored, StoredEvent)
    return stored


@pytest.fixture
def comment(events: Events, clock: SettableClock) -> StoredEvent:
    _, stored = events.store(COMMENT, DAILY)
    clock.now += SECOND
    assert isinstance(stored, StoredEvent)
    return stored


@pytest.fixture
def both(events: Events, comment: StoredEvent) -> StoredEvent:
    return stored_in(events, a_change(comment, MENTION, COMMENT, pointing=POINTING))


def test_first_body_with_an_own_id_is_stored_with_its_pointer(events: Events) -> None:
    stored = stored_in(events, a_change(None, MENTION, pointing=POINTING))
    assert stored == a_stored_event(MENTION, DAILY, NOW)
    assert events.get("ann", "m1") == POINTER
    assert list(events.stored_under("ann", DAILY, after=BEGINNING)) == [stored]


def test_first_body_of_an_activity_that_was_retracted_early_replaces_its_marker(
    events: Events,
) -> None:
    marker = events.retract("ann", "c1", early=True)
    change = a_change(marker, MENTION, moves=True, pointing=POINTING)
    stored = stored_in(events, change)
    assert stored == replace(a_stored_event(MENTION, DAILY, NOW), refuses_own=True)
    assert events.rewrite(change, NO_GUARD) == (False, None)


def test_second_body_joins_in_place(events: Events, both: StoredEvent) -> None:
    alone = a_stored_event(MENTION, DAILY, NOW)
    until = NOW + SECOND + RETENTION
    assert both == replace(alone, others=(COMMENT,), revision=1, lasts_until=until)
    assert events.get("ann", "m1") == POINTER
    assert list(events.stored_under("ann", DAILY, after=BEGINNING)) == [both]


def test_second_body_moves_the_row(
    events: Events, comment: StoredEvent, clock: SettableClock
) -> None:
    change = a_change(comment, MENTION, COMMENT, schedule=THREAD, moves=True, pointing=POINTING)
    stored = stored_in(events, change)
    assert (stored.schedule, stored.stored_at, stored.others) == (THREAD, clock.now, (COMMENT,))
    assert list(events.stored_under("ann", DAILY, after=BEGINNING)) == []


def test_row_is_written_only_if_its_id_is_free(events: Events, comment: StoredEvent) -> None:
    assert events.rewrite(a_change(None, MENTION, pointing=POINTING), NO_GUARD) == (False, None)
    assert events.get("ann", "c1") == comment
    assert events.get("ann", "m1") is None


@pytest.mark.parametrize("early", [True, False])
def test_pointer_is_written_only_if_its_id_is_free(events: Events, early: bool) -> None:
    if early:
        events.retract("ann", "m1", early=True)
    else:
        events.store(an_event("m1"), DAILY)
    before = events.get("ann", "m1")
    assert events.rewrite(a_change(None, MENTION, pointing=POINTING), NO_GUARD) == (False, None)
    assert events.get("ann", "c1") is None
    assert events.get("ann", "m1") == before


def test_row_is_written_only_with_the_place_that_was_read(
    events: Events, both: StoredEvent, clock: SettableClock
) -> None:
    moved = events.move(both, "weekly", NO_GUARD)
    assert moved == replace(both, schedule="weekly", stored_at=clock.now)
    assert events.rewrite(a_change(both, COMMENT), NO_GUARD) == (False, None)
    assert events.get("ann", "c1") == moved


def test_row_is_written_only_with_the_bodies_that_were_read(
    events: Events, comment: StoredEvent, both: StoredEvent
) -> None:
    assert events.rewrite(a_change(comment, COMMENT, MENTION), NO_GUARD) == (False, None)
    amended = replace(MENTION, excerpt="Hi.", amended_at=NOW)
    assert events.amend(both, amended)
    assert events.rewrite(a_change(both, COMMENT), NO_GUARD) == (False, None)
    assert events.get("ann", "c1") == replace(both, event=amended)


def test_row_whose_bodies_have_changed_is_neither_moved_nor_removed_nor_amended(
    events: Events, comment: StoredEvent, both: StoredEvent
) -> None:
    assert events.move(comment, "weekly", NO_GUARD) is None
    assert events.move_together([comment], "weekly", NO_GUARD) is None
    assert not events.remove(comment, NO_GUARD)
    assert not events.remove_together([comment], NO_GUARD)
    assert not events.amend(comment, replace(COMMENT, amended_at=NOW))
    assert events.get("ann", "c1") == both


def test_row_that_becomes_plain_again_is_another_row(
    events: Events, comment: StoredEvent, both: StoredEvent
) -> None:
    plain = stored_in(events, a_change(both, COMMENT))
    assert plain == replace(comment, revision=2, lasts_until=both.lasts_until)
    assert not events.remove(comment, NO_GUARD)
    assert events.remove(plain, NO_GUARD)


def test_body_is_removed_in_place(events: Events, both: StoredEvent) -> None:
    stored = stored_in(events, a_change(both, COMMENT))
    assert stored.bodies == (COMMENT,)
    assert events.get("ann", "m1") == POINTER


@pytest.mark.parametrize("early", [True, False])
def test_pointer_becomes_the_marker_of_a_retraction(
    events: Events, both: StoredEvent, early: bool
) -> None:
    marker = replace(POINTER, is_pointer=False)
    for _ in range(2):
        assert events.retract("ann", "m1", early=early) == marker
        assert events.get("ann", "m1") == marker
    again = a_change(both, MENTION, COMMENT, pointing=Pointing("m1", POINTER))
    assert events.rewrite(again, NO_GUARD) == (False, None)
    assert events.get("ann", "c1") == both


def test_pointer_is_written_again_with_its_body(events: Events, both: StoredEvent) -> None:
    plain = stored_in(events, a_change(both, COMMENT))
    again = a_change(plain, MENTION, COMMENT, pointing=Pointing("m1", POINTER))
    assert stored_in(events, again).bodies == both.bodies


def test_retraction_of_the_last_body_leaves_a_mark_with_the_place(
    events: Events, clock: SettableClock
) -> None:
    stored = stored_in(events, a_change(None, MENTION, pointing=POINTING))
    change = a_change(stored, None, retracted="m1")
    assert events.rewrite(change, NO_GUARD) == (True, None)
    mark = events.get("ann", "c1")
    assert mark == Retracted("c1", DAILY, own_id="m1")
    assert isinstance(mark, Retracted)
    assert (mark.stored_at, mark.retracted_at) == (NOW, clock.now)
    assert not mark.is_in_no_email
    assert list(events.stored_under("ann", DAILY, after=BEGINNING)) == []


def test_mark_that_is_written_with_the_runs_of_its_place_is_in_no_email(events: Events) -> None:
    stored = stored_in(events, a_change(None, MENTION, pointing=POINTING))
    change = a_change(stored, None, retracted="m1", moves=True)
    assert events.rewrite(change, NO_GUARD) == (True, None)
    mark = events.get("ann", "c1")
    assert isinstance(mark, Retracted)
    assert mark.is_in_no_email
    assert mark.stored_at == NOW


@pytest.mark.parametrize("moves", [True, False])
def test_body_replaces_a_mark(events: Events, clock: SettableClock, moves: bool) -> None:
    stored = stored_in(events, a_change(None, MENTION))
    events.rewrite(a_change(stored, None, retracted="m1"), NO_GUARD)
    mark = events.get("ann", "c1")
    clock.now += SECOND
    late = stored_in(events, a_change(mark, COMMENT, schedule="weekly", moves=moves))
    place = ("weekly", clock.now) if moves else (DAILY, NOW)
    assert (late.schedule, late.stored_at, late.event) == (*place, COMMENT)
    assert events.rewrite(a_change(mark, COMMENT, moves=moves), NO_GUARD) == (False, None)


def test_mark_of_a_retracted_event_can_be_replaced(events: Events, comment: StoredEvent) -> None:
    events.retract("ann", "c1", early=False)
    mark = events.get("ann", "c1")
    assert isinstance(mark, Retracted)
    assert (mark.stored_at, mark.own_id) == (comment.stored_at, "")
    stored_in(events, a_change(mark, MENTION, moves=True, pointing=POINTING))


def test_mark_of_another_body_also_rejects_the_body_without_an_own_id(
    events: Events, both: StoredEvent
) -> None:
    mention = stored_in(events, a_change(both, MENTION))
    assert events.rewrite(a_change(mention, None, retracted="m1"), NO_GUARD) == (True, None)
    mark = events.retract("ann", "c1", early=True)
    assert mark == Retracted("c1", DAILY)
    assert events.get("ann", "c1") == mark


def test_row_without_bodies_remains_a_mark_if_a_body_was_retracted(
    events: Events, both: StoredEvent
) -> None:
    mention = stored_in(events, a_change(both, MENTION, retracted=""))
    assert mention.refuses_own
    assert events.rewrite(a_change(mention, None), NO_GUARD) == (True, None)
    assert events.get("ann", "c1") == Retracted("c1", DAILY)


def test_limit_is_marked_in_the_row_of_a_happening(events: Events, comment: StoredEvent) -> None:
    capped = a_change(comment, MENTION, COMMENT, pointing=POINTING)
    assert capped.after
    stored = stored_in(events, replace(capped, after=replace(capped.after, is_capped=True)))
    assert stored.is_capped
    new = replace(MENTION, id="c2", own_id="m2")
    row = replace(
        a_change(None, new, pointing=Pointing("m2")),
        event_id="c2",
        after=Settlement(new, (), DAILY, is_capped=True),
    )
    is_written, stored_new = events.rewrite(row, NO_GUARD)
    assert is_written
    assert stored_new
    assert stored_new.is_capped
    assert events.get("ann", "c2") == stored_new


def test_row_with_other_bodies_is_not_retracted(events: Events, both: StoredEvent) -> None:
    assert events.retract("ann", "c1", early=True) == both
    assert events.get("ann", "c1") == both


def test_guard_belongs_to_the_transaction(events: Events, runs: Runs, comment: StoredEvent) -> None:
    run = runs.create(a_run())
    change = a_change(comment, MENTION, COMMENT, pointing=POINTING)
    stale = Guard(open_runs=(replace(run, epoch=run.epoch + 1),))
    assert events.rewrite(change, stale) == (False, None)
    assert events.get("ann", "m1") is None
    assert events.rewrite(change, Guard(open_runs=(run,)))[0]
    assert events.rewrite(change, Guard(open_runs=(run,))) == (False, None)


def test_row_is_not_written_after_the_end_of_a_guard(
    events: Events, comment: StoredEvent, clock: SettableClock
) -> None:
    guard = Guard(not_after=clock.now - SECOND)
    assert events.rewrite(a_change(comment, MENTION, COMMENT), guard) == (False, None)


def test_pointer_is_kept_as_long_as_any_row(
    events: Events, comment: StoredEvent, clock: SettableClock
) -> None:
    events.rewrite(a_change(comment, MENTION, COMMENT, pointing=POINTING), NO_GUARD)
    clock.now += timedelta(days=150)
    assert events.get("ann", "c1") is None
    assert events.get("ann", "m1") == POINTER


def outdated_removals(
    deferred: DeferredEvents, row: StoredEvent, run: Run
) -> dict[str, Callable[[], object]]:
    """Return the removals of a row by a worker that read it as `row`."""
    seen, withdrawn = replace(row, seen_at=NOW), replace(row, withdrawn_at=NOW)
    return {
        "leave_out": lambda: deferred.leave_out(seen),
        "withdraw": lambda: deferred.withdraw([withdrawn], run),
        "expire": lambda: deferred.expire([row], run),
        "exclude": lambda: deferred.exclude(row.event, run, "cannot be shown"),
    }


@pytest.mark.parametrize("name", ["leave_out", "withdraw", "expire", "exclude"])
def test_row_that_another_event_has_joined_is_not_removed(
    name: str, events: Events, clock: SettableClock, runs: Runs
) -> None:
    """The other event would be lost. The event that is shown is the same as before."""
    deferred = (
        events if isinstance(events, FakeEvents) else DynamoDeferredEvents("events", clock=clock)
    )
    run = runs.create(a_run())
    lapsing = replace(MENTION, expires_at=NOW + SECOND)
    before = stored_in(events, a_change(None, lapsing, pointing=POINTING))
    clock.now += 2 * SECOND
    both = stored_in(events, a_change(before, lapsing, COMMENT))
    remove = outdated_removals(deferred, before, run)[name]
    assert not remove()
    assert events.get("ann", "c1") == both


LEFT_OUT = (
    LeftOut(MENTION, seen_at=NOW),
    LeftOut(MENTION, withdrawn_at=NOW),
    LeftOut(MENTION, why="no template" * 100),
)


@pytest.mark.parametrize("left_out", LEFT_OUT)
@pytest.mark.parametrize("moves", [False, True])
def test_body_that_is_left_out_gets_a_row_with_its_reason(
    events: Events,
    clock: SettableClock,
    runs: Runs,
    traces: EventTraces,
    both: StoredEvent,
    left_out: LeftOut,
    moves: bool,
) -> None:
    run = runs.create(a_run())
    schedule = THREAD if moves else DAILY
    change = a_change(both, COMMENT, schedule=schedule, moves=moves)
    change = replace(change, left_out=[left_out])
    is_written, stored = events.rewrite(change, Guard(open_runs=(run,)))
    assert is_written
    assert stored
    assert (stored.event, stored.others, stored.schedule) == (COMMENT, (), schedule)
    assert events.get("ann", "c1") == stored
    assert events.get("ann", "m1") == StoredEvent(
        replace(MENTION, id="m1", own_id=""),
        Unsent.EXCLUDED,
        clock.now,
        both.lasts_until,
        left_out.seen_at,
        left_out.withdrawn_at,
        part_of="c1",
    )
    found = traces.find("ann", "m1")
    assert found
    assert (found.why in left_out.why) if left_out.why else found.was_schedule in {"", DAILY}
    assert runs.get(run.key) == replace(run, epoch=1)
    assert events.rewrite(change, Guard(open_runs=(replace(run, epoch=1),))) == (False, None)


def test_body_that_was_retracted_is_not_left_out(
    events: Events, runs: Runs, both: StoredEvent
) -> None:
    run = runs.create(a_run())
    events.retract("ann", "m1", early=False)
    change = replace(a_change(both, COMMENT), left_out=[LeftOut(MENTION, seen_at=NOW)])
    assert events.rewrite(change, Guard(open_runs=(run,))) == (False, None)
    assert events.get("ann", "c1") == both
