"""Dependencies of `gazette explain`."""

from collections.abc import Callable
from datetime import date
from functools import partial

from gazette.adapters.dynamodb.control.category_holds import DynamoCategoryHolds
from gazette.adapters.dynamodb.control.withdrawals import withdrawals_of
from gazette.adapters.dynamodb.events import DynamoEventReader
from gazette.adapters.dynamodb.feedback.suppressions import DynamoSuppressions
from gazette.adapters.dynamodb.follows import DynamoFollows
from gazette.adapters.dynamodb.runs import DynamoRuns
from gazette.adapters.dynamodb.schedules import DynamoSchedules
from gazette.adapters.dynamodb.subscribers import DynamoSubscribers
from gazette.bootstrap.parts.clock import now
from gazette.domain.explanation import Explanation
from gazette.domain.scheduling.lifetime import longest_life
from gazette.domain.subscribers.addresses import AllowedRecipients
from gazette.settings.delivery import SendingSettings
from gazette.settings.ingest import IngestSettings
from gazette.steps.support.explain import explain


def build_explain(
    settings: IngestSettings | SendingSettings, suppression_key: bytes, allowed: AllowedRecipients
) -> Callable[[str, date | None], Explanation]:
    """Return a function that explains why a reader did or did not get email on a date.

    Arguments: the user id, and the date in the reader's time zone, or None for now.

    Uses the settings of ingest or of a function that sends, the suppression key, and the recipients
    to whom generate sends.
    """
    retention = longest_life(settings.event_retention)
    return partial(
        explain,
        subscribers=DynamoSubscribers(settings.subscribers_table),
        suppressions=DynamoSuppressions(
            settings.suppressions_table, key=suppression_key, clock=now
        ),
        follows=DynamoFollows(settings.follows_table, retention=retention, clock=now),
        schedules=DynamoSchedules(settings.schedules_table, shards=settings.shards),
        runs=DynamoRuns(settings.runs_table, retention=settings.run_retention),
        events=DynamoEventReader(settings.events_table, clock=now),
        held_categories=DynamoCategoryHolds(settings.control_table).names,
        withdrawals=withdrawals_of(settings.control_table),
        clock=now,
        defaults=settings.defaults,
        quiet_hours=settings.default_quiet_hours,
        sunset=settings.sunset,
        critical=settings.critical,
        allowed=allowed,
    )
