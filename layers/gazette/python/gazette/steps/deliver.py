"""Deliver one run: the only way in which Gazette sends."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from gazette.domain.batch import batch_of
from gazette.domain.errors import NotYet
from gazette.domain.frequency import Frequency
from gazette.domain.identity import is_immediate, run_id
from gazette.domain.ledgers import Batches, Runs
from gazette.domain.model import Edition, RunKey
from gazette.domain.pace import NoTurn, Turn
from gazette.domain.ports import LONGEST_DELAY, Clock, LinkMaker, Mailer, TimeLeft
from gazette.domain.retries import pause_after
from gazette.domain.run import BEGINNING, Reason, Run, Status, why_not_sent
from gazette.domain.signals import (
    Cancel,
    Claim,
    NotAttempted,
    RefusedForNow,
    SendOutcome,
    Signal,
    Skip,
    Uncertain,
)
from gazette.domain.stores import EventReader, Subscribers
from gazette.domain.subscriber import Subscriber
from gazette.steps.applying import apply
from gazette.steps.claiming import make_claim
from gazette.steps.editing import Desk, address, edit
from gazette.steps.pacing import Pacing, heed, wait_for_turn, without_turn
from gazette.steps.preceding import settle_if_overdue, settle_older, window_of

_OVERTAKEN = 3
"""Times that a run is prepared anew where something stopped or changed it before the claim."""

_SOON = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class DeliveryLimits:
    """The times that keep a run from being sent twice.

    `settle_lag`: how far a window ends before now, longer than the longest event write plus
    clock skew. `send_timeout`: the longest that a call of the provider takes. `commit_margin`:
    what must be left of the invocation after it. `clock_skew`: added to a claim's deadline.
    `evidence_grace`: how long after that the provider's own report may come. `max_lateness`: how
    long after it was due a digest still goes out.
    """

    settle_lag: timedelta
    send_timeout: timedelta
    commit_margin: timedelta
    clock_skew: timedelta
    evidence_grace: timedelta
    max_lateness: timedelta


class Awaited(StrEnum):
    """What a run waits for that is put off."""

    PAUSE_OVER = "pause_over"
    COLLECTED = "collected"
    OLDER_RUN = "older_run"
    TURN = "turn"
    NEXT_DAY = "next_day"
    BRAKE_OFF = "brake_off"


_BY_NO_TURN = {
    NoTurn.BUSY: Awaited.TURN,
    NoTurn.DAILY_CAP: Awaited.NEXT_DAY,
    NoTurn.BRAKED: Awaited.BRAKE_OFF,
}


@dataclass(frozen=True, slots=True)
class Delivery:
    """What became of one message: the run as it is stored, and when it should be tried again.

    `again_at` None: it has ended, or somebody else, or the sweep, goes on with it; else `awaited`
    is what for. `outcome`: of the attempt, where one was made. `set_aside`: how many events no
    email can show.
    """

    run: Run
    again_at: datetime | None = None
    awaited: Awaited | None = None
    outcome: SendOutcome | None = None
    set_aside: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivering:
    """The tables, the desk and the provider by which runs become emails.

    `draw_nonce` returns what nobody else draws; `random` a number from 0 to 1.
    """

    runs: Runs
    subscribers: Subscribers
    events: EventReader
    batches: Batches
    desk: Desk
    link_maker: LinkMaker
    mailer: Mailer
    pacing: Pacing
    clock: Clock
    draw_nonce: Callable[[], str]
    random: Callable[[], float]
    list_id: str
    limits: DeliveryLimits


def deliver(key: RunKey, *, by: Delivering, time_left: TimeLeft) -> Delivery | None:
    """Bring the run to an end, or say when to try again. None: there is no such run.

    Read, group, rank and render first; then claim, send and commit, so that the lock is held
    only around the call. Who is overtaken before the claim reads everything again. `time_left`
    is what remains of this invocation. Raises NotYet where the message must be kept: too little
    time is left, or the run kept changing.
    """
    needed = by.limits.send_timeout + by.limits.commit_margin
    turn: Turn | None = None
    set_aside = 0
    for _ in range(_OVERTAKEN):
        chain = by.runs.chain(key)
        if not chain or chain[0].key != key:
            return None
        run = settle_if_overdue(
            chain[0], runs=by.runs, clock=by.clock, evidence_grace=by.limits.evidence_grace
        )
        if run.status not in {Status.PENDING, Status.RETRYING}:
            return Delivery(run)
        if (not_before := _not_before(run, by.limits)) > by.clock():
            awaited = Awaited.PAUSE_OVER if run.retry_at else Awaited.COLLECTED
            return Delivery(run, not_before, awaited)
        if _is_too_late(run, by):
            return Delivery(apply(run, Skip(Reason.TOO_LATE), runs=by.runs))
        older = settle_older(
            chain[1:], runs=by.runs, clock=by.clock, evidence_grace=by.limits.evidence_grace
        )
        if older.unsettled:
            again_at = _when_settled(older.unsettled, by.clock())
            return Delivery(run, again_at, Awaited.OLDER_RUN)

        window = window_of(run, older.sent_until, until=by.clock() - by.limits.settle_lag)
        events = list(by.events.read(key.user_id, key.schedule, window))
        if not events:
            return Delivery(apply(run, Skip(Reason.EMPTY), runs=by.runs))
        subscriber = by.subscribers.get(key.user_id)
        if not isinstance(subscriber, Subscriber) or subscriber.has_left:
            return Delivery(apply(run, Skip(why_not_sent(subscriber)), runs=by.runs))
        links = by.link_maker.links(key.user_id)
        edition = edit(key, events, subscriber, links, desk=by.desk)
        if not isinstance(edition, Edition):
            set_aside += len(edition)
            continue

        spare = time_left() - needed
        if spare < timedelta(0):
            raise NotYet(f"Too little time is left of this invocation to send run {run_id(key)}.")
        if turn is None:
            found = wait_for_turn(by.pacing, spare=spare)
            if isinstance(found, NoTurn):
                instead = without_turn(run, found, pacing=by.pacing)
                if isinstance(instead, Skip):
                    return Delivery(apply(run, instead, runs=by.runs))
                return Delivery(run, by.clock() + instead, _BY_NO_TURN[found])
            turn = found
        if _is_cancelled(run, by.batches):
            return Delivery(apply(run, Cancel(Reason.BATCH_CANCELLED), runs=by.runs))
        deadline = by.clock() + time_left() + by.limits.clock_skew
        claim = Claim(window=window, deadline=deadline, nonce=by.draw_nonce())
        claimed = make_claim(run, claim, older, runs=by.runs)
        if claimed:
            break
    else:
        raise NotYet(f"Run {run_id(key)} kept changing while it was being prepared.")
    if time_left() < needed or by.clock() + by.limits.send_timeout > deadline:
        apply(claimed, NotAttempted(claimed.attempt), runs=by.runs)
        raise NotYet(f"The invocation ran out of time before run {run_id(key)} was sent.")
    mail = address(claimed, edition, subscriber, links, list_id=by.list_id)
    outcome = by.mailer.send(mail, claimed.attempt)
    try:
        run = apply(claimed, _dated(outcome, claimed, by), runs=by.runs)
    finally:
        heed(outcome, turn, pacing=by.pacing)
    return Delivery(run, *_again(run, by.clock()), outcome, set_aside)


def _not_before(run: Run, limits: DeliveryLimits) -> datetime:
    """Before when it is not sent: a pause after a refusal, or what it still collects."""
    if run.retry_at is not None:
        return run.retry_at
    if is_immediate(run.key.schedule):
        return run.due_at + limits.settle_lag
    return BEGINNING


def _when_settled(older: Run, now: datetime) -> datetime:
    """Roughly: a claimant ends within its deadline, the sweep soon after the grace period.

    A doubt that is older waits for a proof that reports come in, and may do so for hours.
    """
    expected = older.deadline if older.status is Status.SENDING else older.check_at
    if expected is None or expected < now:
        return now + LONGEST_DELAY
    return expected + _SOON


def _is_too_late(run: Run, by: Delivering) -> bool:
    """Of what comes at least weekly: its events go with the next one.

    What may be rarer goes out late rather than much later; and for one that was tried in time and
    refused, its pauses count.
    """
    is_frequent = run.key.schedule in {Frequency.DAILY.value, Frequency.WEEKLY.value}
    return is_frequent and not run.refusals and by.clock() - run.due_at > by.limits.max_lateness


def _is_cancelled(run: Run, batches: Batches) -> bool:
    """Whether the run's batch was. Whoever cancels one goes through its runs as well (rule 11)."""
    slot = batch_of(run)
    return slot is not None and batches.get(slot).cancelled_at is not None


def _dated(outcome: SendOutcome, run: Run, by: Delivering) -> Signal:
    """The outcome, and when somebody looks at the run again."""
    match outcome:
        case RefusedForNow():
            pause = pause_after(run.refusals + 1, random=by.random())
            return replace(outcome, retry_at=by.clock() + pause)
        case Uncertain() if run.deadline:
            return replace(outcome, check_at=run.deadline + by.limits.evidence_grace)
        case _:
            return outcome


def _again(run: Run, now: datetime) -> tuple[datetime | None, Awaited | None]:
    """When an attempt is followed by another, and what for; None where it is not."""
    if run.status is not Status.RETRYING:
        return None, None
    if run.retry_at:
        return run.retry_at, Awaited.PAUSE_OVER
    return now + _SOON, Awaited.BRAKE_OFF
