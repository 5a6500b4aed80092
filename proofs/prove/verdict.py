"""The verdict on a world, from its accepted emails and its rows (G1, G2, G3)."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import combinations

from gazette.domain.delivery.run import Reason, Run, Status, settled_until
from gazette.domain.delivery.signals import Policy
from gazette.domain.feedback.delivery_events import Mark, mark_of
from gazette.domain.model import DAILY, Event, RunKey, StoredEvent
from gazette.domain.scheduling.calendar import slot_of, zone_of
from gazette.domain.scheduling.kinds import Unsent
from gazette.domain.stored import readable
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.domain.withdrawing.withdrawals import Withdrawal, WithdrawalKind

from proofs.invariants import (
    accepted_too_often,
    ended_badly,
    in_too_many_emails,
    missing,
    unknown_for_ever,
    why_unsent,
)
from proofs.prove.acts import (
    CANCELLED,
    ERASED,
    LEFT,
    MUTED,
    RETRACTED,
    SEEN,
    STORED,
    UNFOLLOWED,
    UNWANTED,
    WITHDRAWN,
)
from proofs.prove.life import FIRST_DUE, LIST_AGE, Happening, Life
from proofs.prove.provider import Evidence, Taken
from proofs.prove.strikes import How
from tests.world import GRACE

_ZONE = zone_of("Europe/Berlin")
"""The time zone of all readers."""

_PAUSED = timedelta(hours=1)
"""The longest time between a worker's look at the clock and its claim."""

_IN_TIME = timedelta(minutes=2)
"""A delay of a delivery event that is too short for any deadline of its run to have passed."""

_UNWANTED = (RETRACTED, UNWANTED, UNFOLLOWED, WITHDRAWN)

_BETWEEN = {DAILY: timedelta(days=1), "weekly": timedelta(days=7)}
"""The time from one occurrence to the next."""


@dataclass
class Verdict:
    """The verdict on one world."""

    violations: list[str] = field(default_factory=list)
    """The violations, in words."""

    copies: Counter[int] = field(default_factory=Counter)
    """The number of events by the number of emails that contained them."""

    ends: Counter[str] = field(default_factory=Counter)
    """The number of events by outcome."""

    unknown: int = 0
    """The number of runs that stay unknown."""


def judge(life: Life) -> Verdict:
    """Return the verdict on a world in which no work remains."""
    verdict = Verdict()
    runs = {run.key: run for run in life.runs()}
    for user_id, event_id in sorted(set(life.events)):
        _judge_event(life, user_id, event_id, verdict)
    for happening in sorted(life.happenings):
        _judge_happening(life, happening, verdict)
    verdict.violations += accepted_too_often(
        (taken.key for taken in life.provider.taken), life.scenario.policy
    )
    verdict.violations += ended_badly(runs.values(), life.scenario.policy)
    verdict.violations += unknown_for_ever(runs.values())
    verdict.unknown = sum(run.status is Status.UNKNOWN for run in runs.values())
    verdict.violations += [
        f"rule 9: {run.key} was resent without a report"
        for run in runs.values()
        if run.resent and life.scenario.evidence is Evidence.SILENT
    ]
    verdict.violations += dict.fromkeys(life.idleness.broken)
    verdict.violations += [
        f"pin: {key} was tried with the versions {sorted(versions)}"
        for key, versions in life.provider.tried.items()
        if len(versions) > 1
    ]
    verdict.violations += [
        f"pin: attempt {taken.attempt} of {taken.key} was made with version {taken.version}, "
        f"and its run says {runs[taken.key].templates}"
        for taken in life.provider.taken
        if taken.key in runs and taken.version != runs[taken.key].templates
    ]
    _judge_occurrences(life, verdict)
    _judge_stops(life, verdict)
    _judge_feedback(life, verdict)
    _judge_quiet_hours(life, verdict)
    _judge_limit(life, verdict)
    _judge_withdrawals(life, verdict)
    if life.scenario.refused_at_once is not None:
        _judge_streams(life, verdict)
    return verdict


def _judge_event(life: Life, user_id: str, event_id: str, verdict: Verdict) -> None:
    """Check G1 and G2: one email, or a reason for none; two only if the policy allows it."""
    shown = [
        taken
        for taken in life.provider.taken
        if taken.key.user_id == user_id and event_id in taken.shows
    ]
    verdict.copies[len(shown)] += 1
    verdict.violations += in_too_many_emails(
        [f"{event_id} of {user_id}"] * len(shown), life.scenario.policy
    )
    if not shown:
        end = _why_not_shown(life, user_id, event_id)
        verdict.ends[end] += 1
        if end == "LOST":
            verdict.violations.append(f"G1: {event_id} of {user_id} is in no email: {end}")
        return
    verdict.ends["sent"] += 1
    for earlier, later in combinations(shown, 2):
        if why := why_not_twice(life, earlier, later):
            verdict.violations.append(
                f"G2: {event_id} of {user_id} is in {earlier.key} and in {later.key}: {why}"
            )


def _judge_happening(life: Life, happening: Happening, verdict: Verdict) -> None:
    """Check that one email shows a happening, by its strongest wanted body, or that all bodies
    were retracted, muted or withdrawn.

    The mention is stronger than the comment, which reaches its reader through a follow.
    """
    user_id, activity_id, event_id = happening
    bodies = {activity_id, event_id}
    name = f"{activity_id} and {event_id} of {user_id}"
    shown = [
        taken
        for taken in life.provider.taken
        if taken.key.user_id == user_id and bodies & taken.shows
    ]
    verdict.copies[len(shown)] += 1
    verdict.violations += in_too_many_emails([name] * len(shown), life.scenario.policy)
    verdict.violations += [
        f"rule 30: {taken.key} shows {name}" for taken in shown if bodies <= taken.shows
    ]
    for earlier, later in combinations(shown, 2):
        if why := why_not_twice(life, earlier, later):
            verdict.violations.append(f"G2: {name} are in {earlier.key} and in {later.key}: {why}")
    if shown:
        verdict.ends["sent"] += 1
        if why := _why_not_strongest(life, shown[0], event_id):
            verdict.violations.append(f"rule 30: {shown[0].key} does not show {event_id}: {why}")
        return
    end = _why_not_shown(life, user_id, activity_id)
    row = life.onlooker.events.get(user_id, activity_id)
    is_left_out = isinstance(row, StoredEvent) and row.schedule == Unsent.EXCLUDED
    wanted = sorted(each for each in bodies if not _is_unwanted(life, each))
    if end in {"LOST", "gone", "retracted"} and not wanted:
        end = "retracted"
    elif end in {"LOST", "gone", "retracted"} or (is_left_out and wanted):
        verdict.violations.append(f"G1: {wanted} of {user_id} in no email: {end}")
        end = "LOST"
    verdict.ends[end] += 1


def _is_unwanted(life: Life, event_id: str) -> bool:
    """Return True if the event was retracted, its category muted, its entity unfollowed, or its
    actor withdrawn, who has the name of the event.
    """
    return any((what, event_id) in life.acknowledged for what in _UNWANTED)


def _why_not_strongest(life: Life, first: Taken, event_id: str) -> str:
    """Return why the first email had to show the strongest body, or an empty text.

    A body that joins after an email that may have been sent is not shown.
    """
    stored = life.acknowledged.get((STORED, event_id))
    is_first = len(life.provider.tried) == 1 and first.attempt == 1
    if not is_first or stored is None or _is_unwanted(life, event_id) or event_id in first.shows:
        return ""
    return "it was stored before the claim" if stored <= first.claim_call else ""


def _why_not_shown(life: Life, user_id: str, event_id: str) -> str:
    end = why_unsent(life.onlooker, user_id, event_id)
    stored = life.onlooker.events.get(user_id, event_id)
    if isinstance(stored, StoredEvent) and stored.withdrawn_at:
        applies = any(_applies(each, stored.event) for each in life.withdrawn.values())
        return "withdrawn" if applies else "LOST"
    if end == "gone":
        gone = {(ERASED, user_id), (MUTED, user_id)} & life.acknowledged.keys()
        return "muted or erased" if gone else "LOST"
    return end


def why_not_twice(life: Life, earlier: Taken, later: Taken) -> str:
    """Return why no policy allowed the second email, or an empty text if one did."""
    policy = life.scenario.policy
    if policy is Policy.ASSUME_SENT:
        return "the policy is to assume that it was sent"
    settled = life.settled.get(earlier.key)
    if settled is not None and settled <= later.claim_call:
        return "the first one was known to have been sent"
    came = life.reported.get((earlier.key, earlier.attempt))
    if came and came - earlier.at < _IN_TIME:
        return "its delivery event came in time"
    if later.at - earlier.at < GRACE:
        return "the grace period of the first one was not over"
    if earlier.key == later.key and policy is not Policy.RESEND:
        return "the policy is not to send a run again"
    return ""


def _judge_occurrences(life: Life, verdict: Verdict) -> None:
    """Check G3: each number of a schedule and each occurrence with a waiting event has its run."""
    for reader in life.scenario.readers:
        for schedule in life.onlooker.schedules.of_user(reader):
            runs = [
                run
                for run in readable(life.onlooker.runs.of_user(reader))
                if run.key.schedule == schedule.name
            ]
            verdict.violations += missing([schedule], runs)
            for stored in readable(life.onlooker.events.of_user(reader)):
                if stored.schedule == schedule.name and schedule.name in _BETWEEN:
                    verdict.violations += passed_over(life, stored, runs)


def passed_over(life: Life, stored: StoredEvent, runs: Iterable[Run]) -> Iterable[str]:
    """Return the occurrences with a waiting event but no run, or a run that missed it (G3).

    An event waits from when its message is processed until the run that sends or discards it.
    """
    since = last = life.idleness.arrived(stored.stored_at)
    in_order = sorted(runs, key=lambda run: run.key.sequence)
    dates = {run.due_at.date() for run in in_order}
    for number, run in enumerate(in_order):
        if settled_until(in_order[:number]) >= stored.stored_at:
            return
        if slot_of(run.due_at) <= since:
            continue
        before = run.due_at - _BETWEEN[stored.schedule]
        if slot_of(before) > last and before.date() not in dates:
            yield f"G3: {stored.event.id} waited on {before:%d %B}, and {run.key} is the next run"
        if run.reason is Reason.NOTHING_WAITED:
            yield f"G3: {stored.event.id} waited, and {run.key} was skipped as empty"
        last = run.due_at


def _judge_quiet_hours(life: Life, verdict: Verdict) -> None:
    """Check that no immediate email is claimed in quiet hours, unless it may have been sent.

    A worker whose clock differs, or that pauses right before its claim, looked before the hours.
    """
    hours, story = life.scenario.quiet_hours, life.calls.story
    for taken in life.provider.taken if hours else ():
        at = story[min(taken.claim_call, len(story) - 1)][0]
        is_first = taken.attempt == 1 and taken.key.is_immediate
        if hours and is_first and hours.until(at, _ZONE) and hours.until(at - _PAUSED, _ZONE):
            verdict.violations.append(f"rule 29: {taken.key} was claimed at {at}")


def _judge_limit(life: Life, verdict: Verdict) -> None:
    """Check that there are no more immediate emails than the limit allows, and one for each fault.

    All events of a scenario with a limit happen within its day.
    """
    if limit := life.scenario.limit:
        most = limit.per_day + len(life.calls.plan) + bool(life.scenario.meanwhile)
        immediate = {taken.key for taken in life.provider.taken if taken.key.is_immediate}
        if len(immediate) > most:
            verdict.violations.append(f"rule 28: {len(immediate)} immediate emails, not {most}")


def _judge_withdrawals(life: Life, verdict: Verdict) -> None:
    """Check that a worker that knows a withdrawal shows no event that was withdrawn, and that no
    event is stored as left out although an email shows it.

    An outdated worker knows a withdrawal a minute later.
    """
    rows = life.onlooker.events
    for taken in life.provider.taken if life.withdrawn else ():
        for event_id in sorted(taken.shows):
            stored = rows.get(taken.key.user_id, event_id)
            if not isinstance(stored, StoredEvent):
                continue
            if stored.withdrawn_at and stored.schedule == Unsent.EXCLUDED:
                verdict.violations.append(f"rule 27: {event_id} was sent, and is stored as unsent")
            for whom, each in life.withdrawn.items():
                if _is_known(life, whom, taken) and _applies(each, stored.event):
                    verdict.violations.append(
                        f"rule 27: {taken.key} was sent with {event_id} although {whom} was "
                        f"{WITHDRAWN}"
                    )


def _is_known(life: Life, whom: str, taken: Taken) -> bool:
    """Return True if the worker that claimed the email knew a withdrawal."""
    since = life.acknowledged.get((WITHDRAWN, whom))
    if since is None or taken.claim_call < since:
        return False
    at, worker, *_ = life.calls.story[taken.claim_call]
    is_outdated = worker in life.scenario.outdated
    return at > life.withdrawn[whom].at + LIST_AGE * is_outdated


def _applies(withdrawal: Withdrawal, event: Event) -> bool:
    """Return True if the withdrawal concerns the event and is not earlier than the event."""
    entities = (event.entity.key, *event.via)
    actors = (event.actor.id,) if event.actor else ()
    concerned = actors if withdrawal.kind is WithdrawalKind.ACTOR else entities
    return withdrawal.id in concerned and event.occurred_at <= withdrawal.at


def _judge_streams(life: Life, verdict: Verdict) -> None:
    """Check that no digest is late because immediate email is rejected."""
    verdict.violations += [
        f"rule 10: {run.key} was skipped as too late while immediate email was refused"
        for run in life.runs()
        if run.reason is Reason.TOO_LATE and not run.key.is_immediate
    ]


def _judge_stops(life: Life, verdict: Verdict) -> None:
    """Check that an acknowledged stop prevents later claims; a reader's stop, later last looks."""
    runs = {run.key: run for run in life.runs()}
    for (what, whom), since in life.acknowledged.items():
        for taken in life.provider.taken:
            if what in {WITHDRAWN, STORED, UNFOLLOWED}:
                continue
            is_of_reader = what in {LEFT, ERASED, MUTED, UNWANTED}
            if (taken.look_call if is_of_reader else taken.claim_call) < since:
                continue
            run = runs.get(taken.key)
            hit = {
                CANCELLED: run is not None and slot_of(run.due_at).isoformat() == whom,
                LEFT: taken.key.user_id == whom,
                ERASED: taken.key.user_id == whom,
                MUTED: taken.key.user_id == whom and not _began_before(run, taken, since),
                UNWANTED: whom in taken.shows and not _began_before(run, taken, since),
                RETRACTED: whom in taken.shows,
                # A digest whose worker has read the marks may still show the event.
                SEEN: taken.key.is_immediate and whom in taken.shows,
            }[what]
            if hit:
                verdict.violations.append(
                    f"rule 11: {taken.key} was sent although {whom} was {what}"
                )


def _judge_feedback(life: Life, verdict: Verdict) -> None:
    """Check that each delivery event settled its run, stopped its recipient, and was counted once.

    Each strike on a feedback worker may lose one count for each category of an email: a worker that
    dies does not count, and a bounce that arrives before its email was counted as sent does not
    count. A lost answer may add one, because the AWS client retries the call.
    """
    runs = {run.key: run for run in life.runs()}
    struck = [how for _, name, _, _, how in life.calls.story if how and name == "feedback"]
    may_add = struck.count(How.UNANSWERED)
    counted = {mark: set[RunKey]() for mark in Mark}
    for event in life.delivery_events:
        run = runs.get(event.run) if event.run else None
        if run is None or not run.knows(event.attempt):
            continue
        if run.status is not Status.SENT:
            verdict.violations.append(f"rule 8: {run.key} is {run.status} after it {event.type}")
        if mark := mark_of(event):
            counted[mark].add(run.key)
        if event.fault and not _is_stopped(life, run.key.user_id, event.address):
            verdict.violations.append(f"{run.key.user_id} is not stopped after it {event.type}")
    for category in ("comment", "like"):
        stats = life.onlooker.category_stats.since(category, FIRST_DUE - timedelta(days=1))
        for mark, of in counted.items():
            number = getattr(stats, mark.value)
            right = sum(category in runs[key].categories for key in of)
            if not right - len(struck) <= number <= right + may_add:
                verdict.violations.append(f"{number} {mark} of {category}, and {right} were")


def _is_stopped(life: Life, user_id: str, address: str) -> bool:
    subscriber = life.onlooker.subscribers.get(user_id)
    return (
        life.onlooker.suppressions.holds(address)
        and isinstance(subscriber, Subscriber)
        and subscriber.has_left
        and not any(each.listed for each in life.onlooker.schedules.of_user(user_id))
    )


def _began_before(run: Run | None, taken: Taken, since: int) -> bool:
    """Return True if the run may have been sent before `since`; a retry then keeps its events."""
    return taken.attempt > 1 or bool(run and run.uncertain)
