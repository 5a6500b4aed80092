"""The links in emails: unsubscribe, the preference page, and past emails in the browser."""

from datetime import timedelta
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.utilities.typing import LambdaContext
from gazette.bootstrap.parts.init import during_init
from gazette.bootstrap.preferences import build
from gazette.domain.errors import EndedLink, InvalidToken
from gazette.domain.subscribers.overview import Notice
from gazette.http_responses import email_answer, page_answer
from gazette.observability import count, logger, observed

app = APIGatewayHttpResolver()

_STATUS = {Notice.NOT_SAVED: 503, Notice.UNSURE: 503, Notice.UNREADABLE: 400, Notice.WRONG: 400}
"""Of what the preference page tells; 200 where it is not here."""


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """One HTTP request that the edge let in."""
    with observed(context):
        return app.resolve(event, context)


@app.get("/unsubscribe/<token>")
def confirm(token: str) -> Response[str]:
    """Change nothing: link scanners open every link of an email."""
    preferences = build()
    preferences.unsubscribe_link(token)
    return _page(200, preferences.pages.confirm_unsubscribe(_accepted()))


@app.post("/unsubscribe/<token>")
def leave(token: str) -> Response[str]:
    """The page's button and RFC 8058's one-click: no login, no redirect, any body whatever."""
    preferences = build()
    found = preferences.unsubscribe(preferences.unsubscribe_link(token))
    count("unsubscribed", int(found))
    logger().info("reader unsubscribed", found=found)
    return _page(200, preferences.pages.unsubscribed(_accepted()))


@app.get("/preferences/<token>")
def show(token: str) -> Response[str]:
    """The preference page, or the offer of a new link. Changes nothing."""
    preferences = build()
    try:
        shown = preferences.show(preferences.preferences_link(token))
    except EndedLink:
        return _page(410, preferences.pages.ended_link(_accepted(), is_mailed=False))
    return _page(200, preferences.preference_page(shown))


@app.post("/preferences/<token>")
def choose(token: str) -> Response[str]:
    """A button of the preference page. The token is the only proof of who presses it.

    If its link has ended, a new one is mailed, and the same is answered whatever became of that.
    """
    preferences = build()
    try:
        return _chosen(token)
    except EndedLink:
        count("new_link_mailed", int(preferences.mail_new_link(token)))
        return _page(410, preferences.pages.ended_link(_accepted(), is_mailed=True))


def _chosen(token: str) -> Response[str]:
    preferences, event = build(), app.current_event
    shown = preferences.submit(
        preferences.preferences_link(token),
        lambda: preferences.read_form(
            event.body,
            event.headers.get("content-type") or "",
            is_base64=bool(event.is_base64_encoded),
        ),
        lambda: timedelta(milliseconds=app.lambda_context.get_remaining_time_in_millis()),
    )
    count(f"preferences_{shown.notice}")
    logger().info("preference page answered", notice=shown.notice)
    status = _STATUS.get(shown.notice, 200) if shown.notice else 200
    return _page(status, preferences.preference_page(shown))


@app.get("/email/<token>")
def email(token: str) -> Response[str]:
    """The email of a run."""
    preferences = build()
    return email_answer(_found(preferences.email(token)))


@app.get("/updates/<token>")
def updates(token: str) -> Response[str]:
    """All updates of a run, those left out of its email included."""
    preferences = build()
    return _page(200, _found(preferences.updates(token)))


@app.not_found
@app.exception_handler(InvalidToken)  # type: ignore[untyped-decorator] # not annotated there
def missing(_: Exception) -> Response[str]:
    """The same for another path, a link that is wrong, and one whose subscriber is gone."""
    return _page(404, build().pages.invalid_link(_accepted()))


@app.exception_handler(Exception)  # type: ignore[untyped-decorator] # not annotated there
def apologise(_: Exception) -> Response[str]:
    """Any other error: it is in the log, with an alarm."""
    count("page_failed")
    logger().exception("page failed")
    return _page(500, build().pages.went_wrong(_accepted()))


def _found(html: str | None) -> str:
    if html is None:
        raise InvalidToken("Nothing is known of this run.")
    return html


def _accepted() -> str:
    """The languages that the browser asks for."""
    return app.current_event.headers.get("accept-language") or ""


def _page(status: int, html: str) -> Response[str]:
    preferences = build()
    return page_answer(status, html, styles=preferences.styles, images=preferences.images)


during_init(build)
