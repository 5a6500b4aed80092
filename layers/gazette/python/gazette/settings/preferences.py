"""The settings of `preferences`, which serves readers' pages."""

from dataclasses import dataclass

from gazette.settings.arrangement import ArrangementSettings
from gazette.settings.ingest import RoutingSettings


@dataclass(frozen=True, kw_only=True)
class PreferencesSettings(ArrangementSettings, RoutingSettings):
    """The settings of `preferences`.

    The function moves waiting events itself, as `ingest` does when it receives the choice.
    """

    suppressions_table: str
    suppressions_secret: str
    engagement_table: str
    links_secret: str
    bus: str
    """The event bus to which readers' choices are published."""

    base_url: str
    """The base URL of the readers' pages."""

    templates_bucket: str
