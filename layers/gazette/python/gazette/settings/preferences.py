"""The settings of `preferences`, which serves readers' pages."""

from dataclasses import dataclass

from gazette.settings.arrangement import ArrangementSettings
from gazette.settings.ingest import RoutingSettings


@dataclass(frozen=True, kw_only=True)
class PreferencesSettings(ArrangementSettings, RoutingSettings):
    """The settings of `preferences`.

    After a reader's choice, the function itself moves waiting events to the right schedules.
    `ingest` does the same when it receives the choice from the bus.
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
