"""Dependencies of `gazette sources`, and of the check of a source by `gazette doctor`."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import urlsplit

from gazette.adapters.content.http_source import LARGEST_ANSWER
from gazette.adapters.dynamodb.runs import DynamoRuns
from gazette.adapters.dynamodb.schedules import DynamoSchedules
from gazette.adapters.dynamodb.subscribers import DynamoReaders, DynamoSubscribers
from gazette.bootstrap.content import http_source, rate_limiter
from gazette.bootstrap.parts.clock import now
from gazette.bootstrap.parts.content import sources
from gazette.domain.content.ports import Question
from gazette.settings.content import ContentSettings
from gazette.steps.context import ScheduleContext

from gazette_support.adapters.source_trial import ObservedConnection, try_source
from gazette_support.domain.source_trial import Trial
from gazette_support.steps.sending import Stream
from gazette_support.steps.sources import Readers

_DAY = timedelta(days=1)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A recommendation service, and how a stage would query it."""

    url: str
    timeout: timedelta = timedelta(seconds=3)
    limit: int = 5
    secret: str = ""
    link_hosts: str = "[]"
    fallback_image: str = ""

    @classmethod
    def of(cls, settings: ContentSettings, url: str = "") -> "Target":
        """Return the target of a stage, or another URL with the settings of the stage.

        Only the host that the stage queries gets its token.
        """
        url = url or settings.recommendations_url
        is_same = _origin(url) == _origin(settings.recommendations_url)
        return cls(
            url=url,
            timeout=settings.recommendations_timeout,
            limit=settings.recommendations_items,
            secret=settings.recommendations_secret if is_same else "",
            link_hosts=settings.link_hosts,
            fallback_image=settings.recommendations_fallback_image,
        )


def build_trial(target: Target) -> Callable[[str, str], Trial]:
    """Return a function that sends one request for a reader and a digest.

    The request and the checks of the response are those of the `content` function. The function
    raises Unavailable or InvalidKeys if the token cannot be read.
    """
    connection = ObservedConnection(
        target.url, deadline=target.timeout.total_seconds(), largest=LARGEST_ANSWER
    )
    source = http_source(
        target.url,
        connection=connection,
        secret=target.secret,
        link_hosts=target.link_hosts,
        fallback_image=target.fallback_image,
    )

    def ask(user_id: str, digest: str) -> Trial:
        at = now()
        question = Question(
            user_id=user_id,
            schedule=digest,
            since=at - _DAY,
            until=at,
            limit=target.limit,
            locale="en",
            time_zone="UTC",
        )
        return try_source(source, question, connection)

    return ask


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc
