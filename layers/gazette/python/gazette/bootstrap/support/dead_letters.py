"""Dependencies of `gazette dlq`."""

from collections.abc import Callable
from datetime import datetime

from gazette.adapters.cached import ALONE
from gazette.adapters.dynamodb.client import several_together
from gazette.adapters.dynamodb.control.batches import DynamoBatches
from gazette.adapters.dynamodb.control.category_holds import DynamoCategoryHolds
from gazette.adapters.dynamodb.control.withdrawals import withdrawals_of
from gazette.adapters.dynamodb.events import DynamoEventReader
from gazette.adapters.dynamodb.feedback.seen_marks import DynamoSeenReader
from gazette.adapters.dynamodb.feedback.suppressions import DynamoSuppressions
from gazette.adapters.dynamodb.runs import DynamoRuns
from gazette.adapters.dynamodb.schedules import DynamoSchedules
from gazette.adapters.dynamodb.subscribers import DynamoSubscribers
from gazette.bootstrap.parts.clock import now
from gazette.bootstrap.parts.rate_limiters import rate_limiters
from gazette.domain.model import RunKey
from gazette.domain.templates.ports import Decisions
from gazette.settings.delivery import SendingSettings
from gazette.steps.support.dead_letters import Forecast, forecast
from gazette.steps.support.dry_run import DryRunContext


def build_forecast(
    settings: SendingSettings, suppression_key: bytes
) -> Callable[[RunKey, bool], Forecast]:
    """Return a function that forecasts a dead letter's redrive.

    Arguments: the run, and True if its attempts are exhausted.

    The function only reads. Uses the settings of generate and the suppression key.
    """
    retention, withdrawals = settings.run_retention, withdrawals_of(settings.control_table)
    context = DryRunContext(
        runs=DynamoRuns(settings.runs_table, retention=retention),
        schedules=DynamoSchedules(settings.schedules_table, shards=settings.shards),
        subscribers=DynamoSubscribers(settings.subscribers_table),
        suppressions=DynamoSuppressions(
            settings.suppressions_table, key=suppression_key, clock=now
        ),
        events=DynamoEventReader(settings.events_table, clock=now),
        seen=DynamoSeenReader(settings.events_table, read=several_together(ALONE)),
        held_categories=DynamoCategoryHolds(settings.control_table).names,
        decisions=lambda: Decisions(withdrawals=withdrawals()),
        batches=DynamoBatches(settings.control_table, retention=retention, clock=now),
        gauges=rate_limiters(settings, most=settings.most_together),
        clock=now,
        random=lambda: 0.0,
        limits=settings.limits,
        quiet_hours=settings.default_quiet_hours,
        worth=settings.worth,
        allowed=settings.allowed,
    )
    return lambda key, given_up: forecast(key, given_up=given_up, context=context)


def build_due_at(settings: SendingSettings) -> Callable[[RunKey], datetime | None]:
    """Return a function that returns the due time of a run, or None if the run does not exist."""
    runs = DynamoRuns(settings.runs_table, retention=settings.run_retention)

    def due_at(key: RunKey) -> datetime | None:
        run = runs.get(key)
        return run.due_at if run else None

    return due_at
