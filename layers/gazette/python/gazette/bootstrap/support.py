"""What support runs from a shell, joined. No function imports this."""

import json
from collections.abc import Callable
from datetime import date, timedelta
from functools import partial

from gazette.adapters.events import DynamoEventReader
from gazette.adapters.follows import DynamoFollows
from gazette.adapters.runs import DynamoRuns
from gazette.adapters.schedules import DynamoSchedules
from gazette.adapters.subscribers import DynamoSubscribers
from gazette.bootstrap.clock import now
from gazette.domain.explanation import Explanation
from gazette.domain.frequency import Frequency, frequencies
from gazette.settings import PlacingSettings
from gazette.steps.explain import explain


def build_explain(settings: PlacingSettings) -> Callable[[str, date | None], Explanation]:
    """Takes a user id and a date of the reader's own calendar, or None for now."""
    retention = timedelta(days=settings.event_retention_days)
    defaults = json.loads(settings.default_frequencies)
    return partial(
        explain,
        subscribers=DynamoSubscribers(settings.subscribers_table),
        follows=DynamoFollows(settings.follows_table, retention=retention, clock=now),
        schedules=DynamoSchedules(settings.schedules_table, shards=settings.shards),
        runs=DynamoRuns(settings.runs_table, retention=timedelta(days=settings.run_retention_days)),
        events=DynamoEventReader(settings.events_table, clock=now),
        clock=now,
        defaults=frequencies({name: Frequency(value) for name, value in defaults.items()}),
    )
