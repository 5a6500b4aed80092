"""The settings of `preferences`, which serves readers' pages, and of the API for services."""

from dataclasses import dataclass

from gazette.settings.arrangement import ArrangementSettings
from gazette.settings.ingest import ReaderSettings, RoutingSettings


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


@dataclass(frozen=True, kw_only=True)
class ApiSettings(ReaderSettings):
    """The settings of `api`, which answers the requests of services that only read."""

    activities_table: str
    engagement_table: str
    suppressions_table: str
    bounces_table: str
    suppressions_secret: str
    links_secret: str
    base_url: str
    """The base URL of the readers' pages."""


@dataclass(frozen=True, kw_only=True)
class ApiWritesSettings(RoutingSettings):
    """The settings of `api_writes`, which submits choices for readers and delivery events, and
    returns readers.
    """

    suppressions_table: str
    suppressions_secret: str

    bus: str
    """The event bus to which the choices are published."""

    feedback_queue_url: str
    """The queue to which delivery events are sent."""
