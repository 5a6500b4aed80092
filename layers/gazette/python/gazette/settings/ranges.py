"""The allowed values of each setting, and the units of durations, for all functions."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType
from typing import Any

from gazette.domain.delivery.arrangement import Ranking, Sections
from gazette.domain.delivery.pace import MAX_RATE
from gazette.domain.delivery.signals import Policy
from gazette.domain.ports.queues import LONGEST_DELAY
from gazette.domain.scheduling.lifetime import SHORTEST_LIFE


@dataclass(frozen=True, slots=True)
class Range:
    """A range of whole numbers from `least` to `most`."""

    least: int
    most: int | None = None
    """The upper limit; None if there is none."""

    because: str = ""
    """The reason for the upper limit."""

    def __contains__(self, value: float) -> bool:
        return self.least <= value and (self.most is None or value <= self.most)

    def __str__(self) -> str:
        """Return text that completes the sentence "it must be"."""
        reason = f": {self.because}" if self.because else ""
        if self.most is None:
            return f"{self.least} or more{reason}"
        return f"{self.least} to {self.most}{reason}"


SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class DurationRange(Range):
    """A range of durations, which cdk.json and the environment contain as numbers of `unit`."""

    unit: timedelta = SECOND

    def __contains__(self, value: float | timedelta) -> bool:
        number = value / self.unit if isinstance(value, timedelta) else value
        return Range.__contains__(self, number)


DURATIONS: Mapping[str, DurationRange] = MappingProxyType(
    {
        "spread": DurationRange(0, LONGEST_DELAY // SECOND),
        "collapse": DurationRange(1, 300),
        "settle_lag": DurationRange(1, 300),
        "clock_skew": DurationRange(0, 60),
        "check_after": DurationRange(0),
        "max_lateness": DurationRange(600),
        "ingest_window": DurationRange(0, 60),
        "feedback_window": DurationRange(0, 60),
        "send_timeout": DurationRange(3, 60),
        "smtp_reply_timeout": DurationRange(60, 720),
        "evidence_grace": DurationRange(60, 86_400),
        "longest_unknown": DurationRange(60),
        "recommendations_timeout": DurationRange(1, 10),
        "recommendations_lead": DurationRange(0, 1440, unit=MINUTE),
        "recommendations_fresh_for": DurationRange(10, 10_080, unit=MINUTE),
        "recommendations_patience": DurationRange(60, 3600),
    }
)
"""The units and ranges of durations.

An immediate run waits on its queue for the sum of `collapse`, `settle_lag` and `clock_skew`. SQS
allows a delay of at most 900 seconds. SQS allows batching windows of 300 seconds, but more than 60
would delay immediate emails too much.
"""

RANGES: Mapping[str, Range] = MappingProxyType(
    {
        **DURATIONS,
        "shards": Range(1, 256),
        "max_blocks": Range(1),
        "full_blocks": Range(0),
        "sunset_days": Range(0),
        "event_retention_days": Range(SHORTEST_LIFE.days),
        "emails_per_second": Range(
            0, MAX_RATE, "every ten emails write one row of DynamoDB, which allows few more writes"
        ),
        "immediate_share": Range(1, 99),
        "ramp_from": Range(0, 10_000),
        "warmup_daily": Range(1, 1_000_000),
        "smtp_port": Range(1, 65_535),
        "soft_bounces": Range(1, 100),
        "soft_bounce_days": Range(1, 365),
        "recommendations_per_second": Range(1, 1000, "each request writes one row of DynamoDB"),
        "recommendations_ramp_from": Range(0, 1000),
        "recommendations_items": Range(1, 20),
    }
)
"""The ranges of all numeric settings."""

CHOICES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "immediate_unsubscribe": ("category", "everything"),
        "mail_provider": ("ses", "smtp"),
        "smtp_security": ("tls", "starttls", "none"),
        "unknown_policy": tuple(Policy),
        "ranking": tuple(Ranking),
        "sections": tuple(Sections),
        "recommendations_policy": ("without", "wait"),
    }
)
"""The settings with a fixed set of values."""

LISTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"content_sources": ("events", "recommendations")}
)
"""The settings whose value is a list of distinct words in any order, with the allowed words.

The list must contain the first word. The words repeat CONTENT_SOURCES, because only functions that
query a source import that module.
"""

ASKED_SOURCE = LISTS["content_sources"][1]
"""The content source that Gazette queries over HTTP."""


def as_typed(setting: str, value: Any) -> Any:
    """Return a value of cdk.json or the environment. For a duration, convert its number."""
    return value * DURATIONS[setting].unit if setting in DURATIONS else value


def as_written(setting: str, value: object) -> object:
    """Return a value as cdk.json and the environment contain it."""
    return value // DURATIONS[setting].unit if isinstance(value, timedelta) else value
