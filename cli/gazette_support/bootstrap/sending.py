"""Dependencies of `gazette sending`."""

from collections.abc import Callable
from functools import partial

from gazette.adapters.dynamodb.control.category_holds import DynamoCategoryHolds
from gazette.adapters.dynamodb.feedback.statistics import DynamoCategoryStats
from gazette.bootstrap.parts.clock import now
from gazette.bootstrap.parts.rate_limiters import rate_limiters
from gazette.settings.delivery import SendingSettings
from gazette.settings.feedback import FeedbackSettings

from gazette_support.steps.sending import SendingContext, resume_category


def build_sending(settings: SendingSettings) -> SendingContext:
    """Return the context of `gazette sending`, from the settings of generate."""
    return SendingContext(
        streams=rate_limiters(settings),
        holds=DynamoCategoryHolds(settings.control_table),
        clock=now,
    )


def build_category_resume(settings: FeedbackSettings) -> Callable[[str], bool]:
    """Return a function that resumes a category's email. Uses the settings of feedback."""
    return partial(
        resume_category,
        holds=DynamoCategoryHolds(settings.control_table),
        category_stats=DynamoCategoryStats(settings.category_stats_table),
    )
