"""What the functions need that readers reach."""

from dataclasses import dataclass

from gazette.settings.environment import Settings


@dataclass(frozen=True, kw_only=True)
class PreferencesSettings(Settings):
    """What `preferences` needs. `base_url` is where it answers."""

    subscribers_table: str
    suppressions_table: str
    schedules_table: str
    runs_table: str
    events_table: str
    links_secret: str
    base_url: str
    max_groups: int
    shards: int
    run_retention_days: int
