"""The invariants of all stored runs and accepted emails."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import combinations

from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.delivery.signals import Policy
from gazette.domain.model import RunKey, StoredEvent
from gazette.domain.scheduling.calendar import slot_of

from proofs.invariants import accepted_too_often, excused, in_too_many_emails, missing
from proofs.state.provider import NotingRuns, Taken
from tests.world import World

_KNOWN = {Reason.ACCEPTED, Reason.EVIDENCE}
_GIVEN_UP = {Reason.POLICY_RESEND, Reason.CARRIED}
_UNKNOWN = {Reason.UNCERTAIN, Reason.DEADLINE_PASSED}


@dataclass
class Stops:
    """The acknowledged stops, each with the number of run writes before it.

    `of_all` is set if the reader unsubscribed, `batches` are by slot, `events` by id. `begun` holds
    events and readers with a started stop, acknowledged or not. `number` is the number of stops.
    """

    number: int = 0
    of_all: int | None = None
    batches: dict[datetime, int] = field(default_factory=dict)
    events: dict[str, int] = field(default_factory=dict)
    begun: set[str] = field(default_factory=set)


def repeated(
    taken: Sequence[Taken], history: Sequence[Run], policy: Policy, told: Mapping[RunKey, int]
) -> Iterable[str]:
    """Yield emails that share an event, unless a policy had given up the first in time.

    In time means before the claim of the second email, and before the first was known to be sent.
    `told` maps a run to the number of run writes before its first delivery event was processed.
    """
    for first, second in combinations(taken, 2):
        if first.key != second.key and not first.shown & second.shown:
            continue
        claim = _claim_of(second, history)
        since = _claim_of(first, history)
        of_first = [run for run in history[since:claim] if run.key == first.key]
        what = f"{first} and {second}"
        if policy is Policy.ASSUME_SENT:
            yield f"twice under assume_sent: {what}"
        elif told.get(first.key, claim + 1) <= claim or any(map(_is_known, of_first)):
            yield f"twice although the first was known to be sent: {what}"
        elif not any(run.reason in _GIVEN_UP for run in of_first):
            yield f"twice before the first was given up: {what}"
        elif first.key == second.key and policy is not Policy.RESEND:
            yield f"one run twice under {policy}: {what}"
    yield from in_too_many_emails((event for email in taken for event in email.shown), policy)
    yield from accepted_too_often((email.key for email in taken), policy)


def repetitions(taken: Sequence[Taken]) -> int:
    """Return the number of emails that repeat an event of an earlier one."""
    return sum(
        any(email.shown & earlier.shown for earlier in taken[:number])
        for number, email in enumerate(taken)
    )


def sent_after_a_stop(
    taken: Sequence[Taken], history: Sequence[Run], stops: Stops
) -> Iterable[str]:
    """Yield emails whose claim followed the acknowledgement of a stop that forbids them."""
    for email in taken:
        claim = _claim_of(email, history)
        slot = slot_of(history[claim].due_at)
        forbidden = [
            stops.of_all,
            stops.batches.get(slot),
            *(stops.events.get(event) for event in email.shown),
        ]
        if any(at is not None and at <= claim for at in forbidden):
            yield f"claimed after a stop: {email}"


def lost(world: World, taken: Iterable[Taken], stops: Stops) -> Iterable[str]:
    """Yield events that are in no email.

    Ignore events in a window closed by `assume_sent`, and events in two unknown attempts that the
    provider had not accepted.
    """
    shown = frozenset[str]().union(*(email.shown for email in taken))
    for (user_id, event_id), stored in world.events.rows.items():
        if not isinstance(stored, StoredEvent) or {user_id, event_id} & stops.begun:
            continue
        if event_id not in shown and not excused(stored, world.runs.rows.values()):
            yield f"lost: {event_id} of {stored.stored_at}"


def silent(world: World, stops: Stops) -> Iterable[str]:
    """Yield occurrences without a run, and runs that have not ended although all work has settled.

    Only a reader who unsubscribed has no later digest that takes over a run's events.
    """
    yield from missing(world.schedules.rows.values(), world.runs.rows.values())
    for run in world.runs.rows.values():
        is_left = run.reason is Reason.CARRIED and run.key.user_id in stops.begun
        if not run.status.is_final and not is_left:
            yield f"never ended: {run}"


def unknown_in(runs: NotingRuns) -> int:
    """Return the number of attempts with an unknown outcome."""
    return len(
        {
            (run.key, run.attempt)
            for run in runs.history
            if run.status is Status.UNKNOWN and run.reason in _UNKNOWN
        }
    )


def claims_in(runs: NotingRuns) -> int:
    """Return the number of attempts."""
    return len({(run.key, run.attempt) for run in runs.history if run.status is Status.SENDING})


def _is_known(run: Run) -> bool:
    return run.status is Status.SENT and run.reason in _KNOWN


def _claim_of(email: Taken, history: Sequence[Run]) -> int:
    return next(
        number
        for number, run in enumerate(history)
        if (run.key, run.attempt, run.status) == (email.key, email.attempt, Status.SENDING)
    )
