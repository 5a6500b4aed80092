"""The routes that only read. To add a route, also add it to `gazette_cdk.services`."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response

from gazette.adapters.api import models, parameters
from gazette.adapters.api.cursors import place_in
from gazette.adapters.api.exports import Export, add_export
from gazette.adapters.api.problems import invalid_parameter, unknown_subscriber
from gazette.adapters.api.resolver import JSON, answers
from gazette.adapters.api.views import (
    activity_answer,
    email_page_answer,
    receipt_answer,
    subscriber_answer,
)
from gazette.domain.api.answers import AppLink, EmailPage, ReaderState
from gazette.domain.model import entity_key
from gazette.domain.receipts.receipt import ActivityReceipt, Receipt


class ReadReader(Protocol):
    """A function that returns the state of a reader (steps/api/reader.py)."""

    def __call__(self, user_id: str, *, follows_after: str = "") -> ReaderState | None:
        """Return the state, or None for an unknown user id."""


class ListEmails(Protocol):
    """A function that returns a page of a reader's emails (steps/api/emails.py)."""

    def __call__(self, user_id: str, *, schedule: str, before: str, limit: int) -> EmailPage:
        """Return the page."""


class GetReceipt(Protocol):
    """A function that returns the receipt of an event (steps/support/receipt.py)."""

    def __call__(
        self, user_id: str, event_id: str, *, category: str, occurred_at: datetime | None
    ) -> Receipt:
        """Return the receipt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reads:
    """The functions that the routes call."""

    reader: ReadReader
    emails: ListEmails
    receipt: GetReceipt
    activity: Callable[[str, str], ActivityReceipt]
    """A function that returns the receipt of an activity. Arguments: entity key, activity id."""

    followers: Callable[[str], tuple[int, bool]]
    """A function that counts the followers of an entity key."""

    link: Callable[[str], AppLink | None]
    """A function that returns a link to the preference page of a user id."""

    export: Export


def add_reads(app: APIGatewayHttpResolver, reads: Reads) -> None:
    """Add the routes that only read."""
    _add_subscriber(app, reads)
    _add_receipts(app, reads)
    add_export(app, reads.export)


def _add_subscriber(app: APIGatewayHttpResolver, reads: Reads) -> None:
    @app.get(
        "/v1/subscriber",
        operation_id="getSubscriber",
        summary="Get the preferences in force, their reasons, and what waits",
        tags=["subscriber"],
        responses=answers(models.Subscriber, "The present state of the subscriber."),
    )
    def get_subscriber(
        user_id: parameters.UserIdParameter,
        follows_cursor: parameters.FollowsCursorParameter = "",
    ) -> Response[models.Subscriber]:
        after = place_in(follows_cursor, user_id, parameter="follows_cursor")
        state = reads.reader(user_id, follows_after=after)
        if state is None:
            raise unknown_subscriber()
        return Response(200, JSON, subscriber_answer(state))

    @app.get(
        "/v1/subscriber/emails",
        operation_id="listEmails",
        summary="List the emails of a subscriber",
        tags=["subscriber"],
        responses=answers(models.EmailPage, "A page of emails."),
    )
    def list_emails(
        user_id: parameters.UserIdParameter,
        schedule: parameters.ScheduleParameter = None,
        limit: parameters.LimitParameter = 20,
        cursor: parameters.CursorParameter = "",
    ) -> Response[models.EmailPage]:
        before = place_in(cursor, user_id, parameter="cursor")
        if schedule and before and not before.startswith(f"{schedule}#"):
            raise invalid_parameter("cursor", "belongs to a different schedule")
        page = reads.emails(user_id, schedule=schedule or "", before=before, limit=limit)
        return Response(200, JSON, email_page_answer(user_id, page))

    @app.post(
        "/v1/subscriber/link",
        operation_id="createLink",
        summary="Create a link to the preference page",
        tags=["subscriber"],
        responses=answers(models.Link, "A link that is valid for one to two days."),
    )
    def create_link(user_id: parameters.UserIdParameter) -> Response[models.Link]:
        link = reads.link(user_id)
        if link is None:
            raise unknown_subscriber()
        return Response(200, JSON, models.Link(url=link.url, expires_at=link.expires_at))


def _add_receipts(app: APIGatewayHttpResolver, reads: Reads) -> None:
    @app.get(
        "/v1/event",
        operation_id="getEventReceipt",
        summary="Get what became of an event",
        tags=["receipts"],
        responses=answers(models.Receipt, "The receipt of the event."),
    )
    def get_event_receipt(
        user_id: parameters.UserIdParameter,
        event_id: parameters.EventIdParameter,
        category: parameters.CategoryParameter = None,
        occurred_at: parameters.OccurredAtParameter = None,
    ) -> Response[models.Receipt]:
        receipt = reads.receipt(user_id, event_id, category=category or "", occurred_at=occurred_at)
        return Response(200, JSON, receipt_answer(receipt))

    @app.get(
        "/v1/activity",
        operation_id="getActivityReceipt",
        summary="Get what became of an activity",
        tags=["receipts"],
        responses=answers(models.ActivityReceipt, "The receipt of the activity."),
    )
    def get_activity_receipt(
        entity_type: parameters.OfEntityTypeParameter,
        entity_id: parameters.OfEntityIdParameter,
        activity_id: parameters.ActivityIdParameter,
    ) -> Response[models.ActivityReceipt]:
        receipt = reads.activity(entity_key(entity_type, entity_id), activity_id)
        return Response(200, JSON, activity_answer(receipt))

    @app.get(
        "/v1/entity",
        operation_id="getEntity",
        summary="Count the followers of an entity",
        tags=["entity"],
        responses=answers(models.EntityFollowers, "The number of followers."),
    )
    def get_entity(
        entity_type: parameters.EntityTypeParameter, entity_id: parameters.EntityIdParameter
    ) -> Response[models.EntityFollowers]:
        followers, is_exact = reads.followers(entity_key(entity_type, entity_id))
        entity = models.Entity(type=entity_type, id=entity_id)
        answer = models.EntityFollowers(entity=entity, followers=followers, is_exact=is_exact)
        return Response(200, JSON, answer)
