"""What the functions need that readers reach."""

from dataclasses import dataclass

from gazette.settings.environment import Settings, check
from gazette.settings.events import check_frequencies


@dataclass(frozen=True, kw_only=True)
class PreferencesSettings(Settings):
    """What `preferences` needs: it answers at `base_url`, and puts what readers choose on `bus`.

    `shards`, `default_frequencies` and `sunset_days` are those of `ingest`.
    """

    subscribers_table: str
    suppressions_table: str
    schedules_table: str
    follows_table: str
    runs_table: str
    batches_table: str
    events_table: str
    engagement_table: str
    links_secret: str
    bus: str
    base_url: str
    max_groups: int
    shards: int
    default_frequencies: str
    sunset_days: int
    event_retention_days: int
    run_retention_days: int

    def __post_init__(self) -> None:
        """Raises InvalidSetting."""
        check(self, shards=(1, 256), sunset_days=(0, None), event_retention_days=(35, None))
        check_frequencies(self.default_frequencies)
