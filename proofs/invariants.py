"""The invariants of every run, event and email, which the proofs share.

G1: No event is lost. Each event is in an email, is waiting, or is omitted because of a policy.

G2: No event is in more emails than the policy for unknown outcomes allows. The provider accepts no
run more often than that policy allows.

G3: Every run ends with a possible reason. Every sequence number of a schedule has a run.

A function that returns an iterable yields a line for each violation. The line names the invariant,
or the rule of docs/protocol.md.
"""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import replace

from gazette.domain.delivery.run import (
    MAX_UNKNOWN_ATTEMPTS,
    Reason,
    Run,
    Status,
    is_given_up,
    settled_until,
)
from gazette.domain.delivery.signals import Policy
from gazette.domain.identity import latest_run
from gazette.domain.model import Retracted, RunKey, Schedule, StoredEvent
from gazette.domain.scheduling.kinds import Unsent, is_critical
from gazette.domain.stored import readable
from gazette.domain.subscribers.subscriber import Subscriber

from tests.world import World

MOST_COPIES: Mapping[Policy, int] = {
    Policy.RESEND: 2,
    Policy.CARRY_OVER: 2,
    Policy.ASSUME_SENT: 1,
}
"""The maximum number of emails with one event, whatever is lost."""

_ENDS: Mapping[Status, Collection[Reason]] = {
    Status.SENT: {Reason.ACCEPTED, Reason.EVIDENCE, Reason.ASSUMED},
    Status.FAILED: {
        Reason.REFUSED_FOR_GOOD,
        Reason.ATTEMPTS_EXHAUSTED,
        Reason.CARRIED_INTO,
        Reason.GIVEN_UP,
    },
    Status.SKIPPED: {
        Reason.EMPTY,
        Reason.NOTHING_NEW,
        Reason.NO_CONTENT,
        Reason.NOTHING_WAITED,
        Reason.EXPIRED,
        Reason.LAPSED,
        Reason.SEEN,
        Reason.WITHDRAWN,
        Reason.TOO_LATE,
        Reason.CATEGORY_HELD,
        Reason.WAITS_FOR_MORE,
        Reason.SUPERSEDED,
        Reason.UNSUBSCRIBED,
        Reason.SUPPRESSED,  # an unsubscribe suppresses the address before it changes the status
        Reason.DORMANT,
        Reason.ERASED,
        Reason.UNKNOWN_SUBSCRIBER,
        Reason.DAILY_CAP,
    },
    Status.CANCELLED: {
        Reason.BATCH_CANCELLED,
        Reason.SUPERSEDED,
        Reason.PREFERENCES_CHANGED,
        Reason.UNSUBSCRIBED,
        Reason.ERASED,
    },
    Status.UNKNOWN: {Reason.CARRIED},
}
"""The allowed ends of a run, with their reasons."""


def in_too_many_emails(shown: Iterable[Hashable], policy: Policy) -> Iterable[str]:
    """Yield violations of G2: events in more emails than the policy allows.

    `shown` contains each event once for every email that includes the event.
    """
    for event, number in Counter(shown).items():
        if number > MOST_COPIES[policy]:
            yield f"G2: {event} is in {number} emails"


def accepted_too_often(keys: Iterable[RunKey], policy: Policy) -> Iterable[str]:
    """Yield violations of G2: runs that were accepted too often.

    Only the policy `resend` may send a run twice. `keys` contains the run of each accepted email.
    """
    most = 2 if policy is Policy.RESEND else 1
    for key, number in Counter(keys).items():
        if number > most:
            yield f"G2: {number} emails were accepted for {key}"


def ended_badly(runs: Iterable[Run], policy: Policy) -> Iterable[str]:
    """Yield violations of G3: runs that have not ended, or have ended with an impossible reason."""
    for run in runs:
        if run.reason not in _ENDS.get(run.status, ()):
            yield f"G3: {run.key} is {run.status} ({run.reason})"
        if run.reason is Reason.ASSUMED and policy is not Policy.ASSUME_SENT:
            yield f"G1: {run.key} was assumed to be sent"
        if run.reason is Reason.EMPTY and len(run.uncertain) >= MAX_UNKNOWN_ATTEMPTS:
            yield f"G3: {run.key} ended as if no event of it had been given up"


def unknown_for_ever(runs: Collection[Run]) -> Iterable[str]:
    """Yield violations of G3: runs that remain unknown although a later run was sent."""
    for run in runs:
        if run.status is Status.UNKNOWN:
            for later in runs:
                if later.status is Status.SENT and _follows(later, run):
                    yield f"G3: {run.key} stays unknown although {later.key} was sent after it"


def _follows(later: Run, run: Run) -> bool:
    return replace(later.key, sequence=run.key.sequence) == run.key and (
        later.key.sequence > run.key.sequence
    )


def missing(schedules: Iterable[Schedule], runs: Iterable[Run]) -> Iterable[str]:
    """Yield violations of G3: sequences of a schedule without a run."""
    known = {run.key for run in runs}
    for schedule in schedules:
        for number in range(1, schedule.sequence):
            if RunKey(schedule.user_id, schedule.name, number) not in known:
                yield f"G3: {schedule.name} of {schedule.user_id} has no run {number}"


def forgotten(world: World, user_ids: Iterable[str]) -> Iterable[str]:
    """Yield violations of rule 23: events that wait in an idle schedule, which is never read.

    Check readers who get email, while no worker is busy and no message is on its way to ingest.
    """
    for user_id in user_ids:
        reader = world.subscribers.get(user_id)
        if not isinstance(reader, Subscriber) or not reader.receives_email:
            continue
        idle = {
            schedule.name: settled_until(world.runs.chain(latest_run(user_id, schedule.name)))
            for schedule in world.schedules.of_user(user_id)
            if schedule.is_idle
        }
        for stored in readable(world.events.of_user(user_id)) if idle else ():
            if stored.stored_at > idle.get(stored.schedule, stored.stored_at):
                yield (
                    f"rule 23: {stored.event.id} of {user_id} waits, "
                    f"and the {stored.schedule} digest is idle"
                )


def excused(stored: StoredEvent, runs: Iterable[Run]) -> str:
    """Return the policy's reason why a stored event may be in no email, or an empty text.

    `given up`: the event was in two attempts with an unknown outcome. `assumed`: the event is in a
    window that the policy `assume_sent` treats as sent.
    """
    schedule = stored.event.user_id, stored.schedule
    theirs = [run for run in runs if (run.key.user_id, run.key.schedule) == schedule]
    if is_given_up(stored.stored_at, theirs):
        return "given up"
    is_assumed = any(
        run.reason is Reason.ASSUMED and run.window and run.window.holds(stored.stored_at)
        for run in theirs
    )
    return "assumed" if is_assumed else ""


def why_unsent(world: World, user_id: str, event_id: str) -> str:
    """Return the reason why no email contains an event, or `LOST` if the event was lost.

    `gone`: the event's row is deleted, as for a muted or erased event.
    """
    stored = world.events.get(user_id, event_id)
    runs = [*readable(world.runs.of_user(user_id))]
    if isinstance(stored, Retracted):
        return "retracted"
    if stored is None:
        return "expired" if _was_counted_as_expired(world, user_id, event_id, runs) else "gone"
    if stored.schedule == Unsent.EXCLUDED and stored.withdrawn_at:
        return "withdrawn"
    if stored.schedule == Unsent.EXCLUDED and stored.seen_at:
        return "seen" if stored.is_left_out else "LOST"
    if stored.schedule in {Unsent.EXCLUDED, Unsent.GIVEN_UP}:
        return "excluded"
    if stored.schedule == Unsent.EXPIRED:
        return "lapsed" if stored.event.has_lapsed(world.clock()) else "LOST"
    if why := excused(stored, runs):
        return why
    if any(_closed(run, stored) for run in runs):
        return "LOST"
    return waits_for(world, stored) or "LOST"


def waits_for(world: World, stored: StoredEvent) -> str:
    """Return the reason why an event may wait forever, such as a reader who has unsubscribed.

    Return an empty text if the event does not wait, or waits without a reason.
    """
    reader = world.subscribers.get(stored.event.user_id)
    has_left = isinstance(reader, Subscriber) and reader.has_left
    if not isinstance(reader, Subscriber) or (has_left and not is_critical(stored.schedule)):
        return "waits for a reader who left"
    chain = world.runs.chain(latest_run(stored.event.user_id, stored.schedule))
    if not (stored.is_immediate and chain and chain[0].status.is_final):
        return ""
    return "" if _closed(chain[0], stored) else f"waits, {chain[0].status} ({chain[0].reason})"


def _was_counted_as_expired(world: World, user_id: str, event_id: str, runs: Iterable[Run]) -> bool:
    """Return True if the event was counted as expired, and a run has recorded the expiry.

    A run that was sent with other events has a different reason than `expired`.
    """
    counted = any(
        stored.event.id == event_id and stored.schedule == Unsent.EXPIRED
        for stored in readable(world.events.of_user(user_id))
    )
    return counted and any(
        run.reason is Reason.EXPIRED or run.status is Status.SENT for run in runs
    )


def _closed(run: Run, stored: StoredEvent) -> bool:
    """Return True if the run closed the window with the event."""
    return (
        run.status is Status.SENT
        and run.key.schedule == stored.schedule
        and run.window is not None
        and stored.stored_at <= run.window.until
    )
