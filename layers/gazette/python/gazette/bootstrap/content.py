"""Composition root of the `content` function, which connects the step to its adapters."""

import json
import random
import time
from collections.abc import Callable
from datetime import timedelta
from functools import partial

from gazette.adapters.aws.queues import SqsBacklog, SqsQueue, sqs_client
from gazette.adapters.cached import Cached, once, when_asked
from gazette.adapters.content.connection import Connection
from gazette.adapters.content.fetch_messages import decode_fetch, encode_fetch
from gazette.adapters.content.http_source import LARGEST_ANSWER, HttpSource, read_token
from gazette.adapters.content.items import Normaliser
from gazette.adapters.dynamodb.pacing.pace import RECOMMENDATIONS_ROW, DynamoRateLimiter
from gazette.bootstrap.parts.clock import now
from gazette.bootstrap.parts.content import content_plan
from gazette.bootstrap.parts.routing import announce, routing_context
from gazette.bootstrap.parts.versions import settings_for, versions_in_force
from gazette.domain.content.items import RECOMMENDATIONS
from gazette.domain.delivery.pace import PacePlan
from gazette.domain.hosts import LinkHosts
from gazette.domain.ports.clock import TimeLeft
from gazette.domain.templates.settings import SourcePolicy
from gazette.settings.content import ContentSettings
from gazette.steps.content.ask import AskContext, ProcessHealth
from gazette.steps.content.fetch import FetchContext, FetchResult, fetch

_TABLES = timedelta(seconds=15)
"""The time that a fetch needs for its reads and writes, excluding its two requests."""

_STARTED_LATE = timedelta(minutes=20)
"""The maximum delay before `generate` receives a digest's run: `spread` plus the wait in a full
queue.
"""


@once
def build() -> Callable[[str, TimeLeft], FetchResult]:
    """Return a function that processes a message, given the body and the remaining time.

    Built once per process.
    """
    settings = ContentSettings.from_env()
    announce(settings)
    sqs = sqs_client()
    backlog = SqsBacklog(sqs, settings.content_queue_url)
    permits = rate_limiter(settings)
    in_force = versions_in_force(settings.control_table)
    of_reader, of_stage = settings_for(in_force), SourcePolicy(settings.recommendations_policy)
    context = FetchContext(
        routing=routing_context(settings, sqs, in_force=in_force),
        asking=AskContext(
            source=_source(settings),
            rate_limiter=permits,
            breaker=permits,
            health=ProcessHealth(),
            waiting=when_asked(backlog.count, clock=now, default=0),
            clock=now,
            sleep=lambda wait: time.sleep(wait.total_seconds()),
            random=random.random,
        ),
        queue=SqsQueue(sqs, settings.content_queue_url, encode_fetch),
        plan=content_plan(
            settings.content_sources,
            lead=settings.recommendations_lead,
            fresh_for=settings.recommendations_fresh_for,
        ),
        limit=settings.recommendations_items,
        policy_of=lambda user_id: of_reader(user_id).source_policy or of_stage,
        useful_for=settings.recommendations_patience + _STARTED_LATE,
        max_lateness=settings.max_lateness,
        longest=_TABLES + 2 * settings.recommendations_timeout,
    )
    return partial(fetch, decode=decode_fetch, context=context)


def rate_limiter(settings: ContentSettings) -> DynamoRateLimiter:
    """Return the rate limiter of requests to the recommendation service.

    The object implements `RateLimiter`, `PaceGauge` and `CircuitBreaker`.
    """
    plan = PacePlan(
        rate=settings.recommendations_per_second,
        ramp_from=settings.recommendations_ramp_from,
    )
    return DynamoRateLimiter(settings.pace_table, plan, name=RECOMMENDATIONS_ROW)


def _source(settings: ContentSettings) -> HttpSource:
    return http_source(
        settings.recommendations_url,
        connection=Connection(
            settings.recommendations_url,
            deadline=settings.recommendations_timeout.total_seconds(),
            largest=LARGEST_ANSWER,
        ),
        secret=settings.recommendations_secret,
        link_hosts=settings.link_hosts,
        fallback_image=settings.recommendations_fallback_image,
    )


def http_source(
    url: str, *, connection: Connection, secret: str, link_hosts: str, fallback_image: str
) -> HttpSource:
    """Return the recommendation service at `url`, as the settings of the same names describe it.

    Reads the token, if `secret` names one.
    """
    listed: list[str] = json.loads(link_hosts)
    return HttpSource(
        url,
        connection=connection,
        token=_token(secret),
        normaliser=Normaliser(
            source=RECOMMENDATIONS,
            hosts=LinkHosts.of(listed) if listed else None,
            fallback_image=fallback_image,
        ),
        clock=now,
    )


def _token(secret: str) -> Callable[[], str]:
    """Return a function that reads the service's bearer token at most once a minute.

    A new token is used within a minute.
    """
    if not secret:
        return lambda: ""
    return Cached(partial(read_token, secret), clock=now).get
