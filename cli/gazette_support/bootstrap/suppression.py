"""Dependencies of `gazette suppression`."""

from gazette.adapters.aws.clients import Patience, client
from gazette.adapters.dynamodb.feedback.bounces import DynamoBounces
from gazette.adapters.dynamodb.feedback.suppressions import (
    DynamoSuppressionList,
    DynamoSuppressions,
)
from gazette.bootstrap.parts.clock import now
from gazette.settings.feedback import FeedbackSettings

from gazette_support.adapters.ses_suppressions import SesSuppressions
from gazette_support.steps.suppression import SuppressionContext


def build_suppression_list(settings: FeedbackSettings) -> DynamoSuppressionList:
    """Return the suppression list from the settings of feedback.

    The suppression key is not required.
    """
    return DynamoSuppressionList(settings.suppressions_table)


def build_suppression(settings: FeedbackSettings, key: bytes) -> SuppressionContext:
    """Return the context of `gazette suppression`, from the settings of feedback and the
    suppression key.
    """
    return SuppressionContext(
        suppressions=DynamoSuppressions(settings.suppressions_table, key=key, clock=now),
        bounces=DynamoBounces(
            settings.bounces_table, key=key, retention=settings.soft_limit.retention, clock=now
        ),
    )


_PATIENCE = Patience(connect=10, read=60, attempts=10)
"""The time-outs and retry limit for SES, which accepts one request per second and rejects others
temporarily.
https://docs.aws.amazon.com/ses/latest/dg/quotas.html"""


def build_ses_suppressions() -> SesSuppressions:
    """Return the account-level suppression list of SES."""
    return SesSuppressions(client("sesv2", _PATIENCE))
