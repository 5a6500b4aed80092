"""Ask a content source, each time with a permit, and tell the circuit breaker how it went."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta

from gazette.domain.content import Answer, Question
from gazette.domain.delivery.backlog import among
from gazette.domain.delivery.pace import LONGEST_WAIT_FOR_A_PERMIT, NoPermit, Permit
from gazette.domain.errors import SourceFailed, Unavailable
from gazette.domain.ports.clock import Clock
from gazette.domain.ports.content import ContentSource
from gazette.domain.ports.pacing import CircuitBreaker, RateLimiter
from gazette.domain.ports.queues import LONGEST_DELAY
from gazette.steps.content.health import SourceHealth

_RETRY_AFTER = (timedelta(milliseconds=50), timedelta(milliseconds=250))
"""The pause before a request is repeated at once, at random: not all workers at the same time."""

_BREAKER_OPEN = (timedelta(seconds=60), timedelta(seconds=180))
"""Delay of a fetch while the breaker is open: often enough that some fetch is there for each probe,
and that a digest that waits ten minutes gets its items after an outage of five."""

_IN_TIME = timedelta(seconds=1)
"""A request begins so long after its permit at most: reading three rows takes a tenth of it."""

_FIRST_PAUSE = timedelta(seconds=30)
"""The mean delay of a fetch that failed once; doubled each time."""


@dataclass(slots=True)
class ProcessHealth:
    """The health of a source as this process sees it.

    `requests`: how many it has made. `opened`: how often it opened the circuit breaker, or left it
    open.
    """

    now: SourceHealth = field(default_factory=SourceHealth)
    requests: int = 0
    opened: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AskContext:
    """What is needed to ask a source.

    `waiting`: how many fetches wait for a permit, as far as is known. `sleep` waits; `random`
    returns a number from 0 to 1.
    """

    source: ContentSource
    rate_limiter: RateLimiter
    breaker: CircuitBreaker
    health: ProcessHealth
    waiting: Callable[[], int]
    clock: Clock
    sleep: Callable[[timedelta], None]
    random: Callable[[], float]


def no_permit_near(context: AskContext) -> bool:
    """Whether no permit is near by what this process knows: then nothing is read for a fetch."""
    now = context.clock()
    return context.rate_limiter.outlook(now).free_at > now + LONGEST_WAIT_FOR_A_PERMIT


def wait_for_permit(context: AskContext) -> Permit | NoPermit:
    """Take a permit for one request and wait for it, or say why there is none."""
    now = context.clock()
    permit = context.rate_limiter.reserve(now, now + LONGEST_WAIT_FOR_A_PERMIT)
    if isinstance(permit, Permit) and (wait := permit.at - context.clock()) > timedelta(0):
        context.sleep(wait)
    return permit


def still_in_time(permit: Permit, context: AskContext) -> Permit | NoPermit:
    """The permit, or another one if it is too late for this: or say why there is none.

    Whoever stalls between permit and request, all at once, would ask in a burst. A probe goes,
    however late: there is one at a time.
    """
    if permit.is_probe or context.clock() - permit.at <= _IN_TIME:
        return permit
    return wait_for_permit(context)


def again_after(why: NoPermit, context: AskContext) -> timedelta:
    """The delay of a fetch for which there was no permit: over the time that all of them need."""
    known = context.rate_limiter.outlook(context.clock())
    in_turn = among(context.waiting(), rate=known.rate, random=context.random())
    if why is not NoPermit.BREAKER_OPEN:
        return in_turn
    soonest, latest = _BREAKER_OPEN
    return max(in_turn, soonest + (latest - soonest) * context.random())


def again_after_failure(tries: int, context: AskContext) -> timedelta:
    """The delay of a fetch that has failed so often: a random one, twice as long each time."""
    mean = min(_FIRST_PAUSE * 2.0 ** min(tries - 1, 10), LONGEST_DELAY / 1.5)
    return mean * (0.5 + context.random())


def ask(question: Question, permit: Permit, *, context: AskContext) -> Answer:
    """Ask once, or twice if the retry budget allows. Raises SourceFailed.

    The second request takes a permit of its own, and is not made if none is free at once. None
    follows a source that refuses, or a probe: the breaker is open then.
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
    """One request. Where the breaker cannot be told, the next failure or probe tells it."""
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
