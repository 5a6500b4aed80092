"""What `fanout` needs to start digests."""

from dataclasses import dataclass

from gazette.settings.environment import Settings


@dataclass(frozen=True, kw_only=True)
class FanoutSettings(Settings):
    """What `fanout` needs. `spread`: longest random delay of a message, at most SQS's 900 s.

    `max_lateness`: what was due longer ago is not sent; its events go with the next digest.
    `lookback_slots`: how many slots are read again, because the due index is eventually consistent.
    `mail_provider`: of `ses`, the account's quota is asked for, of which `immediate_share` is as in
    PacingSettings.
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
    settle_lag: int
    max_lateness: int
    check_after: int
    sunset_days: int
    run_retention_days: int
    pace_table: str
    mail_provider: str
    immediate_share: int
