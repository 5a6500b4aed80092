"""Composition root of the `ingest` function, which connects the step to its adapters."""

import json
from collections.abc import Callable, Sequence
from functools import cache, partial
from importlib.resources import files
from pathlib import Path

from gazette.adapters.aws.queues import SqsQuarantine, SqsQueue, encode_followers, sqs_client
from gazette.adapters.aws.suppression_key import read_suppression_key
from gazette.adapters.contract import decode
from gazette.adapters.contract.data import SCHEMA_FILES, Schemas
from gazette.adapters.dynamodb.feedback.seen_marks import DynamoSeenMarks
from gazette.adapters.dynamodb.feedback.suppressions import DynamoSuppressions
from gazette.adapters.threads import side_by_side
from gazette.bootstrap.parts.clock import now
from gazette.bootstrap.parts.routing import activities, announce, routing_context
from gazette.bootstrap.parts.versions import versions_in_force
from gazette.domain.hosts import LinkHosts
from gazette.domain.ports.clock import TimeLeft
from gazette.domain.scheduling.lifetime import seen_for
from gazette.domain.sources import Sources
from gazette.settings.ingest import IngestSettings
from gazette.steps.ingest.ingest import ingest
from gazette.steps.routing.route import Routed


@cache
def build() -> Callable[[Sequence[str], TimeLeft], list[Routed]]:
    """Return a function that processes messages, given the bodies and the remaining time.

    Built once per process.
    """
    settings = IngestSettings.from_env()
    key = read_suppression_key(settings.suppressions_secret)
    suppressions = DynamoSuppressions(settings.suppressions_table, key=key, clock=now)
    announce(settings)
    sqs = sqs_client()
    return partial(
        ingest,
        decode=partial(
            decode, sources=_sources(settings), hosts=_hosts(settings), schemas=data_schemas()
        ),
        activities=activities(settings),
        suppressions=suppressions,
        seen_marks=DynamoSeenMarks(
            settings.events_table, kept_for=seen_for(settings.event_retention), clock=now
        ),
        followers_queue=SqsQueue(sqs, settings.followers_queue_url, encode_followers),
        quarantine=SqsQuarantine(sqs, settings.quarantine_queue_url),
        run_all=side_by_side,
        context=routing_context(
            settings,
            sqs,
            in_force=versions_in_force(settings.control_table),
            suppressions=suppressions,
        ),
        oldest=settings.event_retention,
    )


def _sources(settings: IngestSettings) -> Sources | None:
    listed: dict[str, list[str]] = json.loads(settings.sources)
    return Sources.of(listed) if listed else None


def _hosts(settings: IngestSettings) -> LinkHosts | None:
    listed: list[str] = json.loads(settings.link_hosts)
    return LinkHosts.of(listed) if listed else None


def data_schemas() -> Schemas:
    """Return the schemas of event data from the stage's templates, by category.

    Most stages have none.
    """
    paths = sorted(Path(str(files("gazette_templates"))).glob(SCHEMA_FILES))
    if not paths:
        return {}
    # Imported here because only some stages use this module.
    from gazette.adapters.contract.schemas import read_schemas

    return read_schemas(paths)
