"""Query a content source. Each request takes a permit and updates the circuit breaker."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta

from gazette.domain.content.items import Answer
from gazette.domain.content.ports import ContentSource, Question
from gazette.domain.delivery.batching import LONGEST_WAIT_FOR_A_PERMIT, delay_among
from gazette.domain.delivery.pace import NoPermit, Permit
from gazette.domain.errors import SourceFailed, Unavailable
from gazette.domain.ports.clock import Clock
from gazette.domain.ports.pacing import CircuitBreaker, RateLimiter
from gazette.domain.ports.queues import LONGEST_DELAY
from gazette.steps.content.health import SourceHealth

_RETRY_AFTER = (timedelta(milliseconds=50), timedelta(milliseconds=250))
"""The range of the random delay before an immediate retry. The delay keeps workers from retrying
simultaneously.
"""

_BREAKER_OPEN = (timedelta(seconds=60), timedelta(seconds=180))
"""The range of the random delay before a fetch is retried while the circuit breaker is open.

The delay is short enough to have a fetch available for each probe. A digest that waits ten minutes
still gets its items after a five-minute outage.
"""

_IN_TIME = timedelta(seconds=1)
"""The maximum delay between a permit and its request. The three reads in between usually take a
tenth of this time.
"""

_FIRST_PAUSE = timedelta(seconds=30)
"""The mean delay of a fetch after its first failure. The delay doubles with each failure."""


@dataclass(slots=True)
class ProcessHealth:
    """The health of a source as observed by this process."""

    now: SourceHealth = field(default_factory=SourceHealth)
    requests: int = 0
    """The number of requests that this process has made."""

    opened: int = 0
    """The number of times that this process opened the circuit breaker or kept it open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskContext:
    """The dependencies of a query to a content source."""

    source: ContentSource
    rate_limiter: RateLimiter
    breaker: CircuitBreaker
    health: ProcessHealth
    waiting: Callable[[], int]
    """A function that returns the known number of fetches that are waiting for a permit."""

    clock: Clock
    sleep: Callable[[timedelta], None]
    """A function that sleeps."""

    random: Callable[[], float]
    """A function that returns a random number from 0 to 1."""


def no_permit_near(context: AskContext) -> bool:
    """Return True if this process knows that no permit for a request will be available soon.

    The fetch can then be postponed without reading a row.
    """
    now = context.clock()
    return context.rate_limiter.outlook(now).free_at > now + LONGEST_WAIT_FOR_A_PERMIT


def wait_for_permit(context: AskContext) -> Permit | NoPermit:
    """Take a permit for one request and wait until it begins. If there is no permit, return the
    reason.
    """
    now = context.clock()
    permit = context.rate_limiter.reserve(now, now + LONGEST_WAIT_FOR_A_PERMIT)
    if isinstance(permit, Permit) and (wait := permit.at - context.clock()) > timedelta(0):
        context.sleep(wait)
    return permit


def still_in_time(permit: Permit, context: AskContext) -> Permit | NoPermit:
    """Return the permit, or take a new permit if this one is too old.

    If no new permit is available, returns the reason. Without this check, workers that stalled
    between permit and request would send a burst. A late probe is sent anyway, because there is
    only one probe at a time.
    """
    if permit.is_probe or context.clock() - permit.at <= _IN_TIME:
        return permit
    return wait_for_permit(context)


def again_after(why: NoPermit, context: AskContext) -> timedelta:
    """Return a random delay for a fetch that got no permit.

    The longest delay is the time that all waiting fetches need.
    """
    known = context.rate_limiter.outlook(context.clock())
    in_turn = delay_among(context.waiting(), rate=known.rate, random=context.random())
    if why is not NoPermit.BREAKER_OPEN:
        return in_turn
    soonest, latest = _BREAKER_OPEN
    return max(in_turn, soonest + (latest - soonest) * context.random())


def again_after_failure(tries: int, context: AskContext) -> timedelta:
    """Return a random delay before the next try of a fetch that has failed `tries` times.

    The mean delay doubles each time."""
    mean = min(_FIRST_PAUSE * 2.0 ** min(tries - 1, 10), LONGEST_DELAY / 1.5)
    return mean * (0.5 + context.random())


def ask(question: Question, permit: Permit, *, context: AskContext) -> Answer:
    """Query the source, and retry once if the retry budget allows. Raises SourceFailed.

    The second request takes a permit of its own, and is made only if a permit is available
    immediately. A failed probe and a refusal open the breaker, so neither is retried.
    """
    try:
        return _once(question, permit, context)
    except SourceFailed as err:
        is_over = err.refuses or permit.is_probe or not context.health.now.may_retry
        if is_over or (second := _second_permit(context)) is None:
            raise
    return _once(question, second, context)


def _second_permit(context: AskContext) -> Permit | None:
    soonest, latest = _RETRY_AFTER
    context.sleep(soonest + (latest - soonest) * context.random())
    permit = wait_for_permit(context)
    return permit if isinstance(permit, Permit) else None


def _once(question: Question, permit: Permit, context: AskContext) -> Answer:
    """Send one request, and update the circuit breaker.

    If the breaker cannot be updated, the next failure or probe updates it.
    """
    health = context.health
    health.requests += 1
    try:
        answer = context.source.ask(question)
    except SourceFailed as err:
        health.now = health.now.failed()
        if err.refuses or permit.is_probe or health.now.is_down:
            health.now = health.now.reported()
            health.opened += 1
            with suppress(Unavailable):
                context.breaker.trip(str(err), context.clock(), at_least=err.retry_after)
        raise
    health.now = health.now.succeeded()
    if permit.is_probe:
        with suppress(Unavailable):
            context.breaker.reset()
    return answer
