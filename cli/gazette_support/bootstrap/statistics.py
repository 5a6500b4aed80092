"""Dependencies of `gazette statistics`, and of `gazette experiment`, which compares variations."""

from gazette.adapters.dynamodb.control.experiments import DynamoExperiments
from gazette.adapters.dynamodb.control.template_versions import DynamoTemplateVersions
from gazette.adapters.dynamodb.feedback.statistics import DynamoEngagements
from gazette.adapters.dynamodb.runs import DynamoRuns
from gazette.settings.delivery import SendingSettings
from gazette.settings.feedback import FeedbackSettings
from gazette.settings.ranges import RANGES

from gazette_support.steps.statistics import StatisticsContext


def build_statistics(settings: FeedbackSettings, *, connections: int) -> StatisticsContext:
    """Return the context of `gazette statistics`, from the settings of feedback.

    `connections` is the number of slots to read at the same time.
    """
    retention = settings.run_retention
    return StatisticsContext(
        engagements=DynamoEngagements(
            settings.engagement_table, retention=retention, connections=connections
        ),
        versions=DynamoTemplateVersions(settings.control_table, ranges=RANGES),
        experiments=DynamoExperiments(settings.control_table),
        runs=DynamoRuns(settings.runs_table, retention=retention),
    )


def build_experiments(settings: SendingSettings) -> DynamoExperiments:
    """Return the adapter of the `Experiments` port, from the settings of generate."""
    return DynamoExperiments(settings.control_table)
