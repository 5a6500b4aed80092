"""Dependencies of `gazette sources`."""

from gazette.adapters.dynamodb.runs import DynamoRuns
from gazette.adapters.dynamodb.schedules import DynamoSchedules
from gazette.adapters.dynamodb.subscribers import DynamoReaders, DynamoSubscribers
from gazette.bootstrap.content import rate_limiter
from gazette.bootstrap.parts.clock import now
from gazette.bootstrap.parts.content import sources
from gazette.settings.content import ContentSettings
from gazette.steps.context import ScheduleContext

from gazette_support.steps.sending import Stream
from gazette_support.steps.sources import Readers


def build_permits(settings: ContentSettings) -> Stream:
    """Return the rate limiter of requests to the recommendation service."""
    return rate_limiter(settings)


def build_arming(settings: ContentSettings) -> tuple[Readers, ScheduleContext]:
    """Return all readers, and the context for arming their schedules."""
    subscribers = DynamoSubscribers(settings.subscribers_table)
    context = ScheduleContext(
        subscribers=subscribers,
        schedules=DynamoSchedules(settings.schedules_table, shards=settings.shards),
        runs=DynamoRuns(settings.runs_table, retention=settings.run_retention),
        clock=now,
        defaults=settings.defaults,
        sunset=settings.sunset,
        content=sources(settings.content_sources),
    )
    return DynamoReaders(settings.subscribers_table), context
