"""What `feedback` needs to record delivery events."""

from dataclasses import dataclass

from gazette.settings.environment import Settings


@dataclass(frozen=True, kw_only=True)
class FeedbackSettings(Settings):
    """What `feedback` needs.

    `soft_bounces` soft bounces within `soft_bounce_days` suppress an address. `track_clicks`,
    `opens_are_life`: 1 if a click, or an open, is a sign of life; else 0. `category_hold`: 1
    if too many bounces or complaints put a category on hold; else 0. `installation`: each email
    carries it; a delivery event with another one belongs to other tables.
    """

    runs_table: str
    control_table: str
    subscribers_table: str
    schedules_table: str
    suppressions_table: str
    suppressions_secret: str
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
    feedback_queue_url: str
