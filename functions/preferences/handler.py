"""The preferences function, which serves the links in emails."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from gazette.bootstrap.parts.init import during_init
from gazette.bootstrap.preferences import build
from gazette.domain.errors import (
    EndedLink,
    InvalidToken,
    NotYet,
    Unavailable,
    UnreadableForm,
    UnreadableRow,
)
from gazette.domain.subscribers.overview import FOLLOWS_AFTER, Notice
from gazette.http import (
    Answer,
    Request,
    email_answer,
    methods_answer,
    page_answer,
    read_http,
    refused_method,
    without_content,
)
from gazette.observability import TimeLeft, count, logger, observed, time_left_of

_STATUS = {Notice.NOT_SAVED: 503, Notice.UNSURE: 503, Notice.UNREADABLE: 400, Notice.WRONG: 400}
"""The HTTP status for each notice of a preference page. The default is 200."""

_UPDATES_AFTER = "after"
"""The parameter with the number of entities on earlier pages of the list of updates."""

_PLACE = re.compile(r"[0-9]{1,4}", re.ASCII)

_SHOWS = ("GET", "HEAD", "OPTIONS")
_ACTS = ("GET", "HEAD", "POST", "OPTIONS")
_METHODS = {
    "unsubscribe": _ACTS,
    "preferences": _ACTS,
    "keep": _ACTS,
    "email": _SHOWS,
    "updates": _SHOWS,
}
"""The allowed HTTP methods of each link, by the first segment of its path."""


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> Answer:
    """Return the response to a request from the HTTP API."""
    with observed(context):
        request = read_http(event)
        if request.method != "HEAD":
            return _answer(request, time_left_of(context))
        # Render the page, because its status depends on its content (RFC 9110, section 9.3.2).
        return without_content(_answer(replace(request, method="GET"), time_left_of(context)))


def _answer(request: Request, time_left: TimeLeft) -> Answer:
    try:
        return _routed(request, time_left)
    except InvalidToken:
        return _missing(request)
    except Exception:  # noqa: BLE001 -- whatever happened, the reader gets a page
        count("page_failed")
        logger().exception("page failed")
        return _page(500, build().pages.went_wrong(request.languages))


def _routed(request: Request, time_left: TimeLeft) -> Answer:
    match request.method, *request.path:
        case "GET", "unsubscribe", token:
            return _confirm(request, token)
        case "POST", "unsubscribe", token:
            return _leave(request, token, time_left)
        case "GET", "preferences", token:
            return _show(request, token)
        case "POST", "preferences", token:
            return _choose(request, token, time_left)
        case "GET", "keep", token:
            return _offer_to_keep(request, token)
        case "POST", "keep", token:
            return _keep(request, token, time_left)
        case "GET", "email", token:
            return email_answer(_found(build().email(token)))
        case "GET", "updates", token:
            return _updates(request, token)
        case "OPTIONS", name, _ if name in _METHODS:
            return methods_answer(_METHODS[name])
        case _, name, _ if name in _METHODS:
            return refused_method(_missing(request), _METHODS[name])
    return _missing(request)


def _confirm(request: Request, token: str) -> Answer:
    """Show the confirmation page. Do not change any data, because link scanners open every link."""
    return _page(200, build().confirm_page(token, request.languages))


def _leave(request: Request, token: str, time_left: TimeLeft) -> Answer:
    """Handle the confirmation page's buttons and one-click unsubscribe requests (RFC 8058).

    These require no login, redirect or specific body. Return 503 if the request may not have taken
    effect.
    """
    preferences = build()
    link = preferences.unsubscribe_link(token)
    try:
        result = preferences.press(link, lambda: _form(request), time_left)
    except (NotYet, Unavailable, UnreadableRow):
        return _page(503, preferences.pages.went_wrong(request.languages))
    count("unsubscribed", int(result.is_unsubscribed))
    logger().info("reader left", scope=result.scope.kind.name, act=result.act)
    start = _place_in_list(request)
    return _page(200, preferences.left_page(token, result, request.languages, start))


def _offer_to_keep(request: Request, token: str) -> Answer:
    """Show the page on which an inactive reader keeps the digest. Do not change any data."""
    try:
        return _page(200, build().keep_page(token, _offer_of(request)))
    except EndedLink:
        return _page(410, build().pages.invalid_link(request.languages))


def _keep(request: Request, token: str, time_left: TimeLeft) -> Answer:
    """Handle the button of the page. Return 503 if the request may not have taken effect."""
    preferences = build()
    try:
        result = preferences.keep(token, _offer_of(request), lambda: _form(request), time_left)
    except EndedLink:
        return _page(410, preferences.pages.invalid_link(request.languages))
    except (NotYet, Unavailable, UnreadableRow):
        return _page(503, preferences.pages.went_wrong(request.languages))
    count("digest_kept", int(result.act is not None))
    return _page(200, preferences.kept_page(token, result))


def _updates(request: Request, token: str) -> Answer:
    """Show a page of the list of an email's updates, which may have pictures of any origin."""
    after = request.query.get(_UPDATES_AFTER, ("",))[0]
    html = _found(build().updates(token, int(after) if _PLACE.fullmatch(after) else 0))
    return page_answer(200, html, styles=build().styles, images="https:")


def _place_in_list(request: Request) -> str:
    """Return the place in the list of updates whose button was pressed, or an empty string."""
    try:
        place = _form(request).get(_UPDATES_AFTER, ("",))[0]
    except UnreadableForm:
        return ""
    return place if _PLACE.fullmatch(place) else ""


def _offer_of(request: Request) -> str:
    return request.query.get("offer", ("",))[0]


def _show(request: Request, token: str) -> Answer:
    """Show the preference page, or offer a new link. Do not change any data."""
    preferences = build()
    try:
        overview = preferences.show(preferences.preferences_link(token), _follows_after(request))
    except EndedLink:
        return _page(410, preferences.pages.ended_link(request.languages, is_mailed=False))
    return _page(200, preferences.preference_page(overview))


def _choose(request: Request, token: str, time_left: TimeLeft) -> Answer:
    """Apply the submitted preference form.

    The token is the only proof of the reader's identity. If the link has expired, email a new link.
    The response is the same whether or not the email can be sent.
    """
    preferences = build()
    try:
        return _chosen(request, token, time_left)
    except EndedLink:
        count("new_link_mailed", int(preferences.mail_new_link(token)))
        return _page(410, preferences.pages.ended_link(request.languages, is_mailed=True))


def _chosen(request: Request, token: str, time_left: TimeLeft) -> Answer:
    preferences = build()
    overview = preferences.submit(
        preferences.preferences_link(token),
        lambda: _form(request),
        time_left,
        _follows_after(request),
    )
    count(f"preferences_{overview.notice}")
    logger().info("preference page answered", notice=overview.notice)
    status = _STATUS.get(overview.notice, 200) if overview.notice else 200
    return _page(status, preferences.preference_page(overview))


def _follows_after(request: Request) -> str:
    """Return the entity after which the page of follows starts, or an empty string for the first
    page.
    """
    return request.query.get(FOLLOWS_AFTER, ("",))[0]


def _form(request: Request) -> Mapping[str, Sequence[str]]:
    read = build().read_form
    return read(request.body, request.content_type, is_base64=request.is_base64)


def _missing(request: Request) -> Answer:
    """Return the response for unknown paths, invalid links and links of deleted subscribers."""
    return _page(404, build().pages.invalid_link(request.languages))


def _found(html: str | None) -> str:
    if html is None:
        raise InvalidToken("The run is unknown.")
    return html


def _page(status: int, html: str) -> Answer:
    preferences = build()
    return page_answer(status, html, styles=preferences.styles, images=preferences.images)


during_init(build)
