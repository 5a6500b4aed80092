"""Resolve unknown outcomes by evidence, or by the configured policy if no evidence arrived."""

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
from gazette.domain.scheduling.limits import SweepLimits
from gazette.steps.occurrences.next_run import next_run

_FRESH = timedelta(minutes=5)
"""The time within which the delivery event of an email normally arrives."""

ProvenUntil = Callable[[], datetime | None]
"""A function that returns the sending time up to which delivery events have arrived.

It is called only when needed.
"""


class Swept(StrEnum):
    """The sweep's action on a run.

    `GIVEN_UP` applies to the events of the run, or of a run that it carries.
    """

    QUEUED = "queued"
    COLLECTED = "collected"
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
        """Return True if the policy decided, so that the email's events may be sent twice or
        lost."""
        return self in {Swept.RESENT, Swept.CARRIED, Swept.GIVEN_UP, Swept.ASSUMED}


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepContext:
    """The runs, the retry queues, and the proof that delivery events arrive."""

    runs: Runs
    generate_queue: RunQueue
    resend_queue: RunQueue
    evidence_log: EvidenceLog
    backlog: EvidenceBacklog
    canary: Canary | None
    """The canary. None if the provider has no delivery events."""

    policy: Policy
    clock: Clock
    random: Callable[[], float]
    """A function that returns a random number from 0 to 1."""

    limits: SweepLimits


def decide(run: Run, proven: ProvenUntil, context: SweepContext) -> Sequence[Swept]:
    """Apply the policy if no evidence arrived within the grace period (rule 9).

    The policy `resend` applies only if a delivery event has arrived for an email that was sent
    later. Under every policy, an event that was in two attempts with an unknown outcome is not
    included in a third attempt.
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
    action = _ACTIONS.get(decided.reason)
    if decided.status is not Status.SENT and _gives_up(run, older):
        return [Swept.GIVEN_UP, *([action] if action else [])]
    return [action] if action else []


_ACTIONS = {
    Reason.POLICY_RESEND: Swept.RESENT,
    Reason.CARRIED: Swept.CARRIED,
    Reason.ASSUMED: Swept.ASSUMED,
}


def _is_carried(decided: Run | Ignored) -> bool:
    return isinstance(decided, Run) and decided.reason is Reason.CARRIED


def _leaves_nothing(run: Run, older: Sequence[Run]) -> bool:
    """Return True if every event of the run was part of MAX_UNKNOWN_ATTEMPTS unknown attempts."""
    return run.window is not None and run.window.until <= given_up_until((run, *older))


def _gives_up(run: Run, older: Sequence[Run]) -> bool:
    """Return True if an event of the last attempt has now reached MAX_UNKNOWN_ATTEMPTS."""
    before = replace(run, uncertain=run.uncertain - {run.attempt})
    return given_up_until((run, *older)) > settled_until((before, *older))


def _start_successor(run: Run, context: SweepContext) -> None:
    """Start the run that will carry an immediate run. Without a new event, no other process starts
    it.

    The successor is started before the run is marked as carried, because the sweep does not see the
    run afterwards. Until then, the successor waits for the run.
    """
    user_id, schedule = run.key.user_id, run.key.schedule
    newest = context.runs.chain(latest_run(user_id, schedule))[0]
    if newest.key == run.key or newest.status.is_final:
        behind = next_run(newest, now=context.clock(), check_after=context.limits.check_after)
        newest = context.runs.create(behind)
    context.generate_queue.send([QueuedRun(newest.key, timedelta(minutes=1))])


def proven_until(context: SweepContext) -> datetime | None:
    """Return the sending time up to which delivery events have arrived, or None if unknown.

    If that time is long ago, a canary is sent, whose delivery event the next sweep can use.
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
