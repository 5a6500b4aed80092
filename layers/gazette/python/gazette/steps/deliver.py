"""Deliver one run: the only way in which Gazette sends."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from gazette.domain.compose import compose
from gazette.domain.errors import NotYet, Unavailable
from gazette.domain.identity import run_id
from gazette.domain.lifecycle import Ignored, transition
from gazette.domain.model import Edition, Mail, RunKey, Subscriber, SubscriberStatus, Window
from gazette.domain.ports import (
    Clock,
    EventReader,
    LinkMaker,
    Links,
    Mailer,
    Renderer,
    Runs,
    Subscribers,
)
from gazette.domain.run import Reason, Run, Status
from gazette.domain.signals import Cancel, Claim, DeadlinePassed, NotAttempted, Signal, Skip

_BEGINNING = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class DeliveryLimits:
    """The times that keep a run from being sent twice.

    `settle_lag`: how far a window ends before now, longer than the longest event write plus
    clock skew. `send_timeout`: the longest that a call of the provider takes. `commit_margin`:
    what must be left of the invocation after it. `clock_skew`: added to a claim's deadline.
    """

    settle_lag: timedelta
    send_timeout: timedelta
    commit_margin: timedelta
    clock_skew: timedelta
    max_groups: int


def deliver(
    key: RunKey,
    *,
    runs: Runs,
    subscribers: Subscribers,
    events: EventReader,
    renderer: Renderer,
    link_maker: LinkMaker,
    mailer: Mailer,
    clock: Clock,
    draw_nonce: Callable[[], str],
    time_left: Callable[[], timedelta],
    list_id: str,
    limits: DeliveryLimits,
) -> Run | None:
    """Bring the run to an end, or say why not now. Returns it as stored; None: no such run.

    Read, group, rank and render first; then claim, send and commit, so that the lock is held
    only around the call. `time_left` is what remains of this invocation. Raises NotYet where
    the message must be kept: an earlier run is unsettled, another worker holds this one, too
    little time is left, or the provider refused for now.
    """
    chain = runs.chain(key)
    if not chain or chain[0].key != key:
        return None
    run = _settle_if_overdue(chain[0], runs=runs, clock=clock)
    if run.status.is_final:
        return run
    if run.status in {Status.SENDING, Status.UNKNOWN}:
        raise NotYet(f"Run {run_id(key)} is {run.status}: its outcome has to be settled first.")
    older = _settle_predecessors(chain[1:], runs=runs, clock=clock)

    window = _window(run, older, now=clock(), settle_lag=limits.settle_lag)
    digest = compose(events.read(key.user_id, key.schedule, window), max_groups=limits.max_groups)
    if not digest.groups:
        return _end(run, Skip(Reason.EMPTY), runs=runs)

    subscriber = subscribers.get(key.user_id)
    if subscriber is None:
        return _end(run, Skip(Reason.UNKNOWN_SUBSCRIBER), runs=runs)
    if subscriber.status is SubscriberStatus.UNSUBSCRIBED:
        return _end(run, Skip(Reason.UNSUBSCRIBED), runs=runs)
    links = link_maker.links(key.user_id)
    edition = renderer.render(digest, subscriber, links)

    needed = limits.send_timeout + limits.commit_margin
    if time_left() < needed:
        raise NotYet(f"Too little time is left of this invocation to send run {run_id(key)}.")
    deadline = clock() + time_left() + limits.clock_skew
    claim = Claim(window=window, deadline=deadline, nonce=draw_nonce())
    claimed = _claim(run, claim, runs=runs)
    if claimed.status is not Status.SENDING or claimed.nonce != claim.nonce:
        raise NotYet(f"Run {run_id(key)} changed while it was being prepared.")
    if time_left() < needed or clock() + limits.send_timeout > deadline:
        _apply(claimed, NotAttempted(claimed.attempt), runs=runs)
        raise NotYet(f"The invocation ran out of time before run {run_id(key)} was sent.")
    mail = _address(claimed, edition, subscriber, links, list_id)
    return _end(claimed, mailer.send(mail, claimed.attempt), runs=runs)


def _claim(run: Run, claim: Claim, *, runs: Runs) -> Run:
    """Claim once, and ask again where no answer came: the nonce tells whether it was made."""
    try:
        return _apply(run, claim, runs=runs)
    except Unavailable:
        return _apply(run, claim, runs=runs)


def _end(run: Run, signal: Signal, *, runs: Runs) -> Run:
    """Apply a signal that should end the run. Raises NotYet where it does not stand ended."""
    ended = _apply(run, signal, runs=runs)
    if not ended.status.is_final:
        raise NotYet(f"Run {run_id(run.key)} is {ended.status}: {ended.reason} {ended.detail}")
    return ended


def _apply(run: Run, signal: Signal, *, runs: Runs) -> Run:
    """Store what `signal` makes of the run; where somebody else was first, of what they stored.

    A claim is made on what was read and on nothing else: it is not repeated.
    """
    while True:
        after = transition(run, signal)
        if isinstance(after, Ignored):
            return run
        stored = runs.swap(run, after)
        if stored == after or isinstance(signal, Claim):
            return stored
        run = stored


def _settle_if_overdue(run: Run, *, runs: Runs, clock: Clock) -> Run:
    """A claimant whose deadline has passed is gone: what became of its call is unknown."""
    if run.status is Status.SENDING and run.deadline is not None and clock() > run.deadline:
        return _apply(run, DeadlinePassed(), runs=runs)
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
            settled = _apply(settled, Cancel(Reason.SUPERSEDED), runs=runs)
        if not settled.status.is_final or (settled.uncertain and settled.status is not Status.SENT):
            raise NotYet(
                f"The earlier run {run_id(settled.key)} is {settled.status}: "
                "until it is settled, nobody knows which events were sent."
            )
        ended.append(settled)
    return ended


def _window(run: Run, older: Sequence[Run], *, now: datetime, settle_lag: timedelta) -> Window:
    """From the end of the last sent window; `until` as the first claim fixed it (rule 2)."""
    since = max(
        (
            sent.window.until
            for sent in older
            if sent.status is Status.SENT and sent.window is not None
        ),
        default=_BEGINNING,
    )
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
