"""The composition of event routing, which `ingest`, `followers` and `preferences` share."""

from typing import TYPE_CHECKING

from gazette.adapters.aws.queues import SqsQueue, encode_run
from gazette.adapters.dynamodb.activities import DynamoActivities
from gazette.adapters.dynamodb.control.batches import DynamoBatches
from gazette.adapters.dynamodb.events import DynamoEvents
from gazette.adapters.dynamodb.follows import DynamoFollows
from gazette.adapters.dynamodb.runs import DynamoRuns
from gazette.adapters.dynamodb.schedules import DynamoSchedules
from gazette.adapters.dynamodb.subscribers import DynamoSubscribers
from gazette.bootstrap.parts.clock import now
from gazette.bootstrap.parts.versions import settings_for
from gazette.domain.ports.ledgers import Runs, Schedules
from gazette.domain.ports.stores import Events, Subscribers, Suppressions
from gazette.domain.scheduling.lifetime import longest_life
from gazette.domain.scheduling.limits import EVENT_WRITE_TIMEOUT
from gazette.domain.templates.ports import VersionsInForce
from gazette.settings.ingest import ActivitiesSettings, ReaderSettings, RoutingSettings
from gazette.settings.ranges import ASKED_SOURCE
from gazette.steps.context import RoutingContext

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

    from gazette.domain.content.asking import ContentSources
    from gazette.domain.ports.stores import ImmediateUsage


def routing_context(
    settings: RoutingSettings,
    sqs: "SQSClient",
    *,
    in_force: VersionsInForce,
    suppressions: Suppressions | None = None,
) -> RoutingContext:
    """Return the tables and queues for routing. Makes no writes.

    Call `announce` before the first use. An ended follow is stored as long as an event from the
    follow may wait.
    """
    return with_tables(
        settings,
        sqs,
        in_force=in_force,
        subscribers=DynamoSubscribers(settings.subscribers_table),
        events=stored_events(settings),
        schedules=DynamoSchedules(settings.schedules_table, shards=settings.shards),
        runs=DynamoRuns(settings.runs_table, retention=settings.run_retention),
        suppressions=suppressions,
    )


def stored_events(settings: ReaderSettings) -> DynamoEvents:
    """Return the adapter that writes the table `events`."""
    return DynamoEvents(
        settings.events_table,
        retention=settings.event_retention,
        timeout=EVENT_WRITE_TIMEOUT.total_seconds(),
        clock=now,
    )


def with_tables(
    settings: RoutingSettings,
    sqs: "SQSClient",
    *,
    in_force: VersionsInForce,
    subscribers: Subscribers,
    events: Events,
    schedules: Schedules,
    runs: Runs,
    suppressions: Suppressions | None = None,
) -> RoutingContext:
    """Return the routing context with the caller's tables. Only the `follows` table is new."""
    retention, limit = longest_life(settings.event_retention), settings.limit
    return RoutingContext(
        subscribers=subscribers,
        follows=DynamoFollows(settings.follows_table, retention=retention, clock=now),
        events=events,
        schedules=schedules,
        runs=runs,
        generate_queue=SqsQueue(sqs, settings.immediate_queue_url, encode_run),
        clock=now,
        defaults=settings.defaults,
        quiet_hours=settings.default_quiet_hours,
        settings_for=settings_for(in_force),
        limits=settings,
        sunset=settings.sunset,
        critical=settings.critical,
        suppressions=suppressions,
        content=content_sources(settings.content_sources),
        immediate_limit=limit,
        immediate_usage=_usage(settings.events_table) if limit else None,
    )


def _usage(table: str) -> "ImmediateUsage":
    # Imported here because only some stages use this module.
    from gazette.adapters.dynamodb.feedback.immediate_usage import DynamoImmediateUsage

    return DynamoImmediateUsage(table)


def content_sources(text: str) -> "ContentSources | None":
    """Return the content sources from the `content_sources` setting, or None if Gazette queries
    none.
    """
    if ASKED_SOURCE not in text:
        return None
    # Imported here because only some stages use this module.
    from gazette.bootstrap.parts.content import sources

    return sources(text)


def announce(settings: RoutingSettings) -> None:
    """Announce every shard to fan-out before the first schedule is written to a shard."""
    batches = DynamoBatches(settings.control_table, retention=settings.run_retention, clock=now)
    batches.announce(settings.shards)


def activities(settings: ActivitiesSettings) -> DynamoActivities:
    """Return the adapter of the `activities` table.

    An activity is stored as long as one of its events may wait, because a retraction finds the
    events through the activity.
    """
    return DynamoActivities(
        settings.activities_table,
        retention=longest_life(settings.event_retention),
        clock=now,
    )
