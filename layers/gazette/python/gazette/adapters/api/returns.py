"""The route that returns a subscriber on a new consent. A stage must turn it on."""

from collections.abc import Callable
from datetime import datetime
from typing import Literal, Protocol, cast

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response

from gazette.adapters.api import models, parameters
from gazette.adapters.api.problems import (
    OUTCOME_UNKNOWN,
    ProblemError,
    RefusedReturnError,
    invalid_field,
    unknown_subscriber,
)
from gazette.adapters.api.resolver import JSON, Report, answers
from gazette.domain.errors import OutcomeUnknown
from gazette.domain.subscribers.consent import Refusal

_DETAILS: dict[models.ReturnRefusal, str] = {
    "bounced": "The address bounced. Ask the subscriber for another address.",
    "complained": "The owner of the address complained about email. Only an operator can lift "
    "this.",
    "manual": "An operator suppressed the address. Only an operator can lift this.",
    "shared_address": "Another subscriber with this address unsubscribed. The subscriber can "
    "return on the preference page.",
    "newer_unsubscription": "The subscriber unsubscribed at the time of the consent or later. Ask "
    "for a new consent.",
    "other_address": "The stored profile has another address. Publish subscriber.changed first.",
    "unknown_status": "The status is from a newer version of Gazette. Deploy this version.",
}
"""The reason and the remedy of each refusal."""


class ReturnedReader(Protocol):
    """The result of a consent (steps/subscribers/return_reader.py)."""

    @property
    def refusal(self) -> Refusal | None:
        """The reason for which the reader was not returned."""

    @property
    def outcome(self) -> str:
        """The name of the result: `returned`, `unchanged` or the refusal."""


StateConsent = Callable[[str, str, datetime], ReturnedReader]
"""A function that states a consent (steps/api/consents.py).

Arguments: user id, address, time. Raises OutcomeUnknown.
"""


def add_return(app: APIGatewayHttpResolver, state_consent: StateConsent, report: Report) -> None:
    """Add the route."""

    @app.post(
        "/v1/subscriber/return",
        operation_id="returnSubscriber",
        summary="Return a subscriber who unsubscribed, on a new consent",
        tags=["subscriber"],
        responses=answers(models.Returned, "The subscriber gets email.", 400, 415, 504)
        | {
            409: {
                "description": "The consent does not return the subscriber.",
                "content": {models.MEDIA_TYPE: {"model": models.RefusedReturn}},
            }
        },
    )
    def return_subscriber(
        user_id: parameters.UserIdParameter, body: parameters.ReturnBody
    ) -> Response[models.Returned]:
        try:
            result = state_consent(user_id, body.email, body.consented_at)
        except OutcomeUnknown as err:
            report(err)
            detail = (
                "The subscriber may get email again. Repeat the request with the same consented_at."
            )
            raise ProblemError(OUTCOME_UNKNOWN, detail) from err
        if result.refusal:
            raise _problem(result.refusal)
        outcome = cast('Literal["returned", "unchanged"]', result.outcome)
        return Response(200, JSON, models.Returned(user_id=user_id, outcome=outcome))


def _problem(refusal: Refusal) -> ProblemError:
    match refusal:
        case Refusal.UNKNOWN_READER | Refusal.ERASED:
            return unknown_subscriber()
        case Refusal.AHEAD:
            return invalid_field("consented_at", "must not be more than an hour in the future")
    reason = cast("models.ReturnRefusal", refusal.value)
    return RefusedReturnError(reason, _DETAILS[reason])
