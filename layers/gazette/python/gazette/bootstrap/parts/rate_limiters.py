"""The rate limiter of each stream, for functions that send and for commands that only read."""

from dataclasses import replace
from datetime import date
from functools import partial

from gazette.adapters.cached import ALONE, Coalescer
from gazette.adapters.dynamodb.pacing.pace import ROWS, DynamoRateLimiter
from gazette.bootstrap.parts.clock import now
from gazette.domain.delivery.pace import PacePlan
from gazette.domain.delivery.streams import Streams, divided
from gazette.settings.pacing import PacingSettings


def rate_limiters(
    settings: PacingSettings, *, batch: int = 1, coalescer: Coalescer = ALONE
) -> Streams[DynamoRateLimiter]:
    """Return the rate limiter of each stream.

    `batch` is the maximum number of emails per invocation. Each object implements `RateLimiter`,
    `PaceGauge` and `CircuitBreaker`.
    """
    shares = divided(settings.immediate_share)
    plan = PacePlan(
        rate=settings.emails_per_second or None,
        ramp_from=settings.ramp_from,
        warmup_from=date.fromisoformat(settings.warmup_from) if settings.warmup_from else None,
        warmup_daily=settings.warmup_daily,
        batch=batch,
    )
    table = settings.pace_table
    limiter = partial(DynamoRateLimiter, table, coalescer=coalescer, clock=now)
    return Streams(
        digest=limiter(replace(plan, share=shares.digest), name=ROWS.digest),
        immediate=limiter(replace(plan, share=shares.immediate), name=ROWS.immediate),
    )
