"""Dependencies of `gazette preview --user`."""

from collections.abc import Callable
from functools import partial

from gazette.adapters.dynamodb.control.withdrawals import withdrawals_of
from gazette.adapters.dynamodb.events import DynamoEventReader
from gazette.adapters.dynamodb.runs import DynamoRuns
from gazette.adapters.dynamodb.subscribers import DynamoSubscribers
from gazette.bootstrap.parts.clock import now
from gazette.settings.delivery import SendingSettings
from gazette.steps.support.pending import Waiting, read_pending


def build_pending(settings: SendingSettings) -> Callable[[str], Waiting | None]:
    """Return a function that reads a user's pending events. Uses the settings of generate."""
    return partial(
        read_pending,
        subscribers=DynamoSubscribers(settings.subscribers_table),
        runs=DynamoRuns(settings.runs_table, retention=settings.run_retention),
        events=DynamoEventReader(settings.events_table, clock=now),
        withdrawals=withdrawals_of(settings.control_table),
        clock=now,
        critical=settings.critical,
    )
