"""What a world came to, judged by the emails that were accepted and by the rows (G1, G2, G3)."""

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import combinations, pairwise

from gazette.domain.delivery.run import Reason, Run, Status, is_given_up
from gazette.domain.delivery.signals import Policy
from gazette.domain.identity import ASIDE, EXPIRED, GIVEN_UP, is_immediate, latest_run
from gazette.domain.model import DAILY, Placed, Retracted
from gazette.domain.scheduling.calendar import slot_of
from gazette.domain.stored import readable
from gazette.domain.subscribers.subscriber import Subscriber

from proofs.prove.acts import CANCELLED, ERASED, LEFT, MUTED, RETRACTED
from proofs.prove.life import Life
from proofs.prove.provider import Evidence, Taken
from tests.world import GRACE

_IN_TIME = timedelta(minutes=2)
"""A report that came so soon after its email came before any deadline of its run."""

_BETWEEN = {DAILY: timedelta(days=1), "weekly": timedelta(days=7)}
"""From one occurrence to the next."""

_ENDS = {
    Status.SENT: {Reason.ACCEPTED, Reason.EVIDENCE, Reason.ASSUMED},
    Status.FAILED: {
        Reason.REFUSED_FOR_GOOD,
        Reason.ATTEMPTS_EXHAUSTED,
        Reason.CARRIED_INTO,
        Reason.GIVEN_UP,
    },
    Status.SKIPPED: {
        Reason.EMPTY,
        Reason.EXPIRED,
        Reason.TOO_LATE,
        Reason.CATEGORY_HELD,
        Reason.SUPERSEDED,
        Reason.UNSUBSCRIBED,
        Reason.SUPPRESSED,  # who leaves: the address first, and then the status
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
"""How a run may end, and why."""


MOST_COPIES = {Policy.RESEND: 2, Policy.CARRY_OVER: 2, Policy.ASSUME_SENT: 1}
"""How many emails may have one event, whatever is lost."""


@dataclass
class Verdict:
    """`violations` in words; `copies`: how many events were in so many emails; `ends`: what became
    of the events; `unknown`: runs that stay so.
    """

    violations: list[str] = field(default_factory=list)
    copies: Counter[int] = field(default_factory=Counter)
    ends: Counter[str] = field(default_factory=Counter)
    unknown: int = 0


def judge(life: Life) -> Verdict:
    """Of a world in which nothing moves any more."""
    verdict = Verdict()
    runs = {run.key: run for run in life.runs()}
    for user_id, event_id in sorted(set(life.events)):
        _judge_event(life, user_id, event_id, verdict)
    for key, number in Counter(taken.key for taken in life.provider.taken).items():
        if number > 1 and not (life.scenario.policy is Policy.RESEND and number == 2):
            verdict.violations.append(f"G2: {number} emails were accepted for {key}")
    for run in runs.values():
        if run.reason not in _ENDS.get(run.status, ()):
            verdict.violations.append(f"G3: {run.key} is {run.status} ({run.reason})")
        if run.reason is Reason.ASSUMED and life.scenario.policy is not Policy.ASSUME_SENT:
            verdict.violations.append(f"G1: {run.key} was assumed to be sent")
        if run.resent and life.scenario.evidence is Evidence.SILENT:
            verdict.violations.append(f"rule 9: {run.key} was resent, and nothing is reported")
        if run.status is Status.UNKNOWN:
            verdict.unknown += 1
            verdict.violations += [
                f"G3: {run.key} stays unknown although {later.key} was sent after it"
                for later in runs.values()
                if later.status is Status.SENT and _follows(later, run)
            ]
    _judge_occurrences(life, verdict)
    _judge_stops(life, verdict)
    if life.scenario.refused_at_once is not None:
        _judge_streams(life, verdict)
    return verdict


def _follows(later: Run, run: Run) -> bool:
    return replace(later.key, sequence=run.key.sequence) == run.key and (
        later.key.sequence > run.key.sequence
    )


def _judge_event(life: Life, user_id: str, event_id: str, verdict: Verdict) -> None:
    """G1 and G2: in one email, or why not; in two only where the policy is to blame."""
    shown = [
        taken
        for taken in life.provider.taken
        if taken.key.user_id == user_id and event_id in taken.shows
    ]
    verdict.copies[len(shown)] += 1
    if len(shown) > MOST_COPIES[life.scenario.policy]:
        verdict.violations.append(f"G2: {event_id} of {user_id} is in {len(shown)} emails")
    if not shown:
        end = _why_not_shown(life, user_id, event_id)
        verdict.ends[end] += 1
        if end in {"LOST", "ASSUMED BY NOBODY"}:
            verdict.violations.append(f"G1: {event_id} of {user_id} is in no email: {end}")
        return
    verdict.ends["sent"] += 1
    for earlier, later in combinations(shown, 2):
        if why := _why_not_twice(life, earlier, later):
            verdict.violations.append(
                f"G2: {event_id} of {user_id} is in {earlier.key} and in {later.key}: {why}"
            )


def _why_not_shown(life: Life, user_id: str, event_id: str) -> str:
    onlooker = life.onlooker
    placed = onlooker.events.get(user_id, event_id)
    if isinstance(placed, Retracted):
        return "retracted"
    if placed is None:
        if _has_expired(life, user_id, event_id):
            return "expired"
        gone = {(ERASED, user_id), (MUTED, user_id)} & life.acknowledged.keys()
        return "muted or erased" if gone else "LOST"
    if placed.schedule in {ASIDE, GIVEN_UP}:
        return "set aside"
    chain = onlooker.runs.chain(latest_run(user_id, placed.schedule))
    runs = [*readable(onlooker.runs.of_user(user_id))]
    took = [run for run in runs if _closed(run, placed)]
    if is_given_up(placed.stored_at, [run for run in runs if _is_of(run, placed)]):
        return "given up"
    if took:
        return "assumed" if any(run.reason is Reason.ASSUMED for run in took) else "LOST"
    reader = onlooker.subscribers.get(user_id)
    if not isinstance(reader, Subscriber) or reader.has_left:
        return "waits for a reader who left"
    if is_immediate(placed.schedule) and chain and chain[0].status.is_final:
        return f"waits, {chain[0].status} ({chain[0].reason})"
    return "LOST"


def _is_of(run: Run, placed: Placed) -> bool:
    return run.key.schedule == placed.schedule


def _has_expired(life: Life, user_id: str, event_id: str) -> bool:
    """Whether it waited in vain for as long as it must, was counted, and its run says so.

    Where that was sent all the same, with what came later, its reason is another.
    """
    counted = any(
        placed.event.id == event_id and placed.schedule == EXPIRED
        for placed in readable(life.onlooker.events.of_user(user_id))
    )
    runs = readable(life.onlooker.runs.of_user(user_id))
    return counted and any(
        run.reason is Reason.EXPIRED or run.status is Status.SENT for run in runs
    )


def _closed(run: Run, placed: Placed) -> bool:
    """Whether it closed the window in which the event lies."""
    return (
        run.status is Status.SENT
        and _is_of(run, placed)
        and run.window is not None
        and placed.stored_at <= run.window.until
    )


def _why_not_twice(life: Life, earlier: Taken, later: Taken) -> str:
    """Why no policy allowed the second email; nothing where one did."""
    policy = life.scenario.policy
    if policy is Policy.ASSUME_SENT:
        return "the policy is to assume that it was sent"
    settled = life.settled.get(earlier.key)
    if settled is not None and settled <= later.claim_call:
        return "the first one was known to have been sent"
    came = life.reported.get((earlier.key, earlier.attempt))
    if came and came - earlier.at < _IN_TIME:
        return "its report came in time"
    if later.at - earlier.at < GRACE:
        return "the grace period of the first one was not over"
    if earlier.key == later.key and policy is not Policy.RESEND:
        return "the policy is not to send a run again"
    return ""


def _judge_occurrences(life: Life, verdict: Verdict) -> None:
    """G3: every number of a schedule has its run, and every day one."""
    for reader in life.scenario.readers:
        for schedule in life.onlooker.schedules.of_user(reader):
            runs = [
                run
                for run in readable(life.onlooker.runs.of_user(reader))
                if run.key.schedule == schedule.name
            ]
            numbers = {run.key.sequence for run in runs}
            missing = set(range(1, schedule.sequence)) - numbers
            if missing:
                verdict.violations.append(f"G3: {schedule.name} of {reader} has no run {missing}")
            due = sorted({run.due_at.date() for run in runs})
            longest = _BETWEEN.get(schedule.name, timedelta(0))
            if any(after - before > longest for before, after in pairwise(due)):
                verdict.violations.append(f"G3: {schedule.name} of {reader} passed over a day")


def _judge_streams(life: Life, verdict: Verdict) -> None:
    """Whatever is refused at once, no digest is late for it."""
    verdict.violations += [
        f"rule 10: {run.key} was skipped as too late while email at once was refused"
        for run in life.runs()
        if run.reason is Reason.TOO_LATE and not is_immediate(run.key.schedule)
    ]


def _judge_stops(life: Life, verdict: Verdict) -> None:
    """A stop that was acknowledged before a claim wins."""
    runs = {run.key: run for run in life.runs()}
    for (what, whom), since in life.acknowledged.items():
        for taken in life.provider.taken:
            if taken.claim_call < since:
                continue
            run = runs.get(taken.key)
            hit = {
                CANCELLED: run is not None and slot_of(run.due_at).isoformat() == whom,
                LEFT: taken.key.user_id == whom,
                ERASED: taken.key.user_id == whom,
                MUTED: taken.key.user_id == whom and not _began_before(run, taken, since),
                RETRACTED: whom in taken.shows,
            }[what]
            if hit:
                verdict.violations.append(
                    f"rule 11: {taken.key} was claimed although {whom} was {what}"
                )


def _began_before(run: Run | None, taken: Taken, since: int) -> bool:
    """What may have gone out stays with its run, also where that is sent once more."""
    return taken.attempt > 1 or bool(run and run.uncertain)
