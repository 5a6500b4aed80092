"""Composition root of the `outbox` function, which connects the step to its adapters."""

from collections.abc import Callable, Iterable
from functools import cache, partial

from gazette.adapters.aws.bus import events_client
from gazette.adapters.aws.events_out import EventBridgeOut
from gazette.adapters.dynamodb.changes import Record, StreamDecoder
from gazette.settings.outbox import OutboxSettings
from gazette.steps.outbox.publish import Published, publish_changes

Publish = Callable[[Iterable[Record]], Published]
"""A function that publishes the events of a batch of records."""


@cache
def build() -> Publish:
    """Return the function that publishes a batch. Built once per process."""
    return publisher(OutboxSettings.from_env())


def publisher(settings: OutboxSettings) -> Publish:
    """Return a function that publishes the events of records with these settings."""
    return partial(
        publish_changes,
        decode=StreamDecoder(
            subscribers=settings.subscribers_table,
            runs=settings.runs_table,
            engagement=settings.engagement_table,
        ),
        types=settings.types,
        bus=EventBridgeOut(
            events_client(),
            settings.events_out_bus,
            source=settings.events_out_source,
            with_address=settings.with_address,
        ),
    )
