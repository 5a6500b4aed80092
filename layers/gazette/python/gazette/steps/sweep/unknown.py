"""Decide unknown outcomes: by evidence, or else by the policy."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from gazette.domain.delivery.lifecycle import Ignored, transition
from gazette.domain.delivery.run import Reason, Run, Status, given_up_until, settled_until
from gazette.domain.delivery.signals import GiveUp, GraceOver, Policy
from gazette.domain.errors import Unavailable
from gazette.domain.identity import latest_run
from gazette.domain.ports.clock import Clock
from gazette.domain.ports.ledgers import Runs
from gazette.domain.ports.mail import Canary, EvidenceBacklog, EvidenceLog
from gazette.domain.ports.queues import QueuedRun, RunQueue
from gazette.steps.occurrences.next_run import next_run

_FRESH = timedelta(minutes=5)
"""The delivery event of a younger email may still be on its way."""

ProvenUntil = Callable[[], datetime | None]
"""Returns up to which sending time delivery events have arrived; called only if needed."""


class Swept(StrEnum):
    """What the sweep did with a run. `GIVEN_UP`: with its events, or those of a run it carries."""

    QUEUED = "queued"
    DUE_LATER = "due_later"
    NOW_UNKNOWN = "now_unknown"
    RESENT = "resent"
    CARRIED = "carried"
    GIVEN_UP = "given_up"
    ASSUMED = "assumed"
    WAITS_FOR_EVIDENCE = "waits_for_evidence"
    LEFT_ALONE = "left_alone"
    UNREADABLE = "unreadable"
    FAILED = "failed"

    @property
    def is_decision(self) -> bool:
        """Whether the policy decided: the events of the email may come twice, or be lost."""
        return self in {Swept.RESENT, Swept.CARRIED, Swept.GIVEN_UP, Swept.ASSUMED}


@dataclass(frozen=True, slots=True)
class SweepLimits:
    """The times of the sweep.

    `evidence_grace`: how long after a claim's deadline a delivery event may arrive.
    `longest_unknown`: how long after the deadline the policy `resend` waits for proof that
    delivery events arrive at all. `check_after`: the time until the sweep looks at a run again.
    """

    evidence_grace: timedelta
    longest_unknown: timedelta
    check_after: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepContext:
    """The runs, the queues that retry them, and the proof that evidence arrives.

    `canary` is None if the provider has no delivery events. `random` returns a number from 0 to 1.
    """

    runs: Runs
    generate_queue: RunQueue
    resend_queue: RunQueue
    evidence_log: EvidenceLog
    backlog: EvidenceBacklog
    canary: Canary | None
    policy: Policy
    clock: Clock
    random: Callable[[], float]
    limits: SweepLimits


def decide(run: Run, proven: ProvenUntil, context: SweepContext) -> Sequence[Swept]:
    """Apply the policy if no evidence arrived within the grace period (rule 9).

    `resend` applies only if a delivery event has arrived for an email that was sent later. Under
    every policy, an event that was in two attempts with an unknown outcome is in no third.
    """
    gone_since = run.deadline or run.check_at
    if context.clock() < gone_since + context.limits.evidence_grace:
        return [Swept.LEFT_ALONE]
    policy = context.policy
    if policy is Policy.RESEND and not run.resent:
        until = proven()
        if until is None or until <= gone_since:
            if context.clock() < gone_since + context.limits.longest_unknown:
                return [Swept.WAITS_FOR_EVIDENCE]
            policy = Policy.CARRY_OVER
    older = context.runs.chain(run.key)[1:]
    decided = transition(run, GraceOver(policy))
    if _is_carried(decided) and _leaves_nothing(run, older):
        decided = transition(run, GiveUp())
    if isinstance(decided, Ignored):
        return [Swept.LEFT_ALONE]
    if _is_carried(decided) and run.key.is_immediate:
        _start_successor(run, context)
    decided = replace(decided, check_at=context.clock() + context.limits.check_after)
    if context.runs.swap(run, decided) != decided:
        return [Swept.LEFT_ALONE]
    if decided.status is Status.RETRYING:
        context.resend_queue.send([QueuedRun(run.key, timedelta(0))])
    done = _DONE.get(decided.reason)
    if decided.status is not Status.SENT and _gives_up(run, older):
        return [Swept.GIVEN_UP, *([done] if done else [])]
    return [done] if done else []


_DONE = {
    Reason.POLICY_RESEND: Swept.RESENT,
    Reason.CARRIED: Swept.CARRIED,
    Reason.ASSUMED: Swept.ASSUMED,
}


def _is_carried(decided: Run | Ignored) -> bool:
    return isinstance(decided, Run) and decided.reason is Reason.CARRIED


def _leaves_nothing(run: Run, older: Sequence[Run]) -> bool:
    """Whether every event of the run was in MAX_UNKNOWN_ATTEMPTS unknown attempts."""
    return run.window is not None and run.window.until <= given_up_until((run, *older))


def _gives_up(run: Run, older: Sequence[Run]) -> bool:
    """Whether its last attempt brought any event to MAX_UNKNOWN_ATTEMPTS."""
    before = replace(run, uncertain=run.uncertain - {run.attempt})
    return given_up_until((run, *older)) > settled_until((before, *older))


def _start_successor(run: Run, context: SweepContext) -> None:
    """Start the run that will carry an immediate run, because nothing else may start one.

    This happens before the run is marked as carried, because the sweep no longer sees it then.
    Until then its successor waits for it.
    """
    user_id, schedule = run.key.user_id, run.key.schedule
    newest = context.runs.chain(latest_run(user_id, schedule))[0]
    if newest.key == run.key or newest.status.is_final:
        behind = next_run(newest, now=context.clock(), check_after=context.limits.check_after)
        newest = context.runs.create(behind)
    context.generate_queue.send([QueuedRun(newest.key, timedelta(minutes=1))])


def proven_until(context: SweepContext) -> datetime | None:
    """Return up to which sending time delivery events have arrived; None if that is unknown.

    If that is long ago, sends a canary, whose delivery event the next sweep can use.
    """
    if context.canary is None:
        return None
    try:
        until = (
            context.evidence_log.latest()
            if context.backlog.is_clear(context.limits.evidence_grace)
            else None
        )
    except Unavailable:
        until = None
    if until is None or until < context.clock() - _FRESH:
        with suppress(Unavailable):
            context.canary.send()
    return until
