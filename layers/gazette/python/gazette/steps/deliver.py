"""Deliver one run: the only way in which Gazette sends."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from gazette.domain.batch import batch_of
from gazette.domain.compose import compose
from gazette.domain.errors import NotYet, Unavailable
from gazette.domain.frequency import Frequency
from gazette.domain.identity import is_immediate, run_id
from gazette.domain.ledgers import Batches, Runs
from gazette.domain.model import Edition, Mail, RunKey, Window
from gazette.domain.ports import Clock, LinkMaker, Links, Mailer, Renderer, TimeLeft
from gazette.domain.run import Reason, Run, Status, sent_until, why_not_sent
from gazette.domain.signals import Cancel, Claim, DeadlinePassed, NotAttempted, Signal, Skip
from gazette.domain.stores import EventReader, Subscribers
from gazette.domain.subscriber import Subscriber
from gazette.steps.applying import apply
from gazette.steps.pacing import Pacing, wait_for_turn, without_turn

_OVERTAKEN = 3
"""Times that a run is prepared anew where something stopped or changed it before the claim."""


@dataclass(frozen=True, slots=True)
class DeliveryLimits:
    """The times that keep a run from being sent twice.

    `settle_lag`: how far a window ends before now, longer than the longest event write plus
    clock skew. `send_timeout`: the longest that a call of the provider takes. `commit_margin`:
    what must be left of the invocation after it. `clock_skew`: added to a claim's deadline.
    `max_lateness`: how long after it was due a digest still goes out.
    """

    settle_lag: timedelta
    send_timeout: timedelta
    commit_margin: timedelta
    clock_skew: timedelta
    max_lateness: timedelta
    max_groups: int


def deliver(
    key: RunKey,
    *,
    runs: Runs,
    subscribers: Subscribers,
    events: EventReader,
    batches: Batches,
    renderer: Renderer,
    link_maker: LinkMaker,
    mailer: Mailer,
    pacing: Pacing,
    clock: Clock,
    draw_nonce: Callable[[], str],
    time_left: TimeLeft,
    list_id: str,
    limits: DeliveryLimits,
) -> Run | None:
    """Bring the run to an end, or say why not now. Returns it as stored; None: no such run.

    Read, group, rank and render first; then claim, send and commit, so that the lock is held
    only around the call. Who is overtaken before the claim reads everything again. One that is
    returned and has not ended was put off: another message brings it back. `time_left`
    is what remains of this invocation. Raises NotYet where the message must be kept: an earlier
    run is unsettled, another worker holds this one, too little time is left, or the provider
    refused for now.
    """
    needed = limits.send_timeout + limits.commit_margin
    has_turn = False
    for _ in range(_OVERTAKEN):
        chain = runs.chain(key)
        if not chain or chain[0].key != key:
            return None
        run = _settle_if_overdue(chain[0], runs=runs, clock=clock)
        if run.status.is_final:
            return run
        if run.status in {Status.SENDING, Status.UNKNOWN}:
            raise NotYet(f"Run {run_id(key)} is {run.status}: its outcome has to be settled first.")
        if is_immediate(key.schedule) and clock() - limits.settle_lag < run.due_at:
            raise NotYet(f"Run {run_id(key)} still collects what happens until {run.due_at}.")
        older = _settle_predecessors(chain[1:], runs=runs, clock=clock)
        if _is_too_late(run, clock=clock, limits=limits):
            return _end(run, Skip(Reason.TOO_LATE), runs=runs)

        window = _window(run, older, now=clock(), settle_lag=limits.settle_lag)
        digest = compose(
            events.read(key.user_id, key.schedule, window), max_groups=limits.max_groups
        )
        if not digest.groups:
            return _end(run, Skip(Reason.EMPTY), runs=runs)

        subscriber = subscribers.get(key.user_id)
        if not isinstance(subscriber, Subscriber) or subscriber.has_left:
            return _end(run, Skip(why_not_sent(subscriber)), runs=runs)
        links = link_maker.links(key.user_id)
        edition = renderer.render(digest, subscriber, links, key.schedule)

        spare = time_left() - needed
        if spare < timedelta(0):
            raise NotYet(f"Too little time is left of this invocation to send run {run_id(key)}.")
        if not has_turn:
            if no_turn := wait_for_turn(pacing, spare=spare):
                skip = without_turn(run, no_turn, pacing=pacing)
                return _end(run, skip, runs=runs) if skip else run
            has_turn = True
        if _is_cancelled(run, batches=batches):
            return _end(run, Cancel(Reason.BATCH_CANCELLED), runs=runs)
        deadline = clock() + time_left() + limits.clock_skew
        claim = Claim(window=window, deadline=deadline, nonce=draw_nonce())
        claimed = _claim(run, claim, runs=runs)
        if claimed.status is Status.SENDING and claimed.nonce == claim.nonce:
            break
    else:
        raise NotYet(f"Run {run_id(key)} kept changing while it was being prepared.")
    if time_left() < needed or clock() + limits.send_timeout > deadline:
        apply(claimed, NotAttempted(claimed.attempt), runs=runs)
        raise NotYet(f"The invocation ran out of time before run {run_id(key)} was sent.")
    mail = _address(claimed, edition, subscriber, links, list_id)
    return _end(claimed, mailer.send(mail, claimed.attempt), runs=runs)


def _is_too_late(run: Run, *, clock: Clock, limits: DeliveryLimits) -> bool:
    """Of what comes at least weekly: its events go with the next one.

    What may be rarer goes out late rather than much later, and so does what may have gone out.
    """
    is_frequent = run.key.schedule in {Frequency.DAILY.value, Frequency.WEEKLY.value}
    return is_frequent and not run.uncertain and clock() - run.due_at > limits.max_lateness


def _is_cancelled(run: Run, *, batches: Batches) -> bool:
    """Whether the run's batch was. Whoever cancels one goes through its runs as well (rule 11).

    What may have gone out is not called back.
    """
    slot = batch_of(run)
    if slot is None or run.uncertain:
        return False
    return batches.get(slot).cancelled_at is not None


def _claim(run: Run, claim: Claim, *, runs: Runs) -> Run:
    """Claim once, and ask again where no answer came: the nonce tells whether it was made."""
    try:
        return apply(run, claim, runs=runs)
    except Unavailable:
        return apply(run, claim, runs=runs)


def _end(run: Run, signal: Signal, *, runs: Runs) -> Run:
    """Apply a signal that should end the run. Raises NotYet where it does not stand ended."""
    ended = apply(run, signal, runs=runs)
    if not ended.status.is_final:
        raise NotYet(f"Run {run_id(run.key)} is {ended.status}: {ended.reason} {ended.detail}")
    return ended


def _settle_if_overdue(run: Run, *, runs: Runs, clock: Clock) -> Run:
    """A claimant whose deadline has passed is gone: what became of its call is unknown."""
    if run.status is Status.SENDING and run.deadline is not None and clock() > run.deadline:
        return apply(run, DeadlinePassed(), runs=runs)
    return run


def _settle_predecessors(older: Sequence[Run], *, runs: Runs, clock: Clock) -> list[Run]:
    """Before a window is computed, every older run must have ended (rule 3).

    Returns them as they are stored now: one may have been sent since it was read.
    """
    ended: list[Run] = []
    for predecessor in older:
        settled = _settle_if_overdue(predecessor, runs=runs, clock=clock)
        if settled.status is Status.PENDING or (
            settled.status is Status.RETRYING and not settled.uncertain
        ):
            settled = apply(settled, Cancel(Reason.SUPERSEDED), runs=runs)
        if not settled.status.is_final or (settled.uncertain and settled.status is not Status.SENT):
            raise NotYet(
                f"The earlier run {run_id(settled.key)} is {settled.status}: "
                "until it is settled, nobody knows which events were sent."
            )
        ended.append(settled)
    return ended


def _window(run: Run, older: Sequence[Run], *, now: datetime, settle_lag: timedelta) -> Window:
    """From the end of the last sent window; `until` as the first claim fixed it (rule 2)."""
    since = sent_until(older)
    if run.window is not None:
        return Window(since, run.window.until)
    return Window(since, max(since, now - settle_lag))


def _address(
    run: Run, edition: Edition, subscriber: Subscriber, links: Links, list_id: str
) -> Mail:
    """One-click unsubscribe: RFC 8058. List-Id: RFC 2919. Auto-Submitted: RFC 3834."""
    return Mail(
        to=subscriber.email,
        edition=edition,
        headers=(
            ("List-Unsubscribe", f"<{links.unsubscribe}>"),
            ("List-Unsubscribe-Post", "List-Unsubscribe=One-Click"),
            ("List-Id", f"<{list_id}>"),
            ("Auto-Submitted", "auto-generated"),
        ),
        tags=(("run", run_id(run.key)), ("attempt", str(run.attempt))),
    )
