"""Dependencies of the export of a person."""

from gazette.adapters.dynamodb.feedback.personal_rows import DynamoPersonalRows
from gazette.settings.feedback import FeedbackSettings
from gazette.settings.ingest import ActivitiesSettings


def build_export(
    settings: ActivitiesSettings, feedback: FeedbackSettings, *, key: bytes
) -> DynamoPersonalRows:
    """Return the rows of persons, from the settings of ingest and feedback and the suppression
    key.
    """
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
