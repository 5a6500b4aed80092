"""Take a permit for each email, so that all workers together keep to the stream's rate."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from gazette.domain.delivery.pace import LONGEST_WAIT_FOR_A_PERMIT, NoPermit, Permit
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
from gazette.steps.delivery.types import Delivery, Ending, WaitingFor
from gazette.steps.runs import Changes

_BETWEEN = (timedelta(seconds=60), timedelta(seconds=900))
"""Delay of a requeued run. 900 s is the longest delay of an SQS message."""

_BETWEEN_IMMEDIATE = (timedelta(seconds=10), timedelta(seconds=60))
"""The same for an immediate run, which is more urgent and therefore asks more often."""

_WAITING_FOR = {
    NoPermit.BUSY: WaitingFor.PERMIT,
    NoPermit.DAILY_CAP: WaitingFor.NEXT_DAY,
    NoPermit.BREAKER_OPEN: WaitingFor.SENDING_RESUMED,
}

_BREAKER_OPEN = (timedelta(seconds=600), timedelta(seconds=900))
_BREAKER_OPEN_IMMEDIATE = (timedelta(seconds=60), timedelta(seconds=300))
"""The same while the breaker is open: often enough that some run is there for each probe."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamPacing:
    """The rate limiter and the circuit breaker of one stream."""

    rate_limiter: RateLimiter
    breaker: CircuitBreaker


@dataclass(frozen=True, slots=True, kw_only=True)
class Pacing:
    """What pacing needs. `sleep` waits; `random` returns a number from 0 to 1."""

    streams: Streams[StreamPacing]
    clock: Clock
    sleep: Callable[[timedelta], None]
    random: Callable[[], float]


def wait_for_permit(run: Run, *, pacing: Pacing, spare: timedelta) -> Permit | NoPermit:
    """Take a permit of the run's stream and wait for it, at most `spare`; or say why there is none.

    Raises NotYet if there is none only because `spare` is too short.
    """
    now = pacing.clock()
    stream = pacing.streams.of(run.key.schedule)
    permit = stream.rate_limiter.reserve(now, now + min(LONGEST_WAIT_FOR_A_PERMIT, spare))
    if permit is NoPermit.BUSY and spare < LONGEST_WAIT_FOR_A_PERMIT:
        raise NotYet("Too little time is left of this invocation to wait for a permit to send.")
    if isinstance(permit, NoPermit):
        return permit
    wait = permit.at - pacing.clock()
    if wait > timedelta(0):
        pacing.sleep(wait)
    return permit


def without_permit(run: Run, why: NoPermit, *, now: datetime, random: float) -> Ending:
    """Return what becomes of a run without a permit: it is skipped, or requeued for later.

    A daily digest is not sent a day late: its events go with the next one. Rarer digests wait for
    the next day (rule 21). An open breaker skips nothing. `random`: a number from 0 to 1.
    """
    changes = Changes()
    if why is NoPermit.DAILY_CAP and run.key.schedule == DAILY:
        return Ending(Delivery(changes.apply(run, Skip(Reason.DAILY_CAP))), changes.decided)
    is_immediate = run.key.is_immediate
    if why is NoPermit.BREAKER_OPEN:
        soonest, latest = _BREAKER_OPEN_IMMEDIATE if is_immediate else _BREAKER_OPEN
    else:
        soonest, latest = _BETWEEN_IMMEDIATE if is_immediate else _BETWEEN
    delay = soonest + (latest - soonest) * random
    if why is NoPermit.DAILY_CAP:
        delay = _BETWEEN[1]
    return Ending(Delivery(run, now + delay, _WAITING_FOR[why]))


def record_outcome(outcome: SendOutcome, run: Run, permit: Permit, *, pacing: Pacing) -> None:
    """Trip or reset the circuit breaker, according to what an attempt says about its stream.

    Trips the other stream's breaker only if the refusal concerns every stream and that breaker is
    closed: an open breaker has its own probe, and no other stream's refusal doubles its step.

    Resets the breaker only if the permit was the probe's and the provider accepted this email, or
    refused it for reasons of its own. Emails that were accepted before the stream was refused
    change nothing, and an email that never reached the provider proves nothing. Call it after the
    commit, which must not wait for it. Raises Unavailable; the next attempt reports it again.
    """
    stream = pacing.streams.of(run.key.schedule)
    if isinstance(outcome, RefusedAccount):
        now = pacing.clock()
        stream.breaker.trip(outcome.detail, now)
        if outcome.every_stream:
            pacing.streams.beside(run.key.schedule).breaker.trip_if_closed(outcome.detail, now)
    elif permit.is_probe and isinstance(outcome, Accepted | RefusedForGood):
        stream.breaker.reset()
