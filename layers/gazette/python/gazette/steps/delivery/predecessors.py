"""Decide whether a run has to wait for the other runs of its schedule, and which of them end."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from gazette.domain.delivery.run import (
    BEGINNING,
    Reason,
    Run,
    Status,
    known_sent_until,
    settled_until,
)
from gazette.domain.delivery.signals import Cancel, Carry, DeadlinePassed, GiveUp, Skip, Stop
from gazette.domain.identity import latest_run
from gazette.domain.model import RunKey, Window
from gazette.domain.ports.ledgers import Runs
from gazette.domain.ports.queues import LONGEST_DELAY
from gazette.domain.scheduling.chain import is_behind_head
from gazette.domain.scheduling.holding import collecting_until
from gazette.domain.scheduling.limits import DeliveryLimits
from gazette.steps.delivery.types import Delivery, Ending, WaitingFor
from gazette.steps.occurrences.next_run import next_run
from gazette.steps.runs import Change, Changes, changed

_SOON = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Settled:
    """A run that does not need to wait for another run of its schedule."""

    run: Run
    since: datetime
    """The beginning of the run's window. All earlier events were sent or given up."""

    carried: tuple[Change, ...]
    """Changes that mark runs with an unknown outcome as carried by this run (rule 5).

    There is at most one such run. With two runs, the events of the older run would be in both and
    would be given up.
    """

    changes: Sequence[Change]
    """Changes to older runs, which must be stored before the events are read."""

    was_claimed: bool
    """True if this run or an earlier run was claimed with events of the window."""

    newest: Run
    """The newest run of the schedule, which may be this run. A digest has no newer runs."""


@dataclass(frozen=True, slots=True)
class Chain:
    """A run with the older and newer runs of its schedule, newest first.

    The chain goes back to the last sent run or the last stored head.
    """

    run: Run
    newer: Sequence[Run]
    older: Sequence[Run]

    @property
    def others(self) -> Sequence[Run]:
        """The older runs, which this run ends, and the newer runs that have already ended.

        A newer run that has not ended is not included, because it ends this run.
        """
        return [*(each for each in self.newer if each.status.is_final), *self.older]


def chain_of(key: RunKey, *, runs: Runs) -> Chain | None:
    """Return the run with its older and newer runs, or None if the run does not exist.

    Newer runs are read only for an immediate run. Its sequence is the second in which it begins, so
    it may be stored after a later run has sent its events.
    """
    if not key.is_immediate:
        chain = runs.chain(key)
        return Chain(chain[0], (), chain[1:]) if chain and chain[0].key == key else None
    chain = runs.chain(latest_run(key.user_id, key.schedule))
    newer = [run for run in chain if run.key.sequence > key.sequence]
    older = chain[len(newer) + 1 :]
    if len(newer) < len(chain):
        run = chain[len(newer)]
        return Chain(run, newer, older) if run.key == key else None
    run_of_key = runs.get(key) if newer else None
    return Chain(run_of_key, newer, older) if run_of_key else None


def settle(chain: Chain, *, now: datetime, limits: DeliveryLimits) -> Settled | Ending:
    """Decide whether a run may be sent now, and which earlier runs end.

    Makes no writes. Returns an Ending if the run is not sent now. `deliver` stores the decisions
    first (rule 3); a forecast does not store them.
    """
    changes = Changes()
    run = without_claimant(chain.run, changes, now=now, evidence_grace=limits.evidence_grace)
    if run.status not in {Status.PENDING, Status.RETRYING}:
        return Ending(Delivery(run, had_ended=run.status.is_final), changes.decided)
    if (not_before := _not_before(run, chain.older, limits)) > now:
        return _waiting(run, not_before, changes, now=now, limits=limits)
    if chain.newer and run.is_unclaimed and gives_way(run, chain.newer, changes):
        return left_to_a_later_run(run, chain.newer[0], changes, now)
    if run.is_too_late(now, limits.max_lateness):
        return Ending(Delivery(changes.apply(run, Skip(Reason.TOO_LATE))), changes.decided)
    settled = settle_older(run, chain, changes, now=now, evidence_grace=limits.evidence_grace)
    if isinstance(settled, Run):
        again_at = _when_settled(settled, now)
        return Ending(Delivery(run, again_at, WaitingFor.OLDER_RUN), changes.decided)
    return settled


def gives_way(run: Run, newer: Sequence[Run], changes: Changes) -> bool:
    """Return True if a newer run has sent, or may have sent, this run's events (rule 16).

    An immediate run may be stored after a newer run. Also returns True for a run before a stored
    head, because newer runs do not search for that run. Raises the epoch of each newer run that has
    not sent the events. Claims that are based on earlier reads then fail.
    """
    waiting = [changes.apply(each, Stop()) for each in newer if each.is_unclaimed]
    rest = [each for each in newer if not each.is_unclaimed]
    return is_behind_head(run, newer) or any(
        each.closes_a_window
        or bool(each.uncertain)
        or not (each.status.is_final or each.is_unclaimed)
        for each in (*waiting, *rest)
    )


def settle_older(
    run: Run, chain: Chain, changes: Changes, *, now: datetime, evidence_grace: timedelta
) -> Settled | Run:
    """End the unclaimed older runs, and return the effects of all other older runs (rule 3).

    Events that were in MAX_UNKNOWN_ATTEMPTS attempts with an unknown outcome, including attempts of
    `run`, are given up (rule 9). The heads of newer runs describe earlier windows. If an older run
    must end first, because it may still be sent, returns that run.
    """
    ended: list[Run] = []
    for each in chain.others:
        current = without_claimant(each, changes, now=now, evidence_grace=evidence_grace)
        if current.is_unclaimed:
            signal = Stop() if _collects_beyond(current, run) else Cancel(Reason.SUPERSEDED)
            current = changes.apply(current, signal)
            if current.is_unclaimed:
                continue
        if current.is_open and not (current.status is Status.RETRYING and current.uncertain):
            return current
        ended.append(current)
    since = max(settled_until((run, *ended)), known_sent_until(chain.newer))
    unknown = [each for each in ended if each.may_have_been_sent]
    for each in unknown:
        if not _reaches_behind(each, since):
            changes.apply(each, GiveUp())
    carried = (each for each in unknown if _reaches_behind(each, since))
    carries = tuple((each, changed(each, Carry())) for each in carried)
    was_claimed = any(_reaches_behind(each, since) for each in (run, *ended))
    newest = chain.newer[0] if chain.newer else run
    return Settled(run, since, carries, changes.decided, was_claimed, newest)


def without_claimant(
    run: Run, changes: Changes, *, now: datetime, evidence_grace: timedelta
) -> Run:
    """Mark a run as unknown if its claimant's deadline has passed."""
    signal = deadline_passed(run, now=now, evidence_grace=evidence_grace)
    return changes.apply(run, signal) if signal else run


def deadline_passed(run: Run, *, now: datetime, evidence_grace: timedelta) -> DeadlinePassed | None:
    """Return the signal for a run whose claimant's deadline has passed, or None for other runs.

    The grace period for evidence begins at the deadline.
    """
    if run.status is not Status.SENDING or run.deadline is None or now <= run.deadline:
        return None
    return DeadlinePassed(run.attempt, run.deadline + evidence_grace)


def window_of(run: Run, since: datetime, *, until: datetime) -> Window:
    """Return the window from `since` to `until`, or to the end that an earlier claim fixed (rule
    2).
    """
    if run.window is not None:
        return Window(since, run.window.until)
    return Window(since, max(since, until))


def _not_before(run: Run, older: Sequence[Run], limits: DeliveryLimits) -> datetime:
    """Return the earliest time at which the run may be sent.

    A refused run waits for its delay. A run that collects events waits until collecting ends.

    The collecting time of each run that this run will supersede also counts, because a run that a
    redrive starts is due immediately.
    """
    if run.retry_at is not None:
        return run.retry_at
    if run.key.is_immediate:
        collecting = (run, *(each for each in older if each.is_unclaimed))
        return max(each.due_at for each in collecting) + limits.settle_lag
    return BEGINNING


def _waiting(
    run: Run, not_before: datetime, changes: Changes, *, now: datetime, limits: DeliveryLimits
) -> Ending:
    """Return the ending of a run that waits until `not_before`.

    If no message can be delayed for so long, the sweep queues the run. The run of a redrive is due
    at once, but waits for an earlier run that may collect events for hours.
    """
    if run.retry_at is not None:
        return Ending(Delivery(run, not_before, WaitingFor.PAUSE_OVER), changes.decided)
    if not_before - now <= LONGEST_DELAY:
        return Ending(Delivery(run, not_before, WaitingFor.COLLECTED), changes.decided)
    if not run.is_queued_by_sweep:
        run = changes.replace(
            run, collecting_until(run, not_before - limits.settle_lag, hold=limits.hold)
        )
    waiting = Delivery(run, not_before, WaitingFor.COLLECTED, queued_by_sweep=True)
    return Ending(waiting, changes.decided)


def left_to_a_later_run(run: Run, newest: Run, changes: Changes, now: datetime) -> Ending:
    """Supersede the run, because the newest run or its successor sends the remaining events.

    A new run is started if `newest` is this run. If this run were sent after a newer one, its
    sequence would precede runs that were sent earlier, and a backward read of the chain would not
    find it.
    """
    starts = newest.key == run.key or not newest.is_unclaimed
    if starts:
        # The sweep may check a run before it is due.
        check_after = max(run.check_at - run.due_at, timedelta(0))
        newest = next_run(newest, now=now, check_after=check_after)
    else:
        newest = changed(newest, Stop())
    changes.apply(run, Cancel(Reason.SUPERSEDED))
    return Ending(Delivery(newest, now, WaitingFor.COLLECTED), changes.decided, starts)


def _when_settled(older: Run, now: datetime) -> datetime:
    """Return the estimated time at which the older run ends: its deadline, or the end of the grace
    period.

    After the grace period, the run waits for proof that delivery events arrive, which may take
    hours.
    """
    expected = older.deadline if older.status is Status.SENDING else older.check_at
    if expected is None or expected < now:
        return now + LONGEST_DELAY
    return expected + _SOON


def _collects_beyond(older: Run, run: Run) -> bool:
    """Return True if `older` still collects events after the fixed window of `run`."""
    return run.key.is_immediate and run.window is not None and older.due_at > run.window.until


def _reaches_behind(run: Run, since: datetime) -> bool:
    return run.window is not None and run.window.until > since
