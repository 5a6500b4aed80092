"""The pace of all email, joined: for those who send, and for those who look on."""

from datetime import date, timedelta

from gazette.adapters.pace import DynamoPacer
from gazette.domain.pace import PacePlan
from gazette.settings import PacingSettings


def pacer(settings: PacingSettings) -> DynamoPacer:
    """The ports `Pacer`, `PaceGauge` and `BrakeLever`."""
    plan = PacePlan(
        rate=settings.emails_per_second or None,
        ramp_from=settings.ramp_from,
        ramp_every=timedelta(seconds=settings.ramp_every),
        warmup_from=date.fromisoformat(settings.warmup_from) if settings.warmup_from else None,
        warmup_daily=settings.warmup_daily,
    )
    return DynamoPacer(settings.pace_table, plan)
