"""Settings of `fanout`, which starts digests."""

from dataclasses import dataclass

from gazette.settings.environment import Settings


@dataclass(frozen=True, kw_only=True)
class FanoutSettings(Settings):
    """Settings of `fanout`."""

    subscribers_table: str
    schedules_table: str
    events_table: str
    runs_table: str
    control_table: str
    shard_queue_url: str
    generate_queue_url: str
    shards: int
    lookback_slots: int
    """The number of past slots that are read again, because the due index is eventually
    consistent."""

    spread: int
    """The longest random delay of a message."""

    max_lateness: int
    """A digest that was due longer ago is not sent. Its events go with the next one."""

    check_after: int
    sunset_days: int
    run_retention_days: int
    pace_table: str
    mail_provider: str
    """The name of the provider. With `ses`, fan-out reads the account's quota and divides it
    between the streams by `immediate_share`, as in PacingSettings."""

    immediate_share: int
    content_sources: str
    """JSON. The content sources of digests, in order."""

    content_queue_url: str
    """The queue of requests to content sources, if the stage queries any."""

    recommendations_lead: int
    """The minutes before a digest in which its items may be fetched."""

    recommendations_fresh_for: int
    """The age in minutes up to which items are fresh when the digest is due."""
