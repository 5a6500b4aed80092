"""The pace of each stream, joined: for those who send, and for those who look on."""

from dataclasses import replace
from datetime import date, timedelta

from gazette.adapters.dynamodb.pacing.pace import ROWS, DynamoPacer
from gazette.domain.delivery.pace import PacePlan
from gazette.domain.delivery.streams import Streams, divided
from gazette.settings import PacingSettings


def pacers(settings: PacingSettings) -> Streams[DynamoPacer]:
    """The ports `Pacer`, `PaceGauge` and `BrakeLever`, of each stream."""
    shares = divided(settings.immediate_share)
    plan = PacePlan(
        rate=settings.emails_per_second or None,
        ramp_from=settings.ramp_from,
        ramp_every=timedelta(seconds=settings.ramp_every),
        warmup_from=date.fromisoformat(settings.warmup_from) if settings.warmup_from else None,
        warmup_daily=settings.warmup_daily,
    )
    table = settings.pace_table
    return Streams(
        digest=DynamoPacer(table, replace(plan, share=shares.digest), name=ROWS.digest),
        immediate=DynamoPacer(table, replace(plan, share=shares.immediate), name=ROWS.immediate),
    )
