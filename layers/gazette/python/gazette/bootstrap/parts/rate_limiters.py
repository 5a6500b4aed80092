"""The rate limiter of each stream, for functions that send and for commands that only read."""

from dataclasses import replace
from datetime import date
from functools import partial

from gazette.adapters.cached import ALONE, Coalescer
from gazette.adapters.dynamodb.pacing.pace import ROWS, DynamoRateLimiter
from gazette.bootstrap.parts.clock import now
from gazette.domain.delivery.batching import emails_together
from gazette.domain.delivery.pace import ASSUMED_RATE, PacePlan
from gazette.domain.delivery.streams import Share, Streams, divided
from gazette.settings.pacing import PacingSettings


def rate_limiters(
    settings: PacingSettings, *, most: int = 1, coalescer: Coalescer = ALONE
) -> Streams[DynamoRateLimiter]:
    """Return the rate limiter of each stream.

    `most` is the maximum number of emails per invocation that the mail provider allows. Each object
    implements `RateLimiter`, `PaceGauge` and `CircuitBreaker`.
    """
    shares = divided(settings.immediate_share)
    plan = PacePlan(
        rate=settings.emails_per_second or None,
        ramp_from=settings.ramp_from,
        warmup_from=date.fromisoformat(settings.warmup_from) if settings.warmup_from else None,
        warmup_daily=settings.warmup_daily,
    )
    table, sized_for = settings.pace_table, settings.emails_per_second or ASSUMED_RATE
    limiter = partial(DynamoRateLimiter, table, coalescer=coalescer, clock=now)

    def of_stream(share: Share) -> PacePlan:
        batch = emails_together(share.of_rate(sized_for), most=most)
        return replace(plan, share=share, batch=batch)

    return Streams(
        digest=limiter(of_stream(shares.digest), name=ROWS.digest),
        immediate=limiter(of_stream(shares.immediate), name=ROWS.immediate),
    )
