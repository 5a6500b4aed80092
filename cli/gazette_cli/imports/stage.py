"""The stage into which a file is imported."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import boto3
from gazette.adapters.aws.dead_letters.queues import Held, queues
from gazette.adapters.aws.queues import SqsBacklog
from gazette.adapters.dynamodb.feedback.suppressions import DynamoSuppressions
from gazette.adapters.dynamodb.follows import DynamoFollows
from gazette.adapters.dynamodb.subscribers import DynamoSubscribers
from gazette.bootstrap.parts.clock import now
from gazette.domain.errors import Unavailable
from gazette.domain.scheduling.lifetime import longest_life
from gazette.domain.subscribers.suppression import Suppression
from gazette.settings.feedback import FeedbackSettings
from gazette.settings.ingest import IngestSettings

from gazette_cli.imports.pacing import BackPressure, TokenBucket
from gazette_cli.imports.producer import producer_module
from gazette_cli.imports.putting import Target
from gazette_cli.imports.verifying import Tables
from gazette_cli.shared.aws_errors import refusals_of_tables
from gazette_cli.shared.console import NotPossible
from gazette_cli.shared.deployed import settings_of
from gazette_cli.shared.suppression_key import suppression_key
from gazette_support.bootstrap.suppression import build_suppression
from gazette_support.steps.suppression import SuppressionContext, suppress_all

_LISTED = 1000
"""The maximum number of messages in quarantine that are read."""


def target_of(stage: str, source: str, bus: str, *, rate: float, most: int) -> Target:
    """Return the bus, the ingest queue and the suppressions of a stage."""
    module = producer_module()
    producer = module.Producer(source, bus=bus, client=boto3.client("events"))
    (ingest,) = queues(stage, "ingest")
    count = SqsBacklog(ingest.client, ingest.url).count

    def publish(details: Sequence[dict[str, Any]], detail_type: str) -> None:
        try:
            producer.put(details, detail_type)
        except module.NotPut as err:
            first = err.refused[0]
            raise NotPossible(
                f"{len(err.refused):,} items were not published to the bus {bus}: {first.code}: "
                f"{first.message}. Fix the cause, then run the same command to continue."
            ) from err

    return Target(
        publish=publish,
        suppress=_suppressing(stage),
        bucket=TokenBucket(rate),
        pressure=BackPressure(partial(_counted, count), unprocessed=ingest.waiting, most=most),
    )


def _suppressing(stage: str) -> Callable[[Sequence[Suppression]], None]:
    """Return a function that suppresses addresses. It reads the key at its first call."""
    contexts: list[SuppressionContext] = []

    def suppress(given: Sequence[Suppression]) -> None:
        if not contexts:
            settings = settings_of(stage, "feedback", FeedbackSettings)
            key = suppression_key(stage, settings.suppressions_secret)
            contexts.append(build_suppression(settings, key))
        with refusals_of_tables(stage):
            suppress_all(given, suppressions=contexts[0].suppressions)

    return suppress


def _counted(count: Callable[[], int]) -> int:
    try:
        return count()
    except Unavailable as err:
        raise NotPossible(f"{err} Run the same command to continue.") from err


def quarantined(stage: str, of_source: str) -> Counter[str]:
    """Return the number of messages of a source in quarantine, by reason. Changes nothing."""
    (queue,) = queues(stage, "quarantine")
    reasons: Counter[str] = Counter()
    with Held(queue) as hidden:
        while len(hidden) < _LISTED and (messages := hidden.receive()):
            for message in messages:
                if _source(message["Body"]) != of_source:
                    continue
                attributes = message.get("MessageAttributes") or {}
                reason = attributes["reason"].get("StringValue") if "reason" in attributes else None
                reasons[reason or "no reason"] += 1
    return reasons


def _source(body: str) -> str:
    try:
        envelope = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    return str(envelope.get("source", "")) if isinstance(envelope, dict) else ""


@contextmanager
def tables_of(stage: str) -> Iterator[Tables]:
    """Open the tables of a stage. Inside the block, errors of the tables are NotPossible."""
    settings = settings_of(stage, "ingest", IngestSettings)
    key = suppression_key(stage, settings.suppressions_secret)
    retention = longest_life(settings.event_retention)
    with refusals_of_tables(stage):
        yield Tables(
            subscribers=DynamoSubscribers(settings.subscribers_table),
            follows=DynamoFollows(settings.follows_table, retention=retention, clock=now),
            suppressions=DynamoSuppressions(settings.suppressions_table, key=key, clock=now),
        )
