"""The settings of `feedback`, which records delivery events."""

import json
from dataclasses import dataclass
from datetime import timedelta

from gazette.domain.sources import DELIVERY_REPORTED
from gazette.domain.subscribers.suppression import SoftLimit
from gazette.settings.environment import FunctionSettings

REPORTED = DELIVERY_REPORTED
"""The detail type whose sources may report delivery events."""


@dataclass(frozen=True, kw_only=True)
class FeedbackSettings(FunctionSettings):
    """The settings of `feedback`."""

    subscribers_table: str
    suppressions_table: str
    suppressions_secret: str
    bounces_table: str
    category_stats_table: str
    soft_bounces: int
    """The number of soft bounces within `soft_bounce_days` at which an address is suppressed."""

    soft_bounce_days: int
    engagement_table: str
    bus: str
    track_clicks: int
    """1 if a click counts as activity, else 0."""

    opens_are_life: int
    """1 if an open counts as activity, else 0."""

    category_hold: int
    """1 if too many bounces or complaints put a category on hold, else 0."""

    installation: str
    """The identifier of this installation's tables.

    A delivery event with a different identifier belongs to a different installation.
    """

    quarantine_queue_url: str
    feedback_queue_url: str
    sources: str
    """The sources that may publish each detail type, as JSON."""

    @property
    def reporters(self) -> frozenset[str]:
        """The sources that may report delivery events. With none, the stage accepts none."""
        return frozenset(json.loads(self.sources).get(REPORTED, ()))

    @property
    def soft_limit(self) -> SoftLimit:
        """The number of soft bounces that suppresses an address."""
        return SoftLimit(bounces=self.soft_bounces, span=timedelta(days=self.soft_bounce_days))
