"""What the functions need that settle what became of an email."""

from dataclasses import dataclass

from gazette.settings.environment import Settings, check, check_choice


@dataclass(frozen=True, kw_only=True)
class FeedbackSettings(Settings):
    """What `feedback` needs.

    `soft_bounces` soft bounces within `soft_bounce_days` suppress an address. `track_clicks`,
    `opens_are_life`: 1 where a click, or an open, is a sign of life; else 0. `category_hold`: 1
    where too many bounces or complaints put a category on hold; else 0. `installation`: as each
    email carries it; a delivery event with another one is not of these tables.
    """

    runs_table: str
    control_table: str
    subscribers_table: str
    schedules_table: str
    suppressions_table: str
    bounces_table: str
    category_stats_table: str
    soft_bounces: int
    soft_bounce_days: int
    engagement_table: str
    bus: str
    track_clicks: int
    opens_are_life: int
    category_hold: int
    run_retention_days: int
    shards: int
    installation: str
    quarantine_queue_url: str

    def __post_init__(self) -> None:
        """Raises InvalidSetting."""
        check(self, soft_bounces=(1, 100), soft_bounce_days=(1, 365), shards=(1, 256))


@dataclass(frozen=True, kw_only=True)
class SweepSettings(Settings):
    """What `sweep` needs. Durations are seconds.

    `unknown_policy`: `resend`, `carry_over` or `assume_sent`, for a run of which nobody knows
    whether it went out. `evidence_grace`: how long the provider's delivery event may take.
    `longest_unknown`: how long `resend` waits for a proof that delivery events come in at all.
    `ticks`: 1 where a clock starts digests, so that a shard can be late; else 0.
    """

    runs_table: str
    control_table: str
    generate_queue_url: str
    resend_queue_url: str
    shard_queue_url: str
    sweep_queue_url: str
    feedback_queue_url: str
    feedback_dead_queue_url: str
    feedback_undelivered_queue_url: str
    mail_provider: str
    sender: str
    configuration_set: str
    installation: str
    unknown_policy: str
    evidence_grace: int
    longest_unknown: int
    check_after: int
    run_retention_days: int
    shards: int
    lookback_slots: int
    ticks: int

    def __post_init__(self) -> None:
        """Raises InvalidSetting."""
        check(
            self,
            evidence_grace=(60, 86_400),
            longest_unknown=(self.evidence_grace, None),
            check_after=(0, None),
            shards=(1, 256),
            lookback_slots=(1, 144),
        )
        check_choice(self, unknown_policy=("resend", "carry_over", "assume_sent"))
