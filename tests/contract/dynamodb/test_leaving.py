"""How an event leaves its schedule, moved or removed: with all that guards it, or not at all.

Each test runs on our fake and on the real adapter on moto, where it is one transaction.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest
from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.errors import Unavailable
from gazette.domain.model import DAILY, RunKey, StoredEvent
from gazette.domain.ports.ledgers import Runs, Schedules
from gazette.domain.ports.stores import Events, Guard
from gazette.domain.scheduling.calendar import Recurrence
from gazette.domain.scheduling.kinds import immediate_schedule
from gazette.domain.stored import readable

from tests.builders import KEY, NOW, SettableClock, a_run, a_schedule, a_stored_event, an_event
from tests.contract.conftest import SECOND

AT_ONCE = immediate_schedule("post#post1")
HERE = a_stored_event(an_event(), DAILY, NOW)
WEEKLY_RUN = replace(a_run(), key=RunKey("ann", "weekly", 1))
SECOND_RUN = replace(a_run(2), status=Status.RETRYING, reason=Reason.REFUSED_FOR_NOW, attempt=1)
NEXT = RunKey("ann", DAILY, 3)
WHERE_IT_LEAVES = Guard(
    open_runs=(a_run(), SECOND_RUN), schedules=(a_schedule(sequence=3),), not_started=(NEXT,)
)
"""Two runs of the schedule are open, and the third has not started."""

WEEKLY = replace(a_schedule(), name="weekly")
WHERE_IT_ARRIVES = Guard(
    open_runs=(WEEKLY_RUN,), schedules=(WEEKLY,), not_started=(RunKey("ann", "weekly", 2),)
)
GUARD = WHERE_IT_LEAVES + WHERE_IT_ARRIVES


@dataclass(frozen=True)
class Stores:
    """An event under a schedule with open runs."""

    events: Events
    runs: Runs
    schedules: Schedules

    def kept(self) -> tuple[object, ...]:
        """Everything that may be touched."""
        return (
            self.events.get("ann", "e1"),
            sorted(
                readable(self.runs.of_user("ann")),
                key=lambda run: (run.key.schedule, run.key.sequence),
            ),
            self.schedules.of_user("ann"),
        )


@pytest.fixture
def stores(events: Events, runs: Runs, schedules: Schedules, clock: SettableClock) -> Stores:
    events.store(an_event(), DAILY)
    schedules.put(a_schedule(sequence=3), replacing=None)
    schedules.put(WEEKLY, replacing=None)
    for run in (a_run(), SECOND_RUN, WEEKLY_RUN):
        runs.create(run)
    clock.now += SECOND
    return Stores(events, runs, schedules)


Leave = Callable[[Stores, StoredEvent, Guard], bool]


@pytest.fixture(params=["moved", "removed", "moved with others", "removed with others"])
def leave(request: pytest.FixtureRequest) -> Leave:
    """Take the event away under the guard; whether that was done."""

    def leave(stores: Stores, stored: StoredEvent, guard: Guard) -> bool:
        if request.param == "removed":
            return stores.events.remove(stored, guard)
        if request.param == "removed with others":
            return stores.events.remove_together([stored], guard)
        if request.param == "moved with others":
            return stores.events.move_together([stored], "custom", guard) is not None
        return stores.events.move(stored, "custom", guard) is not None

    return leave


def test_raised_guard_is_valid_for_the_next_transaction(stores: Stores) -> None:
    """Unless somebody else has changed something in between."""
    others = [stores.events.store(an_event(f"o{number}"), DAILY)[1] for number in range(3)]
    first, second, third = (each for each in others if isinstance(each, StoredEvent))
    assert stores.events.move_together([HERE, first], "weekly", GUARD)
    assert not stores.events.remove_together([second], GUARD)
    assert stores.events.remove_together([second], GUARD.once_raised())
    assert not stores.events.move_together([third], "weekly", GUARD.once_raised())
    twice = GUARD.once_raised().once_raised()
    stores.runs.create(replace(a_run(3)))
    assert not stores.events.move_together([third], "weekly", twice)


@pytest.mark.parametrize("guard", [Guard(), WHERE_IT_LEAVES, GUARD])
def test_moved_event_has_its_new_place_and_timestamp(
    stores: Stores, clock: SettableClock, guard: Guard
) -> None:
    moved = replace(HERE, schedule="weekly", stored_at=clock.now)
    assert stores.events.move(HERE, "weekly", guard) == moved
    assert stores.events.get("ann", "e1") == moved
    assert list(stores.events.stored_under("ann", DAILY, after=NOW - SECOND)) == []
    assert list(stores.events.stored_under("ann", "weekly", after=NOW)) == [moved]


@pytest.mark.parametrize("guard", [Guard(), GUARD])
def test_removed_event_is_deleted(stores: Stores, guard: Guard) -> None:
    assert stores.events.remove(HERE, guard)
    assert stores.events.get("ann", "e1") is None
    assert list(stores.events.stored_under("ann", DAILY, after=NOW - SECOND)) == []


def test_transaction_raises_epochs_and_revisions_by_1_only(stores: Stores, leave: Leave) -> None:
    assert leave(stores, HERE, GUARD)
    assert list(stores.runs.chain(RunKey("ann", DAILY, 9))) == [
        replace(SECOND_RUN, epoch=1),
        replace(a_run(), epoch=1),
    ]
    assert list(stores.runs.chain(WEEKLY_RUN.key)) == [replace(WEEKLY_RUN, epoch=1)]
    assert stores.schedules.of_user("ann") == [
        a_schedule(sequence=3, revision=2),
        replace(WEEKLY, revision=2),
    ]


def test_trace_n_fan_out_with_an_outdated_schedule_cannot_advance(
    stores: Stores, leave: Leave
) -> None:
    """It may have found that nothing waits there."""
    leave(stores, HERE, GUARD)
    for schedule in (a_schedule(sequence=3), WEEKLY):
        for on in (schedule.advanced(NOW + timedelta(days=1)), schedule.leaving(), schedule.idle()):
            assert not stores.schedules.put(on, replacing=schedule)


def test_claim_succeeds_only_with_the_current_epoch(stores: Stores, leave: Leave) -> None:
    claimed = replace(a_run(), status=Status.SENDING, attempt=1, nonce="n")
    leave(stores, HERE, GUARD)
    raised = replace(a_run(), epoch=1)
    assert stores.runs.swap(a_run(), claimed) == raised
    again = replace(claimed, epoch=1)
    assert stores.runs.swap(raised, again) == again


def test_event_is_moved_or_removed_once(stores: Stores, leave: Leave) -> None:
    """Whoever takes it a second time finds it elsewhere, and raises no epoch again."""
    assert leave(stores, HERE, GUARD)
    gone = stores.kept()
    assert not leave(stores, HERE, Guard())
    raised = Guard(open_runs=(replace(a_run(), epoch=1), replace(SECOND_RUN, epoch=1)))
    assert not leave(stores, HERE, raised)
    assert stores.kept() == gone


def test_change_too_large_for_a_transaction_is_not_made(stores: Stores, leave: Leave) -> None:
    """A hundred items: the event, the schedule, the run that has not started, and 97 open ones."""
    many = tuple(replace(a_run(), key=RunKey("ann", DAILY, number)) for number in range(10, 108))
    for run in many:
        stores.runs.create(run)
    before = stores.kept()
    with pytest.raises(Unavailable):
        leave(stores, HERE, replace(WHERE_IT_LEAVES, open_runs=many))
    assert stores.kept() == before
    assert leave(stores, HERE, replace(WHERE_IT_LEAVES, open_runs=many[1:]))


def test_event_can_move_to_another_schedule_and_back(stores: Stores, clock: SettableClock) -> None:
    moved = stores.events.move(HERE, "weekly", GUARD)
    assert moved
    clock.now += SECOND
    back = stores.events.move(moved, DAILY, Guard())
    assert back == replace(HERE, stored_at=clock.now)


def test_moved_event_keeps_its_latest_amendment(stores: Stores, clock: SettableClock) -> None:
    """It was amended after it was read: its place alone is compared."""
    better = an_event(excerpt="better", amended_at=NOW)
    stores.events.amend(HERE, better)
    assert stores.events.move(HERE, "weekly", GUARD)
    assert stores.events.get("ann", "e1") == replace(
        HERE, event=better, schedule="weekly", stored_at=clock.now
    )


@pytest.mark.parametrize("guard", [Guard(), WHERE_IT_LEAVES, GUARD])
def test_event_moves_only_while_its_new_run_collects(
    stores: Stores, clock: SettableClock, guard: Guard
) -> None:
    late = replace(guard, not_after=clock.now - timedelta(microseconds=1))
    before = stores.kept()
    assert stores.events.move(HERE, AT_ONCE, late) is None
    assert stores.kept() == before
    in_time = replace(guard, not_after=clock.now)
    assert stores.events.move(HERE, AT_ONCE, in_time)


@pytest.mark.parametrize("guard", [Guard(), GUARD])
@pytest.mark.parametrize(
    "read",
    [
        replace(HERE, schedule="weekly"),
        replace(HERE, stored_at=NOW - SECOND),
        replace(HERE, event=an_event("e2")),
        replace(HERE, event=an_event(user_id="bo")),
    ],
    ids=["another schedule", "another time", "another event", "another reader"],
)
def test_event_is_moved_or_removed_only_from_its_current_place(
    stores: Stores, leave: Leave, read: StoredEvent, guard: Guard
) -> None:
    before = stores.kept()
    assert not leave(stores, read, guard)
    assert stores.kept() == before
    assert stores.events.get(read.event.user_id, "e2") is None


@pytest.mark.parametrize("guard", [Guard(), GUARD])
@pytest.mark.parametrize("gone", ["removed", "retracted", "erased"])
def test_moving_or_removing_a_missing_event_changes_no_rows(
    stores: Stores, leave: Leave, gone: str, guard: Guard
) -> None:
    match gone:
        case "removed":
            stores.events.remove(HERE, Guard())
        case "retracted":
            stores.events.retract("ann", "e1", early=False)
        case _:
            stores.events.erase("ann", NOW)
    before = stores.kept()
    assert not leave(stores, HERE, guard)
    assert stores.kept() == before


def _claimed(run: Run) -> Run:
    return replace(run, status=Status.SENDING, reason=Reason.CLAIMED, attempt=run.attempt + 1)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (a_run(), _claimed(a_run())),
        (SECOND_RUN, _claimed(SECOND_RUN)),
        (a_run(), replace(a_run(), status=Status.CANCELLED)),
        (a_run(), replace(a_run(), reason=Reason.REFUSED_FOR_NOW)),
        (SECOND_RUN, replace(SECOND_RUN, attempt=2)),
        (a_run(), replace(a_run(), epoch=1)),
    ],
    ids=["first claimed", "second claimed", "ended", "reason", "attempt", "epoch"],
)
def test_changed_run_prevents_the_move_or_removal(
    stores: Stores, leave: Leave, before: Run, after: Run
) -> None:
    stores.runs.swap(before, after)
    now = stores.kept()
    assert not leave(stores, HERE, GUARD)
    assert stores.kept() == now, "the other run's epoch is untouched too"


def test_run_started_concurrently_prevents_the_move_or_removal(
    stores: Stores, leave: Leave
) -> None:
    stores.runs.create(a_run(3))
    now = stores.kept()
    assert not leave(stores, HERE, GUARD)
    assert stores.kept() == now


@pytest.mark.parametrize("done", ["advanced", "changed", "renewed", "withdrawn", "removed"])
def test_changed_schedule_prevents_the_move_or_removal(
    stores: Stores, leave: Leave, done: str
) -> None:
    read = a_schedule(sequence=3)
    match done:
        case "advanced":
            stores.schedules.put(read.advanced(NOW + timedelta(days=1)), replacing=read)
        case "changed":
            later = replace(read, revision=2, recurrence=Recurrence(20, 30, "Europe/Berlin"))
            assert stores.schedules.put(later, replacing=read)
        case "renewed":
            assert stores.schedules.put(replace(read, changed_at=NOW + SECOND), replacing=read)
        case "withdrawn":
            stores.schedules.withdraw(read)
        case _:
            assert stores.schedules.remove(read)
    now = stores.kept()
    assert not leave(stores, HERE, GUARD)
    assert stores.kept() == now


@pytest.mark.parametrize(
    "guard",
    [
        Guard(open_runs=(a_run(),)),
        Guard(schedules=(a_schedule(sequence=3),)),
        Guard(not_started=(NEXT,)),
    ],
    ids=["a run", "the schedule", "no run"],
)
def test_each_guard_condition_can_succeed_alone(stores: Stores, leave: Leave, guard: Guard) -> None:
    assert leave(stores, HERE, guard)


@pytest.mark.parametrize(
    "guard",
    [
        Guard(open_runs=(replace(a_run(), epoch=1),)),
        Guard(schedules=(a_schedule(sequence=4),)),
        Guard(not_started=(KEY,)),
    ],
    ids=["a run", "the schedule", "no run"],
)
def test_each_guard_condition_can_fail_alone(stores: Stores, leave: Leave, guard: Guard) -> None:
    before = stores.kept()
    assert not leave(stores, HERE, guard)
    assert stores.kept() == before


@pytest.mark.parametrize("where", ["it leaves", "it arrives"])
def test_run_started_in_either_schedule_prevents_the_move(
    stores: Stores, leave: Leave, where: str
) -> None:
    run = a_run(3) if where == "it leaves" else replace(a_run(), key=RunKey("ann", "weekly", 2))
    stores.runs.create(run)
    now = stores.kept()
    assert not leave(stores, HERE, GUARD)
    assert stores.kept() == now


def test_run_of_another_schedule_is_unchanged(stores: Stores, leave: Leave) -> None:
    assert leave(stores, HERE, WHERE_IT_LEAVES)
    assert list(stores.runs.chain(WEEKLY_RUN.key)) == [WEEKLY_RUN]
