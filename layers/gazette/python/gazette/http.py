"""Readers' requests, and the answers to their browsers. Only handlers use this module.

The resolver of Powertools would do the same, but would add 50 ms to a cold start, for which a
reader waits.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Type": "text/html; charset=utf-8",
    "Referrer-Policy": "no-referrer",
    "Strict-Transport-Security": "max-age=63072000",
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex",
}
_NOTHING = "default-src 'none'; base-uri 'none'; frame-ancestors 'none'"
_ONLY_STAGE = "$default"

Answer = dict[str, Any]
"""An HTTP API's answer to the browser."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request of a browser."""

    method: str
    path: Sequence[str]
    """The parts of the path, without slashes."""

    query: Mapping[str, Sequence[str]]
    """The values of the query string, by name."""

    languages: str
    """The header Accept-Language, or an empty string."""

    content_type: str
    body: str | None
    is_base64: bool


def read_http(event: dict[str, Any]) -> Request:
    """Return the request in an event of an HTTP API, payload format 2.0.

    The path begins with the API's stage, unless that is `$default`. Names of headers may contain
    capitals if the event does not come from API Gateway.
    https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
    """
    about = event["requestContext"]
    path = event["rawPath"]
    if about.get("stage", _ONLY_STAGE) != _ONLY_STAGE:
        path = path.removeprefix(f"/{about['stage']}")
    headers = {name.lower(): value for name, value in (event.get("headers") or {}).items()}
    return Request(
        method=about["http"]["method"],
        path=path.removeprefix("/").split("/"),
        query=parse_qs(event.get("rawQueryString") or ""),
        languages=headers.get("accept-language", ""),
        content_type=headers.get("content-type", ""),
        body=event.get("body"),
        is_base64=bool(event.get("isBase64Encoded")),
    )


def page_answer(status: int, html: str, *, styles: str, images: str = "") -> Answer:
    """Return a page of Gazette.

    Its policy allows one style sheet, by hash, and forms to its own origin. `images`: the origins
    of the logos, if there are any.
    """
    policy = f"{_NOTHING}; form-action 'self'; style-src {styles}"
    return _answer(status, html, f"{policy}; img-src {images}" if images else policy)


def email_answer(html: str) -> Answer:
    """Return an email as a page. Its policy allows inline styles and https images, no scripts."""
    policy = f"{_NOTHING}; form-action 'none'; img-src https:; style-src 'unsafe-inline'"
    return _answer(200, html, policy)


def without_content(answer: Answer) -> Answer:
    """Return the answer to HEAD: the status and the headers of the answer to GET, without content.
    https://www.rfc-editor.org/rfc/rfc9110#section-9.3.2
    """
    return {**answer, "body": ""}


def methods_answer(methods: Sequence[str]) -> Answer:
    """Return the answer to OPTIONS (RFC 9110, section 9.3.7)."""
    return {
        "statusCode": 204,
        "headers": {"Allow": ", ".join(methods), "Cache-Control": "no-store"},
        "body": "",
        "isBase64Encoded": False,
    }


def refused_method(answer: Answer, methods: Sequence[str]) -> Answer:
    """Return the answer with the status 405 and the methods that are allowed.
    https://www.rfc-editor.org/rfc/rfc9110#section-15.5.6
    """
    headers = {**answer["headers"], "Allow": ", ".join(methods)}
    return {**answer, "statusCode": 405, "headers": headers}


def _answer(status: int, html: str, policy: str) -> Answer:
    return {
        "statusCode": status,
        "headers": {**_HEADERS, "Content-Security-Policy": policy},
        "body": html,
        "isBase64Encoded": False,
    }
