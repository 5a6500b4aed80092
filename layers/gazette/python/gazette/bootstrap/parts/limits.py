"""The times of delivery, joined: for those who send, and for those who foresee it."""

from datetime import timedelta

from gazette.settings import SendingSettings
from gazette.steps.delivery.types import DeliveryLimits


def delivery_limits(settings: SendingSettings) -> DeliveryLimits:
    """All settings are seconds."""
    return DeliveryLimits(
        settle_lag=timedelta(seconds=settings.settle_lag),
        send_timeout=timedelta(seconds=settings.send_budget),
        commit_margin=timedelta(seconds=settings.commit_margin),
        clock_skew=timedelta(seconds=settings.clock_skew),
        evidence_grace=timedelta(seconds=settings.evidence_grace),
        max_lateness=timedelta(seconds=settings.max_lateness),
    )
