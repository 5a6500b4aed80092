"""The composition that both functions of the API share."""

from collections.abc import Callable, Mapping
from datetime import datetime
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gazette.adapters.api.resolver import Answer
from gazette.adapters.dynamodb.follows import DynamoFollows
from gazette.adapters.dynamodb.runs import DynamoRuns
from gazette.adapters.dynamodb.schedules import DynamoSchedules
from gazette.adapters.dynamodb.subscribers import DynamoSubscribers
from gazette.bootstrap.parts.clock import now
from gazette.bootstrap.parts.routing import stored_events
from gazette.bootstrap.parts.withdrawals import cached_withdrawals
from gazette.domain.scheduling.lifetime import longest_life
from gazette.observability import count, logger
from gazette.settings.ingest import ReaderSettings
from gazette.settings.ranges import ASKED_SOURCE
from gazette.steps.api.reader import ReaderContext

if TYPE_CHECKING:
    from gazette.steps.subscribers.return_reader import Returned

Resolve = Callable[[dict[str, Any], Any], Answer]
"""A function that answers an event of the HTTP API."""

_NO_CATEGORIES = {"other", "__pycache__"}


def reader_context(settings: ReaderSettings) -> ReaderContext:
    """Return the tables for reading the state of a reader. Makes no writes."""
    retention = longest_life(settings.event_retention)
    return ReaderContext(
        subscribers=DynamoSubscribers(settings.subscribers_table),
        follows=DynamoFollows(settings.follows_table, retention=retention, clock=now),
        schedules=DynamoSchedules(settings.schedules_table, shards=settings.shards),
        runs=DynamoRuns(settings.runs_table, retention=settings.run_retention),
        events=stored_events(settings),
        withdrawals=cached_withdrawals(settings.control_table),
        clock=now,
        defaults=settings.defaults,
        quiet_hours=settings.default_quiet_hours,
        critical=settings.critical,
        sunset=settings.sunset,
        content=True if ASKED_SOURCE in settings.content_sources else None,
        categories=template_categories(),
    )


def template_categories() -> frozenset[str]:
    """Return the categories that have a template folder in this deployment."""
    folder = Path(str(files("gazette_templates"))) / "categories"
    return frozenset(each.name for each in folder.iterdir() if each.is_dir()) - _NO_CATEGORIES


def answer_request(resolve: Resolve, event: dict[str, Any], context: Any) -> Answer:
    """Answer a request, and log its caller, route and status."""
    answer = resolve(event, context)
    logger().info(
        "request answered",
        caller=_caller_of(event),
        route=event.get("routeKey"),
        status=answer["statusCode"],
    )
    return answer


def _caller_of(event: Mapping[str, Any]) -> str:
    """Return the ARN of the caller of an API with IAM authorisation.

    https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
    """
    context: Any = event.get("requestContext") or {}
    iam: Any = (context.get("authorizer") or {}).get("iam") or {}
    return str(iam.get("userArn") or "")


def report(err: Exception) -> None:
    """Count and log an error of a request."""
    count("api_failed")
    logger().exception("request failed", exc_info=err)


def counted_consents(
    state_consent: Callable[[str, str, datetime], "Returned"],
) -> Callable[[str, str, datetime], "Returned"]:
    """Return the function with a count and a log line of each result."""

    def state(user_id: str, email: str, at: datetime) -> "Returned":
        count("consents")
        result = state_consent(user_id, email, at)
        count(f"consent_{result.outcome}")
        logger().info("consent stated", user_id=user_id, outcome=result.outcome, consented_at=at)
        return result

    return state
