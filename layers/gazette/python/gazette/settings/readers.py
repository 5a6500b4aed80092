"""What the functions need that readers reach."""

from dataclasses import dataclass

from gazette.settings.environment import Settings


@dataclass(frozen=True, kw_only=True)
class PreferencesSettings(Settings):
    """What `preferences` needs."""

    subscribers_table: str
    suppressions_table: str
    schedules_table: str
    runs_table: str
    links_secret: str
    shards: int
    run_retention_days: int
