"""The resolver of the API, which validates requests, calls routes, and answers errors.

The OpenAPI document is generated from the same routes.
"""

import base64
import binascii
from collections.abc import Callable, Mapping
from datetime import timedelta
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.exceptions import NotFoundError
from aws_lambda_powertools.event_handler.openapi.exceptions import RequestValidationError

from gazette.adapters.api.models import MEDIA_TYPE, Problem
from gazette.adapters.api.problems import (
    FAILED,
    NOT_JSON,
    NOTHING_CHANGED,
    UNKNOWN_ROUTE,
    UNREADABLE,
    ProblemError,
    invalid_request,
    problem_response,
)
from gazette.adapters.contract.strict_json import UnreadableError, read_json
from gazette.domain.errors import NotYet, Unavailable

Answer = dict[str, Any]
"""A response to API Gateway."""

Report = Callable[[Exception], None]
"""A function that logs an unexpected error."""

JSON = "application/json"

_PHRASES = {422: "Unprocessable Content"}
"""The phrases of RFC 9110 that differ in the standard library of some Python versions."""


def new_resolver(report: Report) -> APIGatewayHttpResolver:
    """Return a resolver without routes, which answers all errors with problem documents.

    API Gateway itself answers calls that it rejects, and calls for which the function fails, times
    out or is throttled.
    """
    app = APIGatewayHttpResolver(enable_validation=True, json_body_deserializer=_read_object)

    def invalid(err: RequestValidationError) -> "Response[str]":
        return problem_response(invalid_request(err.errors()))

    def missing(_: NotFoundError) -> "Response[str]":
        detail = "There is no such path, or it does not support this method."
        return problem_response(ProblemError(UNKNOWN_ROUTE, detail))

    def unavailable(err: Exception) -> "Response[str]":
        report(err)
        detail = "No change was made. Repeat the request later."
        return problem_response(ProblemError(NOTHING_CHANGED, detail))

    def failed(err: Exception) -> "Response[str]":
        report(err)
        detail = "The log of the function contains the error."
        return problem_response(ProblemError(FAILED, detail))

    app.exception_handler_manager.update_exception_handlers(
        {
            ProblemError: problem_response,
            RequestValidationError: invalid,
            NotFoundError: missing,
            NotYet: unavailable,
            Unavailable: unavailable,
            Exception: failed,
        }
    )
    return app


def resolve(app: APIGatewayHttpResolver, event: Mapping[str, Any], context: Any) -> Answer:
    """Answer an event of the HTTP API."""
    try:
        answer: Answer = app.resolve(_with_plain_body(event), context)
    except ProblemError as problem:
        response = problem_response(problem)
        answer = {"statusCode": response.status_code, "body": response.body}
        answer |= {"headers": dict(response.headers), "isBase64Encoded": False}
    answer["headers"]["Cache-Control"] = "no-store"
    return answer


def time_left(app: APIGatewayHttpResolver) -> Callable[[], timedelta]:
    """Return a function that returns the remaining time of the invocation."""
    context = app.lambda_context
    return lambda: timedelta(milliseconds=context.get_remaining_time_in_millis())


def answers(model: type[Any], description: str, *others: int, success: int = 200) -> dict[int, Any]:
    """Return the documentation of a route's responses: `success` with `model`, and the errors.

    Every route names 422 and 500, because Powertools would add its own schemas otherwise.
    """
    problems = {
        status: {
            "description": _PHRASES.get(status, HTTPStatus(status).phrase),
            "content": {MEDIA_TYPE: {"model": Problem}},
        }
        for status in sorted({*others, 404, 422, 500, 503})
    }
    return {success: {"description": description, "content": {JSON: {"model": model}}}, **problems}


def _with_plain_body(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return the event with its body as text. Raises ProblemError if the body is not JSON.

    API Gateway encodes bodies whose content type is not text. Powertools would treat a body of
    another type as a form.
    """
    body = event.get("body")
    if not body:
        return {**event, "body": None, "isBase64Encoded": False}
    headers = event.get("headers") or {}
    sent = next((each for name, each in headers.items() if name.lower() == "content-type"), JSON)
    if sent.partition(";")[0].strip().lower() != JSON:
        raise ProblemError(NOT_JSON, f"Send the body with the content type {JSON}.")
    if event.get("isBase64Encoded"):
        try:
            body = base64.b64decode(body, validate=True).decode()
        except (binascii.Error, ValueError):
            raise _unreadable("not valid UTF-8") from None
    others = {name: each for name, each in headers.items() if name.lower() != "content-type"}
    return {
        **event,
        "body": body,
        "isBase64Encoded": False,
        "headers": {**others, "content-type": JSON},
    }


def _read_object(text: str) -> dict[str, Any]:
    """Parse the body, which must be an object. Raises ProblemError.

    Powertools would use the first entry of a list.
    """
    try:
        body = read_json(text)
    except UnreadableError as err:
        raise _unreadable(str(err)) from None
    if not isinstance(body, dict):
        raise _unreadable("not an object")
    return body


def _unreadable(why: str) -> ProblemError:
    return ProblemError(UNREADABLE, f"The body is {why}. Send one JSON object in UTF-8.")
