"""Errors of the API as problem documents (RFC 9457).

https://www.rfc-editor.org/rfc/rfc9457
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aws_lambda_powertools.event_handler import Response

from gazette.adapters.api.models import (
    MEDIA_TYPE,
    FieldError,
    Problem,
    RefusedReturn,
    ReturnRefusal,
)
from gazette.adapters.contract.wording import plain

_PAGE = "docs/api.md"
MOST_ERRORS = 20
"""The maximum number of errors in a problem document."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of problem. `anchor` is its section in docs/api.md."""

    status: int
    anchor: str
    title: str


UNREADABLE = Kind(400, "unreadable-body", "The body is not readable")
UNKNOWN_SUBSCRIBER = Kind(404, "unknown-subscriber", "The subscriber is unknown")
UNKNOWN_ROUTE = Kind(404, "unknown-route", "The route is unknown")
NOT_JSON = Kind(415, "unsupported-content-type", "The content type is not supported")
REFUSED_RETURN = Kind(409, "return-refused", "The subscriber was not returned")
TOO_MANY_MUTED = Kind(409, "too-many-muted", "The subscriber has muted too many entities")
INVALID = Kind(422, "invalid-request", "The request is invalid")
FAILED = Kind(500, "failed", "The request failed")
NOTHING_CHANGED = Kind(503, "unavailable", "The service is unavailable")
OUTCOME_UNKNOWN = Kind(504, "outcome-unknown", "The outcome is unknown")

KINDS = (
    UNREADABLE,
    UNKNOWN_SUBSCRIBER,
    UNKNOWN_ROUTE,
    REFUSED_RETURN,
    TOO_MANY_MUTED,
    NOT_JSON,
    INVALID,
    FAILED,
    NOTHING_CHANGED,
    OUTCOME_UNKNOWN,
)
"""All kinds of problems, which docs/api.md describes."""


class ProblemError(Exception):
    """An error that a route answers with a problem document."""

    def __init__(self, kind: Kind, detail: str, *errors: FieldError) -> None:
        super().__init__(detail)
        self.kind, self.detail, self.errors = kind, detail, errors


class RefusedReturnError(ProblemError):
    """The error for a consent that does not return the subscriber."""

    def __init__(self, reason: ReturnRefusal, detail: str) -> None:
        super().__init__(REFUSED_RETURN, detail)
        self.reason: ReturnRefusal = reason


def unknown_subscriber() -> ProblemError:
    """Return the error for a user id without a profile."""
    return ProblemError(
        UNKNOWN_SUBSCRIBER,
        "No profile with this user_id is stored. Publish subscriber.changed first. The subscriber "
        "may also have been erased.",
    )


def invalid_parameter(name: str, detail: str) -> ProblemError:
    """Return the error for an invalid query parameter."""
    return ProblemError(
        INVALID,
        "Correct the query parameter, and repeat the request.",
        FieldError(pointer=None, parameter=name, detail=detail),
    )


def invalid_field(name: str, detail: str) -> ProblemError:
    """Return the error for an invalid field of the body."""
    return ProblemError(
        INVALID,
        "Correct the field of the body, and repeat the request.",
        FieldError(pointer=f"#/{name}", parameter=None, detail=detail),
    )


def invalid_request(problems: Sequence[Mapping[str, Any]]) -> ProblemError:
    """Return the error for a request that does not match the OpenAPI document."""
    return ProblemError(
        INVALID,
        "Correct the fields in `errors`, and repeat the request.",
        *map(_field_error, problems[:MOST_ERRORS]),
    )


def problem_response(problem: ProblemError) -> "Response[str]":
    """Return the response with the problem document."""
    kind = problem.kind
    document = Problem(
        type=f"{_PAGE}#{kind.anchor}",
        title=kind.title,
        status=kind.status,
        detail=problem.detail,
        errors=problem.errors,
    )
    if isinstance(problem, RefusedReturnError):
        document = RefusedReturn(**dict(document), reason=problem.reason)
    return Response(kind.status, MEDIA_TYPE, document.model_dump_json())


def _field_error(problem: Mapping[str, Any]) -> FieldError:
    place, *inner = problem["loc"] or ("body",)
    detail: str = plain(problem)  # type: ignore[arg-type]  # Powertools adds the place to the errors of pydantic
    if place == "query":
        return FieldError(pointer=None, parameter=".".join(map(str, inner)), detail=detail)
    return FieldError(pointer=_pointer(inner), parameter=None, detail=detail)


def _pointer(parts: Iterable[str | int]) -> str:
    """Return a JSON Pointer (RFC 6901). The names of unknown fields come from the request."""
    escaped = (str(part)[:100].replace("~", "~0").replace("/", "~1") for part in parts)
    return "#" + "".join(f"/{part}" for part in escaped if part != "[key]")
