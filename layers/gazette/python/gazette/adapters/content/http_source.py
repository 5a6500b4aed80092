"""A recommendation service over HTTP (docs/content.md), and its bearer token."""

import math
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from urllib.parse import urlencode, urlsplit

from gazette.adapters.aws.secrets import read_secret
from gazette.adapters.content.connection import Connection, HttpAnswer
from gazette.adapters.content.items import Normaliser
from gazette.domain.content.items import Answer
from gazette.domain.content.ports import Question
from gazette.domain.errors import InvalidKeys, SourceFailed
from gazette.domain.ports.clock import Clock

LARGEST_ANSWER = 524_288
"""The maximum size of a response body in bytes. A hundred items with the longest allowed fields
take about 320,000 bytes in ASCII.
"""

_OK, _NOTHING_NEW = 200, 204

_REFUSES = {429, 503}
"""The status codes by which a service asks for fewer requests (RFC 6585, section 4; RFC 9110,
section 15.6.4)."""


class HttpSource:
    """Implementation of the `ContentSource` port for a service that answers GET requests at `url`.

    `token` returns the bearer token, or an empty string. `normaliser` converts a response into
    items.
    """

    def __init__(
        self,
        url: str,
        *,
        connection: Connection,
        token: Callable[[], str],
        normaliser: Normaliser,
        clock: Clock,
    ) -> None:
        parts = urlsplit(url)
        self._target = (parts.path or "/") + "?" + (f"{parts.query}&" if parts.query else "")
        self._connection = connection
        self._token = token
        self._normaliser = normaliser
        self._clock = clock

    def ask(self, question: Question) -> Answer:
        """Send one GET request without retries. Raises SourceFailed."""
        answer = self._connection.get(self._target + _query(question), self._headers())
        if answer.status == _NOTHING_NEW:
            return Answer()
        if answer.status != _OK:
            raise self._failure(answer)
        if answer.headers.get("content-encoding", "identity") != "identity":
            raise SourceFailed(
                "The response has a content encoding, which the request did not allow."
            )
        return self._normaliser.read(answer.body, now=self._clock())

    def _headers(self) -> Mapping[str, str]:
        headers = {
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "User-Agent": "gazette",
        }
        token = self._token()
        return headers | ({"Authorization": f"Bearer {token}"} if token else {})

    def _failure(self, answer: HttpAnswer) -> SourceFailed:
        why = f"It answered with status {answer.status}."
        if 300 <= answer.status < 400:
            why = f"It answered with status {answer.status}: redirects are not followed."
        if answer.status not in _REFUSES:
            return SourceFailed(why)
        wait = retry_after(answer.headers.get("retry-after", ""), now=self._clock())
        return SourceFailed(why, refuses=True, retry_after=wait)


def read_token(secret: str) -> str:
    """Read the token from a secret with one GetSecretValue, and strip surrounding spaces.

    Raises Unavailable if the token cannot be read. Raises InvalidKeys if the token contains
    characters that an Authorization header does not allow (RFC 6750, section 2.1).
    """
    token = (
        read_secret(secret, "The recommendation service's token").get("SecretString", "").strip()
    )
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise InvalidKeys(
            f"The secret {secret} does not contain a bearer token. Store only the token as the "
            "text of the secret, in printable ASCII without spaces."
        )
    return token


def retry_after(header: str, *, now: datetime) -> timedelta:
    """Return the delay in a Retry-After header, or zero if the value is neither seconds nor a date.
    https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3
    """
    if header.isascii() and header.isdigit():
        return timedelta(seconds=min(int(header[:9]), 999_999_999))
    try:
        at = parsedate_to_datetime(header)
    except (TypeError, ValueError, IndexError, OverflowError):
        return timedelta(0)
    at = at.replace(tzinfo=UTC) if at.tzinfo is None else at
    return max(timedelta(seconds=math.ceil((at - now).total_seconds())), timedelta(0))


def _query(question: Question) -> str:
    parameters = {
        "user_id": question.user_id,
        "digest": question.schedule,
        "limit": str(question.limit),
        "locale": question.locale,
        "time_zone": question.time_zone,
        "until": question.until.isoformat(),
    }
    if question.since:
        parameters["since"] = question.since.isoformat()
    return urlencode(parameters)
