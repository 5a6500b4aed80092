"""The settings of `fanout`, which starts digests."""

from dataclasses import dataclass
from datetime import timedelta

from gazette.domain.scheduling.limits import FanoutLimits
from gazette.settings.environment import ScheduleSettings


@dataclass(frozen=True, kw_only=True)
class FanoutSettings(FanoutLimits, ScheduleSettings):
    """The settings of `fanout`."""

    shard_queue_url: str
    generate_queue_url: str
    pace_table: str
    mail_provider: str
    """The name of the mail provider.

    With `ses`, fan-out reads the account's quota and divides it between the streams by
    `immediate_share`, as in PacingSettings.
    """

    immediate_share: int
    content_queue_url: str
    """The queue of queries to content sources; empty for a stage without content sources."""

    recommendations_lead: timedelta
    """The time before a digest is due at which fetching its items may begin."""

    recommendations_fresh_for: timedelta
    """The maximum age of fetched items at the time when the digest is due."""
