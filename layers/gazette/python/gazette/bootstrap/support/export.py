"""Dependencies of the export of a person."""

from typing import Protocol

from gazette.adapters.dynamodb.feedback.personal_rows import DynamoPersonalRows
from gazette.settings.ingest import ReaderSettings


class FeedbackTables(Protocol):
    """The settings with the tables that feedback writes."""

    @property
    def engagement_table(self) -> str:
        """The table of delivery events."""

    @property
    def suppressions_table(self) -> str:
        """The table of suppressions."""

    @property
    def bounces_table(self) -> str:
        """The table of bounces."""


def build_export(
    settings: ReaderSettings, feedback: FeedbackTables, *, key: bytes
) -> DynamoPersonalRows:
    """Return the rows of persons. `key` is the suppression key."""
    return DynamoPersonalRows(
        tables={
            "subscribers": settings.subscribers_table,
            "schedules": settings.schedules_table,
            "follows": settings.follows_table,
            "events": settings.events_table,
            "runs": settings.runs_table,
            "engagement": feedback.engagement_table,
            "suppressions": feedback.suppressions_table,
            "bounces": feedback.bounces_table,
        },
        key=key,
    )
