"""Dependencies of receipts, which state what became of an event or of an activity."""

from gazette.adapters.dynamodb.activities import DynamoActivities
from gazette.adapters.dynamodb.control.category_holds import DynamoCategoryHolds
from gazette.adapters.dynamodb.control.withdrawals import withdrawals_of
from gazette.adapters.dynamodb.feedback.event_traces import DynamoEventTraces
from gazette.adapters.dynamodb.feedback.statistics import DynamoEngagements
from gazette.adapters.dynamodb.follows import DynamoFollows
from gazette.adapters.dynamodb.runs import DynamoRuns
from gazette.adapters.dynamodb.schedules import DynamoSchedules
from gazette.adapters.dynamodb.subscribers import DynamoSubscribers
from gazette.bootstrap.parts.clock import now
from gazette.domain.ports.control import CurrentWithdrawals
from gazette.domain.scheduling.lifetime import longest_life
from gazette.settings.ingest import ActivitiesSettings, ReaderSettings
from gazette.steps.support.activity_receipt import ActivityContext
from gazette.steps.support.receipt import ReceiptContext


def build_receipts(
    settings: ReaderSettings,
    *,
    engagement_table: str,
    withdrawals: CurrentWithdrawals | None = None,
) -> ReceiptContext:
    """Return the context of receipts of events, from the settings of ingest or of the API.

    `engagement_table` is the table of delivery events, which ingest does not use. Without
    `withdrawals`, each receipt of a waiting event reads them.
    """
    retention = settings.run_retention
    return ReceiptContext(
        events=DynamoEventTraces(settings.events_table, clock=now),
        runs=DynamoRuns(settings.runs_table, retention=retention),
        engagements=DynamoEngagements(engagement_table, retention=retention),
        schedules=DynamoSchedules(settings.schedules_table, shards=settings.shards),
        subscribers=DynamoSubscribers(settings.subscribers_table),
        follows=DynamoFollows(
            settings.follows_table, retention=longest_life(settings.event_retention), clock=now
        ),
        held_categories=DynamoCategoryHolds(settings.control_table).names,
        withdrawals=withdrawals or withdrawals_of(settings.control_table),
        clock=now,
        retention=settings.event_retention,
        defaults=settings.defaults,
        critical=settings.critical,
        sunset=settings.sunset,
    )


def build_activity_receipts(
    settings: ActivitiesSettings, *, engagement_table: str
) -> ActivityContext:
    """Return the context of receipts of activities, from the settings of ingest."""
    retention = longest_life(settings.event_retention)
    return ActivityContext(
        activities=DynamoActivities(settings.activities_table, retention=retention, clock=now),
        follows=DynamoFollows(settings.follows_table, retention=retention, clock=now),
        receipts=build_receipts(settings, engagement_table=engagement_table),
    )
