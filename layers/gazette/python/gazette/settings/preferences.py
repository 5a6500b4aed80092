"""What `preferences` needs to serve readers."""

from dataclasses import dataclass

from gazette.settings.arrangement import ArrangementSettings
from gazette.settings.ingest import RoutingSettings


@dataclass(frozen=True, kw_only=True)
class PreferencesSettings(ArrangementSettings, RoutingSettings):
    """What `preferences` needs: it answers at `base_url` and puts readers' choices on `bus`.

    It moves waiting events itself, as `ingest` does once it receives the choice.
    """

    suppressions_table: str
    suppressions_secret: str
    engagement_table: str
    links_secret: str
    bus: str
    base_url: str
    templates_bucket: str
