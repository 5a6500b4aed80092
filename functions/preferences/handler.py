"""The reader's links: unsubscribe, by button or with one click from the mail program."""

from typing import Any

from aws_lambda_powertools.event_handler import LambdaFunctionUrlResolver, Response
from aws_lambda_powertools.utilities.typing import LambdaContext
from gazette.bootstrap.preferences import build
from gazette.domain.errors import InvalidToken
from gazette.observability import count, logger, observed

_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex",
}

app = LambdaFunctionUrlResolver()


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """One HTTP request to the function's URL."""
    with observed(context):
        return app.resolve(event, context)


@app.get("/unsubscribe/<token>")
def ask(token: str) -> Response[str]:
    """Change nothing: link scanners open every link of an email."""
    preferences = build()
    preferences.leaver(token)
    return _page(200, preferences.pages.confirm_unsubscribe())


@app.post("/unsubscribe/<token>")
def leave(token: str) -> Response[str]:
    """The page's button and RFC 8058's one-click: no login, no redirect, any form encoding."""
    preferences = build()
    found = preferences.unsubscribe(preferences.leaver(token))
    count("unsubscribed", int(found))
    logger().info("reader unsubscribed", found=found)
    return _page(200, preferences.pages.unsubscribed())


@app.exception_handler(InvalidToken)  # type: ignore[untyped-decorator] # not annotated there
def refuse(_: InvalidToken) -> Response[str]:
    """A link that was cut off, altered, or signed with a key that was retired."""
    return _page(404, build().pages.invalid_link())


def _page(status: int, html: str) -> Response[str]:
    return Response(
        status_code=status, content_type="text/html; charset=utf-8", body=html, headers=_HEADERS
    )
