"""The routes that write. To add a route, also add it to `gazette_cdk.services`."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response

from gazette.adapters.api import models, parameters
from gazette.adapters.api.delivery_events import SubmitDeliveryEvent, add_delivery_event
from gazette.adapters.api.problems import (
    NOTHING_CHANGED,
    OUTCOME_UNKNOWN,
    TOO_MANY_MUTED,
    ProblemError,
    invalid_field,
    unknown_subscriber,
)
from gazette.adapters.api.reads import ReadReader
from gazette.adapters.api.resolver import JSON, Report, answers, time_left
from gazette.adapters.api.returns import StateConsent, add_return
from gazette.adapters.api.views import subscriber_answer
from gazette.adapters.contract.building import choice_of, mutes_of
from gazette.domain.api.answers import Chosen
from gazette.domain.errors import NotYet, OutcomeUnknown, Unavailable, UnreadableRow
from gazette.domain.muting.mutes import MOST_MUTED, Mute
from gazette.domain.ports.clock import TimeLeft
from gazette.domain.subscribers.choices import Choice

_FIRST_YEAR = 1990
"""The first year that the event contract allows."""

_Answered = models.Subscriber | models.AcceptedChoice


class Choose(Protocol):
    """A function that submits a choice for a reader (steps/api/choices.py)."""

    def __call__(
        self,
        user_id: str,
        choice: Choice,
        at: datetime,
        mutes: Sequence[Mute],
        *,
        time_left: TimeLeft,
    ) -> Chosen:
        """Return the outcome. Raises OutcomeUnknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Writes:
    """The functions that the routes call."""

    choose: Choose
    reader: ReadReader
    """A function that returns the state of a reader after the choice."""

    state_consent: StateConsent
    submit_delivery_event: SubmitDeliveryEvent
    report: Report


def add_writes(app: APIGatewayHttpResolver, writes: Writes) -> None:
    """Add the routes that write."""
    add_return(app, writes.state_consent, writes.report)
    add_delivery_event(app, writes.submit_delivery_event, writes.report)

    @app.patch(
        "/v1/subscriber/choices",
        operation_id="patchChoices",
        summary="Submit a choice of the subscriber",
        tags=["subscriber"],
        responses=answers(models.Subscriber, "The choice is in force.", 400, 409, 415, 504)
        | {
            202: {
                "description": "The choice is stored, and will be in force soon.",
                "content": {JSON: {"model": models.AcceptedChoice}},
            }
        },
    )
    def patch_choices(
        user_id: parameters.UserIdParameter, body: parameters.ChoicesBody
    ) -> Response[_Answered]:
        if body.chosen_at.year < _FIRST_YEAR:  # in UTC, as which the choice is published
            raise invalid_field("chosen_at", f"must not be before {_FIRST_YEAR} in UTC")
        match _choose(user_id, body, writes, time_left(app)):
            case Chosen.UNKNOWN_READER:
                raise unknown_subscriber()
            case Chosen.TOO_MANY_MUTED:
                raise ProblemError(
                    TOO_MANY_MUTED,
                    f"A subscriber can mute {MOST_MUTED} entities. Unmute one of them first. "
                    "getSubscriber lists the muted entities.",
                )
            case Chosen.IN_THE_FUTURE:
                raise invalid_field("chosen_at", "must not be more than an hour in the future")
            case Chosen.NOT_ACCEPTED:
                detail = "No change was made. Repeat the request later."
                raise ProblemError(NOTHING_CHANGED, detail)
            case Chosen.IN_FORCE:
                return _in_force(user_id, body, writes)
            case Chosen.ACCEPTED:
                return _accepted(user_id, body)


def _choose(
    user_id: str, body: parameters.ChoicesBody, writes: Writes, time_left: TimeLeft
) -> Chosen:
    try:
        return writes.choose(
            user_id, choice_of(body), body.chosen_at, mutes_of(body), time_left=time_left
        )
    except OutcomeUnknown as err:
        writes.report(err)
        detail = "The choice may come into force later. Repeat the request with the same chosen_at."
        raise ProblemError(OUTCOME_UNKNOWN, detail) from err


def _in_force(user_id: str, body: parameters.ChoicesBody, writes: Writes) -> "Response[_Answered]":
    """Return the present state. If it cannot be read, say only that the choice is stored."""
    try:
        state = writes.reader(user_id)
    except (NotYet, Unavailable, UnreadableRow) as err:
        writes.report(err)
        return _accepted(user_id, body)
    if state is None:
        raise unknown_subscriber()
    return Response(200, JSON, subscriber_answer(state))


def _accepted(user_id: str, body: parameters.ChoicesBody) -> "Response[_Answered]":
    answer = models.AcceptedChoice(user_id=user_id, chosen_at=body.chosen_at)
    return Response(202, JSON, answer)
