"""Dependencies of `gazette events-out`."""

from gazette.adapters.aws.bus import events_client
from gazette.adapters.aws.clients import Patience, client
from gazette.adapters.aws.events_out import EventBridgeOut
from gazette.adapters.dynamodb.subscribers import DynamoSubscribers
from gazette.settings.outbox import OutboxSettings

from gazette_support.adapters.unpublished_batches import S3UnpublishedBatches

_PATIENCE = Patience(connect=5, read=30, attempts=3)


def build_batches(settings: OutboxSettings) -> S3UnpublishedBatches:
    """Return the batches in the bucket of the stage."""
    return S3UnpublishedBatches(client("s3", _PATIENCE), settings.unpublished_bucket)


def build_subscribers(settings: OutboxSettings) -> DynamoSubscribers:
    """Return the subscribers of the stage."""
    return DynamoSubscribers(settings.subscribers_table)


def build_bus(settings: OutboxSettings) -> EventBridgeOut:
    """Return the bus of events out."""
    return EventBridgeOut(
        events_client(),
        settings.events_out_bus,
        source=settings.events_out_source,
        with_address=settings.with_address,
    )
