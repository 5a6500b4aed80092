"""What `fanout` needs to start digests."""

from dataclasses import dataclass

from gazette.settings.environment import Settings


@dataclass(frozen=True, kw_only=True)
class FanoutSettings(Settings):
    """What `fanout` needs. `spread`: the longest random delay of a message.

    `max_lateness`: a digest that was due longer ago is not sent; its events go with the next one.
    `lookback_slots`: how many slots are read again, because the due index is eventually consistent.
    `mail_provider`: with `ses`, fan-out asks for the account's quota and divides it between the
    streams by `immediate_share`, as in PacingSettings.
    `content_sources` is JSON: those of digests, in order. If one is asked, `content_queue_url` is
    where; `recommendations_lead` and `recommendations_fresh_for` are in minutes.
    """

    subscribers_table: str
    schedules_table: str
    events_table: str
    runs_table: str
    control_table: str
    shard_queue_url: str
    generate_queue_url: str
    shards: int
    lookback_slots: int
    spread: int
    max_lateness: int
    check_after: int
    sunset_days: int
    run_retention_days: int
    pace_table: str
    mail_provider: str
    immediate_share: int
    content_sources: str
    content_queue_url: str
    recommendations_lead: int
    recommendations_fresh_for: int
