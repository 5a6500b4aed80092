"""When a run may be sent, so that all workers together keep to the rate of its stream."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from gazette.domain.delivery.pace import NoPermit, Permit
from gazette.domain.delivery.run import Reason, Run
from gazette.domain.delivery.signals import (
    Accepted,
    RefusedAccount,
    RefusedForGood,
    SendOutcome,
    Skip,
)
from gazette.domain.delivery.streams import Streams
from gazette.domain.errors import NotYet
from gazette.domain.model import DAILY
from gazette.domain.ports.clock import Clock
from gazette.domain.ports.pacing import CircuitBreaker, RateLimiter

_LONGEST_WAIT = timedelta(seconds=5)
"""For one message: the ten of an invocation share its time, and a function that waits is paid."""

_BETWEEN = (timedelta(seconds=60), timedelta(seconds=900))
"""How long a run is requeued: not to ask again at once, and no longer than SQS hides a message."""

_BETWEEN_AT_ONCE = (timedelta(seconds=10), timedelta(seconds=60))
"""The same for an immediate run, which asks the more often, because it is in a hurry."""

_BREAKER_OPEN = (timedelta(seconds=600), timedelta(seconds=900))
_BREAKER_OPEN_AT_ONCE = (timedelta(seconds=60), timedelta(seconds=300))
"""The same while nothing is sent at all: often enough that somebody tries again in time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """What the runs of a stream go by, and those of no other."""

    rate_limiter: RateLimiter
    breaker: CircuitBreaker


@dataclass(frozen=True, slots=True, kw_only=True)
class Pacing:
    """`sleep` lets time pass; `random` returns a number from 0 to 1."""

    lanes: Streams[Lane]
    clock: Clock
    sleep: Callable[[timedelta], None]
    random: Callable[[], float]


def wait_for_permit(run: Run, *, pacing: Pacing, spare: timedelta) -> Permit | NoPermit:
    """Take a permit of its stream and wait for it, no longer than `spare`; or why there is none.

    Raises NotYet where there is none only because `spare` is so short.
    """
    now = pacing.clock()
    lane = pacing.lanes.of(run.key.schedule)
    permit = lane.rate_limiter.reserve(now, now + min(_LONGEST_WAIT, spare))
    if permit is NoPermit.BUSY and spare < _LONGEST_WAIT:
        raise NotYet("Too little time is left of this invocation to wait for a permit to send.")
    if isinstance(permit, NoPermit):
        return permit
    if permit.at > now:
        pacing.sleep(permit.at - now)
    return permit


def without_permit(run: Run, why: NoPermit, *, pacing: Pacing) -> Skip | timedelta:
    """What becomes of a run that has no permit: skipped, or requeued for so long.

    A daily digest is not sent a day late: its events go with the next one. What comes more rarely
    waits for the next day (rule 21). The breaker skips nothing.
    """
    at_once = run.key.is_immediate
    if why is NoPermit.DAILY_CAP and run.key.schedule == DAILY:
        return Skip(Reason.DAILY_CAP)
    if why is NoPermit.BREAKER_OPEN:
        soonest, latest = _BREAKER_OPEN_AT_ONCE if at_once else _BREAKER_OPEN
    else:
        soonest, latest = _BETWEEN_AT_ONCE if at_once else _BETWEEN
    delay = soonest + (latest - soonest) * pacing.random()
    if why is NoPermit.DAILY_CAP:
        delay = _BETWEEN[1]
    return delay


def record_outcome(outcome: SendOutcome, run: Run, permit: Permit, *, pacing: Pacing) -> None:
    """What an attempt tells about the whole stream of its run: pull the breaker, or let go.

    The other stream's breaker is touched only where the refusal concerns every stream, and only if
    it is off: what is on has a probe of its own to find out, and nobody else's doubles its step.

    Let go only where the permit was the one that tries, and the provider took this email or refused
    it for its own sake: so others that were accepted before the stream was refused change
    nothing, and one that never reached the provider proves nothing. For after
    the commit, which must not wait for it. Raises Unavailable; the next one says it again.
    """
    lane = pacing.lanes.of(run.key.schedule)
    if isinstance(outcome, RefusedAccount):
        now = pacing.clock()
        lane.breaker.trip(outcome.detail, now)
        if outcome.every_stream:
            pacing.lanes.beside(run.key.schedule).breaker.trip_if_closed(outcome.detail, now)
    elif permit.is_probe and isinstance(outcome, Accepted | RefusedForGood):
        lane.breaker.reset()
