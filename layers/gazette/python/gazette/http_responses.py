"""HTTP responses to readers' browsers, with their security headers. Only handlers use this."""

from aws_lambda_powertools.event_handler import Response

_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "Strict-Transport-Security": "max-age=63072000",
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex",
}
_NOTHING = "default-src 'none'; base-uri 'none'; frame-ancestors 'none'"


def page_answer(status: int, html: str, *, styles: str, images: str = "") -> Response[str]:
    """A page of Gazette. Its policy allows one style sheet, by hash, and forms to its own origin.

    `images`: the origin of the logo, if there is one.
    """
    policy = f"{_NOTHING}; form-action 'self'; style-src {styles}"
    return _answer(status, html, f"{policy}; img-src {images}" if images else policy)


def email_answer(html: str) -> Response[str]:
    """An email as a page. Its policy allows inline styles and https images, but no scripts."""
    policy = f"{_NOTHING}; form-action 'none'; img-src https:; style-src 'unsafe-inline'"
    return _answer(200, html, policy)


def _answer(status: int, html: str, policy: str) -> Response[str]:
    return Response(
        status_code=status,
        content_type="text/html; charset=utf-8",
        body=html,
        headers={**_HEADERS, "Content-Security-Policy": policy},
    )
