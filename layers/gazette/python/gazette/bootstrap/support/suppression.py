"""For `gazette suppression`."""

from datetime import timedelta

from gazette.adapters.dynamodb.feedback.bounces import DynamoBounces
from gazette.adapters.dynamodb.feedback.suppressions import DynamoSuppressions
from gazette.bootstrap.parts.clock import now
from gazette.settings import FeedbackSettings
from gazette.steps.support.suppression import SuppressionContext


def build_suppression(settings: FeedbackSettings) -> SuppressionContext:
    """From the settings of feedback."""
    span = timedelta(days=settings.soft_bounce_days)
    return SuppressionContext(
        suppressions=DynamoSuppressions(settings.suppressions_table, clock=now),
        bounces=DynamoBounces(settings.bounces_table, retention=2 * span, clock=now),
    )
