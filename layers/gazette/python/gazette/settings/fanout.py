"""The settings of `fanout`, which starts digests."""

from dataclasses import dataclass

from gazette.settings.environment import Settings


@dataclass(frozen=True, kw_only=True)
class FanoutSettings(Settings):
    """The settings of `fanout`."""

    subscribers_table: str
    schedules_table: str
    events_table: str
    runs_table: str
    control_table: str
    shard_queue_url: str
    generate_queue_url: str
    shards: int
    lookback_slots: int
    """The number of past slots to read again. The due index is eventually consistent."""

    spread: int
    """The maximum random delay of a message."""

    max_lateness: int
    """The maximum lateness of a digest.

    A digest that is later is not sent, and the next digest includes its events.
    """

    check_after: int
    sunset_days: int
    run_retention_days: int
    pace_table: str
    mail_provider: str
    """The name of the mail provider.

    With `ses`, fan-out reads the account's quota and divides it between the streams by
    `immediate_share`, as in PacingSettings.
    """

    immediate_share: int
    content_sources: str
    """The content sources of digests, in order, as JSON."""

    content_queue_url: str
    """The queue of queries to content sources; empty for a stage without content sources."""

    recommendations_lead: int
    """The number of minutes before a digest is due at which fetching its items may begin."""

    recommendations_fresh_for: int
    """The maximum age of fetched items, in minutes, at the time when the digest is due."""
