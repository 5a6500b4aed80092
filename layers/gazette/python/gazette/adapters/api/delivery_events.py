"""The route through which services report the delivery events of their mail provider."""

from collections.abc import Callable
from datetime import datetime

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response

from gazette.adapters.api import models, parameters
from gazette.adapters.api.problems import (
    NOTHING_CHANGED,
    OUTCOME_UNKNOWN,
    ProblemError,
    invalid_field,
)
from gazette.adapters.api.resolver import JSON, Report, answers
from gazette.adapters.contract.reports import message_of
from gazette.domain.api.answers import Submitted
from gazette.domain.errors import OutcomeUnknown
from gazette.domain.feedback.reports import read_reference
from gazette.domain.identity import run_id

SubmitDeliveryEvent = Callable[[str, datetime], Submitted]
"""A function that submits a delivery event (steps/api/delivery_events.py).

Arguments: the message for feedback, and the time of the event. Raises OutcomeUnknown.
"""


def add_delivery_event(
    app: APIGatewayHttpResolver, submit: SubmitDeliveryEvent, report: Report
) -> None:
    """Add the route."""

    @app.post(
        "/v1/delivery-event",
        operation_id="reportDeliveryEvent",
        summary="Report a delivery event of your mail provider",
        tags=["email"],
        responses=answers(
            models.AcceptedDeliveryEvent,
            "The delivery event is stored, and will be checked and processed soon.",
            *(400, 415, 504),
            success=202,
        ),
    )
    def report_delivery_event(
        body: parameters.DeliveryEventBody,
    ) -> Response[models.AcceptedDeliveryEvent]:
        try:
            submitted = submit(message_of(body), body.at)
        except OutcomeUnknown as err:
            report(err)
            detail = "The delivery event may be stored. Repeat the request."
            raise ProblemError(OUTCOME_UNKNOWN, detail) from err
        match submitted:
            case Submitted.IN_THE_FUTURE:
                raise invalid_field("at", "must not be more than an hour in the future")
            case Submitted.NOT_STORED:
                detail = "The delivery event is not stored. Repeat the request later."
                raise ProblemError(NOTHING_CHANGED, detail)
            case Submitted.STORED:
                email = run_id(read_reference(body.reference).run)
                return Response(
                    202, JSON, models.AcceptedDeliveryEvent(email=email, type=body.type)
                )
