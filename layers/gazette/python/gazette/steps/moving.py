"""Take an event from one schedule to another, or back, without any run taking it along."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from gazette.domain.cadence import Cadence
from gazette.domain.errors import NotYet
from gazette.domain.identity import WAITING, is_immediate, latest_run
from gazette.domain.lifetime import needed_until
from gazette.domain.model import Placed, RunKey, Schedule
from gazette.domain.run import Reason, Run, Status, may_have_gone_until
from gazette.domain.signals import Cancel
from gazette.domain.stored import is_known, readable
from gazette.domain.stores import Guard
from gazette.steps.applying import apply, make_known
from gazette.steps.immediate import collecting, queue_run, run_for, start_immediate
from gazette.steps.places import Places
from gazette.steps.preceding import is_unclaimed

_CONFLICTS = 5

_FEW = 10
"""Runs nobody has claimed that stay open when an event leaves: each is an item of its transaction,
which takes a hundred.
https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html"""


def move(placed: Placed, target: str, *, wanted: Cadence | None, places: Places) -> Placed | None:
    """Move it unless it went out, or may have: then it stays with that run.

    It lasts as long as it must where `target` is due as `wanted`. Returns where it is now; None
    where it is no more. Raises NotYet where it keeps moving.
    """
    user_id, event_id = placed.event.user_id, placed.event.id
    for _ in range(_CONFLICTS):
        guard = _guard(placed, target, places)
        if guard is None:
            return placed
        moved = places.events.move(placed, target, guard, wanted)
        if moved:
            return moved
        found = places.events.get(user_id, event_id)
        if not isinstance(found, Placed):
            return None
        if found.schedule == target:
            return found
        placed = found
    raise NotYet(f"Event {event_id} of {user_id} kept moving. The message will come again.")


def take_back(placed: Placed, *, places: Places) -> None:
    """Remove an event that is no longer wanted, unless it went out, or may have.

    Together with the epochs of the open runs: a worker that has read it fails at its claim.
    Raises NotYet where it keeps moving.
    """
    for _ in range(_CONFLICTS):
        guard = _leaving(placed, places)
        if guard is None or places.events.remove(placed, guard):
            return
        found = places.events.get(placed.event.user_id, placed.event.id)
        if not isinstance(found, Placed):
            return
        placed = found
    raise NotYet(f"Event {placed.event.id} kept moving. The message will come again.")


def extend(placed: Placed, wanted: Cadence | None, *, places: Places) -> None:
    """Let it last as long as it needs to where it waits now (rule 21)."""
    until = needed_until(wanted, places.clock())
    if until and until > placed.lasts_until:
        places.events.extend(placed, until)


def make_known_under(schedule: str, user_id: str, *, places: Places) -> None:
    """Make a change of an event known to the runs of its schedule: they may have read it before."""
    if schedule != WAITING:
        make_known(places.runs.chain(latest_run(user_id, schedule)), runs=places.runs)


def _guard(placed: Placed, target: str, places: Places) -> Guard | None:
    """What a move needs to hold where the event leaves and where it arrives."""
    leaving = _leaving(placed, places)
    if leaving is None or not is_immediate(target):
        return leaving
    run, is_new = run_for(placed.event.user_id, target, places.clock(), places=places)
    return replace(
        leaving,
        starting=run if is_new else None,
        not_after=min(filter(None, (leaving.not_after, run.due_at))),
    )


def _leaving(placed: Placed, places: Places) -> Guard | None:
    """What keeps every run from taking the event along; None where one has, or may have."""
    user_id, name = placed.event.user_id, placed.schedule
    if name == WAITING:
        return Guard()
    if is_immediate(name):
        return _leaving_at_once(placed, places)
    schedule = places.schedules.get(user_id, name)
    chain = _with_few_open(places.runs.chain(latest_run(user_id, name)), places)
    if placed.stored_at <= may_have_gone_until(chain):
        return None
    return Guard(
        open_runs=open_runs(chain), schedule=schedule, not_started=not_started(schedule, chain)
    )


def _leaving_at_once(placed: Placed, places: Places) -> Guard | None:
    """A run that is not there yet cannot be told by its epoch: so those that
    are missing are started first.

    Whatever else waits about the entity may have lost its run to a crash, and get it any moment.
    What is stored from now on has one that is not sent before its collapse window has passed.
    """
    user_id, name = placed.event.user_id, placed.schedule
    not_after = places.clock() + places.collapse
    chain = places.runs.chain(latest_run(user_id, name))
    placed_there = places.events.placed(user_id, name, after=may_have_gone_until(chain))
    for waiting in readable(placed_there):
        if collecting(chain, waiting.stored_at) is None:
            start_immediate(waiting, places=places)
            chain = places.runs.chain(latest_run(user_id, name))
    chain = _with_few_open(chain, places)
    if placed.stored_at <= may_have_gone_until(chain):
        return None
    return Guard(open_runs=open_runs(chain), not_after=not_after)


def _with_few_open(chain: Sequence[Run], places: Places) -> Sequence[Run]:
    """The chain as it is once few of its runs are open, so that one transaction holds them all.

    Of more, the newest takes everything, as it would with its own delivery (rule 3). It is queued
    before the others end: whatever breaks off then, somebody looks at what they leave.
    """
    unclaimed = [run for run in chain if is_unclaimed(run)]
    if len(unclaimed) <= _FEW:
        return chain
    newest, *older = unclaimed
    queue_run(newest, places=places)
    superseded = Cancel(Reason.SUPERSEDED)
    ended = {run.key: apply(run, superseded, runs=places.runs) for run in older}
    return [ended.get(run.key, run) for run in chain]


def open_runs(chain: Iterable[Run]) -> list[Run]:
    """Those whose claim must fail. One in a status that is not known may come to be claimed."""
    return [
        run
        for run in chain
        if run.status in {Status.PENDING, Status.RETRYING} or not is_known(run.status)
    ]


def not_started(schedule: Schedule | None, chain: Iterable[Run]) -> RunKey | None:
    """The next run of a schedule, which must not begin meanwhile; None where it has."""
    if schedule is None or any(run.key.sequence == schedule.sequence for run in chain):
        return None
    return RunKey(schedule.user_id, schedule.name, schedule.sequence)
