"""What the functions need that readers reach."""

from dataclasses import dataclass

from gazette.settings.ingest import RoutingSettings


@dataclass(frozen=True, kw_only=True)
class PreferencesSettings(RoutingSettings):
    """What `preferences` needs: it answers at `base_url`, and puts what readers choose on `bus`.

    What waits for them it moves as `ingest` does, which hears of it by the bus.
    """

    suppressions_table: str
    engagement_table: str
    links_secret: str
    bus: str
    base_url: str
    max_groups: int
