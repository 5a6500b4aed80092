"""The reader's links: unsubscribe, and look in the browser at what was sent."""

from datetime import timedelta
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.utilities.typing import LambdaContext
from gazette.bootstrap.parts.preference_page import body_of
from gazette.bootstrap.preferences import build
from gazette.domain.errors import InvalidToken
from gazette.http_responses import email_answer, page_answer
from gazette.observability import count, logger, observed

app = APIGatewayHttpResolver()


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """One HTTP request that the edge let in."""
    with observed(context):
        return app.resolve(event, context)


@app.get("/unsubscribe/<token>")
def ask(token: str) -> Response[str]:
    """Change nothing: link scanners open every link of an email."""
    preferences = build()
    preferences.leaver(token)
    return _page(200, preferences.pages.confirm_unsubscribe(_accepted()))


@app.post("/unsubscribe/<token>")
def leave(token: str) -> Response[str]:
    """The page's button and RFC 8058's one-click: no login, no redirect, any body whatever."""
    preferences = build()
    found = preferences.unsubscribe(preferences.leaver(token))
    count("unsubscribed", int(found))
    logger().info("reader unsubscribed", found=found)
    return _page(200, preferences.pages.unsubscribed(_accepted()))


@app.get("/preferences/<token>")
def show(token: str) -> Response[str]:
    """The preference page, which changes nothing."""
    preferences = build()
    answer = preferences.page.show(preferences.chooser(token).user_id)
    return _page(answer.status, answer.html)


@app.post("/preferences/<token>")
def choose(token: str) -> Response[str]:
    """One of the buttons of the preference page. The token is all that proves who presses it."""
    preferences = build()
    event = app.current_event
    answer = preferences.page.submit(
        preferences.chooser(token),
        body_of(event.body, is_base64=bool(event.is_base64_encoded)),
        event.headers.get("content-type") or "",
        time_left=_time_left,
    )
    count(f"preferences_{answer.told}")
    logger().info("preference page answered", told=answer.told)
    return _page(answer.status, answer.html)


@app.get("/email/<token>")
def email(token: str) -> Response[str]:
    """The email of a run."""
    preferences = build()
    html = preferences.email(preferences.run(token))
    return _missing() if html is None else email_answer(html)


@app.get("/updates/<token>")
def updates(token: str) -> Response[str]:
    """Everything of a run, also what its email left out."""
    preferences = build()
    html = preferences.updates(preferences.run(token))
    return _missing() if html is None else _page(200, html)


@app.not_found
def nothing_here(_: Exception) -> Response[str]:
    """Another path, or a method that this one does not have."""
    return _missing()


@app.exception_handler(InvalidToken)  # type: ignore[untyped-decorator] # not annotated there
def refuse(_: InvalidToken) -> Response[str]:
    """A link that was cut off, altered, or signed with a key that was retired."""
    return _missing()


@app.exception_handler(Exception)  # type: ignore[untyped-decorator] # not annotated there
def apologise(_: Exception) -> Response[str]:
    """Whatever else goes wrong: it is in the log, with an alarm."""
    count("page_failed")
    logger().exception("page failed")
    return _page(500, build().pages.went_wrong(_accepted()))


def _time_left() -> timedelta:
    return timedelta(milliseconds=app.lambda_context.get_remaining_time_in_millis())


def _missing() -> Response[str]:
    """The same for a wrong link and for one whose reader is gone."""
    return _page(404, build().pages.invalid_link(_accepted()))


def _accepted() -> str:
    """The languages that the browser asks for."""
    return app.current_event.headers.get("accept-language") or ""


def _page(status: int, html: str) -> Response[str]:
    preferences = build()
    return page_answer(status, html, styles=preferences.styles, images=preferences.images)
