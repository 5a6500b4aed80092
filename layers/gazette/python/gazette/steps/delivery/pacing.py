"""Take a permit for each email, so that all workers together keep within the stream's rate."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from gazette.domain.delivery.batching import delay_among, delay_until_permit
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
from gazette.domain.model import DAILY, RunKey
from gazette.domain.ports.clock import Clock
from gazette.domain.ports.pacing import CircuitBreaker, RateLimiter
from gazette.domain.ports.queues import LONGEST_DELAY
from gazette.steps.delivery.types import Delivery, Ending, WaitingFor
from gazette.steps.runs import Changes

_WAITING_FOR = {
    NoPermit.BUSY: WaitingFor.PERMIT,
    NoPermit.DAILY_CAP: WaitingFor.NEXT_DAY,
    NoPermit.BREAKER_OPEN: WaitingFor.SENDING_RESUMED,
}

_BREAKER_OPEN = (timedelta(seconds=600), timedelta(seconds=900))
_BREAKER_OPEN_IMMEDIATE = (timedelta(seconds=60), timedelta(seconds=300))
"""The delay of a requeued immediate run while the breaker is open.

The delay is short enough that a run is available for each probe. Immediate runs are more urgent, so
they return more often than digests.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamPacing:
    """The rate limiter and the circuit breaker of a stream."""

    rate_limiter: RateLimiter
    breaker: CircuitBreaker
    waiting: Callable[[], int] | None
    """A function that returns the known number of the stream's runs that are waiting for a permit.

    None for a stream with urgent runs, which are retried at the next permit.
    """

    def again_at(self, now: datetime, random: float) -> datetime:
        """Return when to retry a run for which no permit was available soon."""
        known = self.rate_limiter.outlook(now)
        if self.waiting is None:
            return now + delay_until_permit(known.free_at - now)
        return now + delay_among(self.waiting(), rate=known.rate, random=random)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pacing:
    """The dependencies of pacing."""

    streams: Streams[StreamPacing]
    clock: Clock
    sleep: Callable[[timedelta], None]
    """A function that sleeps."""

    random: Callable[[], float]
    """A function that returns a random number from 0 to 1."""


def postponed_until(key: RunKey, *, pacing: Pacing) -> datetime | None:
    """Return when to try the run again if no permit will be available soon.

    Returns None if a permit may be available. Uses only this worker's view of the stream and reads
    no row, so most runs that arrive too early cost neither reads nor rendering.
    """
    now = pacing.clock()
    stream = pacing.streams.of(key.schedule)
    known = stream.rate_limiter.outlook(now)
    if known.free_at <= now + known.longest_wait:
        return None
    return stream.again_at(now, pacing.random())


def wait_for_permit(run: Run, *, pacing: Pacing, spare: timedelta) -> Permit | Ending:
    """Take a permit of the run's stream and wait until it begins. If no permit is available in
    time, return the result for the run.

    Raises NotYet if a permit would be available but `spare` is too short.
    """
    now = pacing.clock()
    stream = pacing.streams.of(run.key.schedule)
    longest = stream.rate_limiter.outlook(now).longest_wait
    latest = now + min(longest, spare)
    permit = stream.rate_limiter.reserve(now, latest, critical=run.key.is_critical)
    if permit is NoPermit.BUSY and spare < longest:
        raise NotYet("Too little time is left of this invocation to wait for a permit to send.")
    if isinstance(permit, NoPermit):
        return no_permit(run, permit, pacing=pacing)
    wait = permit.at - pacing.clock()
    if wait > timedelta(0):
        pacing.sleep(wait)
    return permit


def no_permit(run: Run, why: NoPermit, *, pacing: Pacing) -> Ending:
    """Return the result for a run that got no permit of its stream (`without_permit`)."""
    now, random = pacing.clock(), pacing.random()
    stream = pacing.streams.of(run.key.schedule)
    busy_until = stream.again_at(now, random) if why is NoPermit.BUSY else now
    return without_permit(run, why, now=now, random=random, busy_until=busy_until)


def without_permit(
    run: Run, why: NoPermit, *, now: datetime, random: float, busy_until: datetime
) -> Ending:
    """Return the result for a run that got no permit. The run is skipped or requeued.

    A daily digest is not sent a day late, because the next digest includes its events. Less
    frequent digests wait for the next day (rule 21). An open breaker skips no run. `random` is a
    number from 0 to 1. If the next permits are too late, the run is tried again at `busy_until`.
    """
    changes = Changes()
    if why is NoPermit.DAILY_CAP and run.key.schedule == DAILY:
        return Ending(Delivery(changes.apply(run, Skip(Reason.DAILY_CAP))), changes.decided)
    if why is NoPermit.BUSY:
        again_at = busy_until
    elif why is NoPermit.DAILY_CAP:
        again_at = now + LONGEST_DELAY
    else:
        soonest, latest = _BREAKER_OPEN_IMMEDIATE if run.key.is_immediate else _BREAKER_OPEN
        again_at = now + soonest + (latest - soonest) * random
    return Ending(Delivery(run, again_at, _WAITING_FOR[why]))


def record_outcome(outcome: SendOutcome, run: Run, permit: Permit, *, pacing: Pacing) -> None:
    """Trip or reset the circuit breaker, depending on the outcome of an attempt.

    Trips the other stream's breaker only if the refusal affects every stream and that breaker is
    closed. An open breaker has a probe of its own, and a refusal of another stream does not
    lengthen its pauses.

    Resets the breaker only if the permit was the probe's, and the provider accepted this email or
    refused it for reasons specific to the email. Emails that were accepted before the stream was
    refused have no effect, and an email that never reached the provider proves nothing new. Call
    this function after the commit, which must not wait for it. Raises Unavailable; the next attempt
    reports the outcome again.
    """
    stream = pacing.streams.of(run.key.schedule)
    if isinstance(outcome, RefusedAccount):
        now = pacing.clock()
        stream.breaker.trip(outcome.detail, now)
        if outcome.every_stream:
            pacing.streams.other_than(run.key.schedule).breaker.trip_if_closed(outcome.detail, now)
    elif permit.is_probe and isinstance(outcome, Accepted | RefusedForGood):
        stream.breaker.reset()
