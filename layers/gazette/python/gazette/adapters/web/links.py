"""Signed links in emails, and their tokens."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from gazette.domain.errors import EndedLink, InvalidToken
from gazette.domain.links import (
    LinkKeys,
    LinkToken,
    Purpose,
    Scope,
    for_purpose,
    read_link,
    sign,
    verify,
)
from gazette.domain.ports.clock import Clock
from gazette.domain.ports.rendering import Links


class SignedLinks:
    """Implementation of the ports `LinkMaker` and `AppLinkMaker`.

    Links begin with `base_url` and are signed with the newest key.
    """

    def __init__(self, *, base_url: str, keys: Callable[[], LinkKeys]) -> None:
        self._base_url = base_url.rstrip("/")
        self._keys = keys

    def links(self, link: LinkToken) -> Links:
        """Return the links of an email. All tokens contain the same values, and tokens of
        unsubscribe links also contain a scope.
        """
        keys = self._keys()

        def token_for(purpose: Purpose, scope: Scope) -> str:
            return sign(replace(link, scope=scope).to_text(), purpose=purpose, keys=keys)

        known: dict[Scope, str] = {}

        def leave(scope: Scope) -> str:
            if scope not in known:
                token = token_for(Purpose.UNSUBSCRIBE, scope)
                known[scope] = f"{self._base_url}/unsubscribe/{token}"
            return known[scope]

        preferences = token_for(Purpose.PREFERENCES, link.scope)
        return replace(
            links_of_view(token_for(Purpose.RUN, link.scope), base_url=self._base_url),
            updates=f"{self._base_url}/updates/{token_for(Purpose.UPDATES, link.scope)}",
            unsubscribe=leave(link.scope),
            preferences=f"{self._base_url}/preferences/{preferences}",
            leave=leave,
            keep=lambda: f"{self._base_url}/keep/{token_for(Purpose.KEEP, link.scope)}",
        )

    def app_link(self, link: LinkToken) -> str:
        """Return a link to the preference page for an app. It is not valid as a link of an
        email."""
        token = sign(link.to_text(), purpose=Purpose.APP, keys=self._keys())
        return f"{self._base_url}/preferences/{token}"


def links_of_view(token: str, *, base_url: str) -> Links:
    """Return the links in the browser version of an email. These links can only display content.

    Readers may share the address of this page, so its links must not unsubscribe anyone or change
    preferences. The links reuse the token instead of re-signing it, so a token that was forged with
    a leaked key becomes invalid when the key is retired.
    """
    below = base_url.rstrip("/")
    return Links(
        unsubscribe="",
        preferences="",
        email=f"{below}/email/{token}",
        updates=f"{below}/updates/{token}",
    )


class LinkReader:
    """A decoder that verifies the tokens in links."""

    def __init__(self, *, keys: Callable[[], LinkKeys], clock: Clock) -> None:
        self._keys = keys
        self._clock = clock

    def read(self, token: str, *purposes: Purpose) -> LinkToken:
        """Verify a token for one of the purposes, and return its content.

        Raises InvalidToken, and EndedLink if the token has expired.
        """
        return self._unexpired(token, purposes)[0]

    def read_list(self, token: str) -> tuple[LinkToken, bool]:
        """Verify the token of a list of updates. Return its content, and True if the link is the
        reader's own, or False if readers may share it.

        Raises InvalidToken, and EndedLink if the token has expired.
        """
        link, purpose = self._unexpired(token, (Purpose.UPDATES, Purpose.RUN))
        return link, purpose is Purpose.UPDATES

    def _unexpired(self, token: str, purposes: Sequence[Purpose]) -> tuple[LinkToken, Purpose]:
        link, purpose = self._verified(token, purposes)
        if link.has_expired(purpose, self._clock().date()):
            raise EndedLink("This link has expired.")
        return link, purpose

    def read_ended(self, token: str, *purposes: Purpose) -> LinkToken:
        """Verify a token for one of the purposes, and return its content even if the token has
        expired. Raises InvalidToken.
        """
        return self._verified(token, purposes)[0]

    def _verified(self, token: str, purposes: Sequence[Purpose]) -> tuple[LinkToken, Purpose]:
        """Return the content of a token, and the purpose for which it is valid.

        Raises InvalidToken.
        """
        keys = self._keys()
        *others, last = purposes
        for purpose in others:
            with suppress(InvalidToken):
                return read_link(verify(token, purpose=purpose, keys=keys)), purpose
        return read_link(verify(token, purpose=last, keys=keys)), last

    def settings(self, token: str, *, of: Purpose = Purpose.UNSUBSCRIBE) -> str:
        """Return the relative link from a page to the preference page, or an empty string if the
        token has expired.

        `of` is the purpose of the page's token.

        A relative link is correct whatever precedes the path. Raises InvalidToken.
        """
        return self._other_page(token, Purpose.PREFERENCES, of)

    def updates(self, token: str) -> str:
        """Return the relative link from an unsubscribe page to the list of the email's updates, or
        an empty string if the list has expired. Raises InvalidToken.
        """
        return self._other_page(token, Purpose.UPDATES, Purpose.UNSUBSCRIBE)

    def leave(self, token: str, scope: Scope) -> str:
        """Return the relative link from the reader's own list of updates to the unsubscribe page of
        a scope. Raises InvalidToken.
        """
        return self._other_page(token, Purpose.UNSUBSCRIBE, Purpose.UPDATES, scope)

    def _other_page(
        self, token: str, purpose: Purpose, of: Purpose, scope: Scope | None = None
    ) -> str:
        if self.read_ended(token, of).has_expired(purpose, self._clock().date()):
            return ""
        other = for_purpose(token, purpose, of=of, keys=self._keys(), scope=scope)
        return f"../{purpose}/{other}"
