"""Answers to a reader's browser, and what it may do with them. Only handlers use this."""

from aws_lambda_powertools.event_handler import Response

_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex",
}
_NOTHING = "default-src 'none'; base-uri 'none'; frame-ancestors 'none'"


def page_answer(status: int, html: str, *, styles: str, images: str = "") -> Response[str]:
    """A page of our own: its style is named by hash, and its forms come back to where it is.

    `images`: where its logo is, if it has one.
    """
    policy = f"{_NOTHING}; form-action 'self'; style-src {styles}"
    return _answer(status, html, f"{policy}; img-src {images}" if images else policy)


def email_answer(html: str) -> Response[str]:
    """An email: it has styles at its elements and pictures from anywhere; scripts it has none."""
    policy = f"{_NOTHING}; form-action 'none'; img-src https:; style-src 'unsafe-inline'"
    return _answer(200, html, policy)


def _answer(status: int, html: str, policy: str) -> Response[str]:
    return Response(
        status_code=status,
        content_type="text/html; charset=utf-8",
        body=html,
        headers={**_HEADERS, "Content-Security-Policy": policy},
    )
