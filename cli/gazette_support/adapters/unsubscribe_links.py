"""The unsubscribe links of a stage, used as a browser and as a mail program use them."""

import urllib.error
import urllib.request
from http.client import HTTPException
from typing import Any

from botocore.exceptions import ClientError
from gazette.adapters.aws.link_keys import SecretKeyStore
from gazette.adapters.web.links import SignedLinks
from gazette.domain.errors import InvalidKeys, Unavailable
from gazette.domain.links import EVERYTHING, LinkToken

from gazette_support.domain.acceptance.rows import NotShown

_PATIENCE = 30
"""The time-out of a request in seconds."""

_DENIED = {"AccessDenied", "AccessDeniedException"}
_NEEDED = (
    "The link-signing key is not readable: {why}. The email at SES's simulator cannot be read, so "
    "the command makes the same link. Your credentials need secretsmanager:GetSecretValue on the "
    "secret. Or run the command with --to and your own address, and click the link in the email."
)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A handler that returns redirects as they are, because RFC 8058 forbids them for one click."""

    def redirect_request(self, *_: Any) -> None:
        """Do not follow the redirect."""


class UnsubscribeLinks:
    """Implementation of the `OneClick` port. `secret` has the link-signing keys."""

    def __init__(self, secret: str, *, base_url: str) -> None:
        self._secret = secret
        self._base_url = base_url
        self._opener = urllib.request.build_opener(_NoRedirects)

    def link(self, token: LinkToken) -> str:
        """Return the link that ends all email, with one GetSecretValue."""
        try:
            keys = SecretKeyStore(self._secret).read()
        except InvalidKeys as err:
            raise NotShown(_NEEDED.format(why=err)) from err
        except Unavailable as err:
            cause = err.__cause__
            is_denied = (
                isinstance(cause, ClientError)
                and cause.response.get("Error", {}).get("Code") in _DENIED
            )
            if not is_denied:
                raise
            raise NotShown(_NEEDED.format(why="access denied")) from err
        return (
            SignedLinks(base_url=self._base_url, keys=lambda: keys).links(token).leave(EVERYTHING)
        )

    def open(self, link: str) -> int:
        """Open the link with GET, as a browser or a link scanner does."""
        return self._status(urllib.request.Request(link))  # noqa: S310  # the stage's own URL

    def click(self, link: str) -> int:
        """Send the POST request of RFC 8058, section 3.2.

        https://www.rfc-editor.org/rfc/rfc8058#section-3.2
        """
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        body = b"List-Unsubscribe=One-Click"
        return self._status(urllib.request.Request(link, body, form))  # noqa: S310

    def _status(self, request: urllib.request.Request) -> int:
        """Return the status of the response; 0 if there is none."""
        try:
            with self._opener.open(request, timeout=_PATIENCE) as response:
                return int(response.status)
        except urllib.error.HTTPError as err:
            return err.code
        except (OSError, HTTPException):
            return 0
