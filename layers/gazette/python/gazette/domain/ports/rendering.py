"""Renderers of emails and pages, and the links in them.

Every port may raise `Unavailable`. The caller then cannot know whether a write succeeded, and
repeats the call. All instants are timezone-aware UTC.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import TYPE_CHECKING, Protocol

from gazette.domain.delivery.arrangement import Arrangement
from gazette.domain.delivery.compose import Digest
from gazette.domain.links import LinkKeys, LinkToken, Scope
from gazette.domain.model import Edition
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.domain.templates.settings import NO_SETTINGS, VersionSettings
from gazette.domain.templates.versions import Version

if TYPE_CHECKING:
    from gazette.domain.subscribers.leaving import Keeping, Leaving


class Renderer(Protocol):
    """A renderer of digests, which several threads may share."""

    def arrangement(self, variation: int, of_stage: Arrangement) -> Arrangement:
        """Return the stage's arrangement with the overrides of a variation."""

    def render(
        self,
        digest: Digest,
        subscriber: Subscriber,
        links: "Links",
        schedule: str,
        *,
        variation: int = 1,
        due_at: datetime | None = None,
        is_first: bool = False,
    ) -> Edition:
        """Render the digest for this reader. The same input always produces the same bytes.

        The email may show only the first blocks of `digest`. It counts the remaining blocks as
        omitted. `schedule` is the run's schedule, which the email uses to explain why and how often
        it is sent. `due_at` is the run's due time. Its day is part of a digest's subject, so that
        consecutive subjects differ. `is_first` is True for the first digest of a new reader. Raises
        RenderingFailed if a template cannot render a value.
        """

    def said(
        self, digest: Digest, subscriber: Subscriber, *, variation: int = 1
    ) -> Sequence[Sequence[str]]:
        """Return the text of each line in each block, for this reader. Raises RenderingFailed."""

    def buttons(
        self, digest: Digest, subscriber: Subscriber, *, variation: int = 1
    ) -> Sequence[str]:
        """Return the text of each block's button, for this reader. Raises RenderingFailed."""


@dataclass(frozen=True, slots=True)
class VersionTemplates:
    """A loaded template version, with its renderer and settings."""

    number: int
    """The number of the version; 0 for the deployed version."""

    renderer: Renderer
    settings: VersionSettings = NO_SETTINGS


class TemplateLibrary(Protocol):
    """The template versions that a process has loaded. Threads may share the library.

    Versions other than the deployed version are loaded once, when they are needed.
    """

    @property
    def deployed(self) -> VersionTemplates:
        """The template version that was deployed with the code."""

    def get(self, version: Version) -> VersionTemplates:
        """Return a template version, verified and loaded.

        Raises Unavailable if the version cannot be read now, VersionUnusable if this process cannot
        use the version, and VersionGone if it certainly no longer exists. The result is cached for
        a minute.
        """

    def numbered(self, number: int) -> VersionTemplates:
        """Return the template version with this number, even if it is not in force.

        Raises the same errors as `get`.
        """


@dataclass(frozen=True, slots=True)
class CacheCount:
    """The hits and misses of a cache."""

    hits: int
    misses: int


def _nowhere(_: Scope) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class SunsetNotice:
    """The notice in one of the last digests before an inactive reader becomes dormant."""

    ends_on: date
    """The date on which the reader becomes dormant, in the reader's time zone."""

    keep: str
    """The link to the page on which the reader keeps the digest."""

    weekly: str
    """The link to the page on which the reader makes the digest weekly."""

    @classmethod
    def of(cls, ends_on: date, keep: str) -> "SunsetNotice":
        """Return the notice whose links lead to the page `keep`."""
        return cls(ends_on, keep, f"{keep}?offer=weekly")


@dataclass(frozen=True, slots=True)
class Links:
    """The signed https links for one reader."""

    unsubscribe: str
    """The unsubscribe link; empty in the browser view, because readers may share the page."""

    preferences: str
    """The link to the preference page; empty in the browser view, because readers may share the
    page."""

    email: str
    """The link to view this email in the browser."""

    updates: str
    """The link to a page that shows every event of the run, including events that the email
    omits."""

    leave: Callable[[Scope], str] = field(default=_nowhere, compare=False)
    """A function that returns the link to unsubscribe from a scope.

    The function returns an empty string in the browser view.
    """

    keep: Callable[[], str] = field(default=str, compare=False)
    """A function that returns the link to keep the digest; empty in the browser view."""

    sunset: SunsetNotice | None = None
    """The notice that the digests end soon, or None. Templates may omit the notice."""

    fallback: str = ""
    """The frequency of the digest that gets the events if the reader ends immediate emails. Empty
    if the reader has no such digest."""


@dataclass(frozen=True, slots=True)
class BlockControls:
    """The reader's own controls for a block in the list of updates."""

    mute: str = ""
    """The page that mutes the block's entity; empty if the reader cannot mute it."""

    is_muted: bool = False
    """True if the reader has muted the entity."""

    unfollow: str = ""
    """The page that ends the follows that caused the block; empty if the reader no longer follows
    these entities."""

    followed: tuple[str, ...] = ()
    """The titles or keys of these entities; empty if the reader follows the block's own entity."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateList:
    """The content of one page of the list of a run's updates."""

    digest: Digest
    """The blocks of this page, and the number of all updates."""

    lines: Sequence[Sequence[str]]
    """The text of each line in each block."""

    buttons: Sequence[str]
    """The text of each block's button."""

    controls: Sequence[BlockControls]
    """The controls for each block. They are empty if readers may share the page."""

    due_at: datetime
    """The due time of the run."""

    start: int
    """The number of blocks on earlier pages."""

    total: int
    """The number of blocks on all pages."""

    per_page: int
    """The maximum number of blocks on a page."""

    has_parts: bool = False
    """True if the blocks of all pages are in several parts of a digest without sections."""


class LinkMaker(Protocol):
    """A factory for the signed links in an email."""

    def links(self, link: LinkToken) -> Links:
        """Return the links for a token. Raises Unavailable if no key is known."""


class AppLinkMaker(Protocol):
    """A factory for the signed links that apps request."""

    def app_link(self, link: LinkToken) -> str:
        """Return the link to the preference page for a token. Raises Unavailable if no key is
        known."""


class KeyStore(Protocol):
    """The store of the keys that sign links."""

    def read(self) -> LinkKeys:
        """Return the stored keys. Raises InvalidKeys, whose error text names the fix."""

    def replace(self, keys: LinkKeys) -> bool:
        """Replace the stored keys if they have not changed since the last `read`; else return
        False."""


class Pages(Protocol):
    """The web pages for readers. Each method returns a whole HTML document.

    `accepted` is the browser's Accept-Language header, which sets the language if the reader is
    unknown.
    """

    def confirm_leaving(self, accepted: str, leaving: "Leaving", *, settings: str) -> str:
        """Return a page that shows what an unsubscribe link does, and for whom, and asks for
        confirmation.

        Buttons repeat the request as a POST. `settings` is the link to the reader's preference
        page, or empty.
        """

    def left(
        self,
        accepted: str,
        leaving: "Leaving",
        *,
        undo: str,
        settings: str,
        updates: str = "",
        start: str = "",
    ) -> str:
        """Return a page that confirms an unsubscription and offers to unsubscribe from other
        scopes.

        `undo` is the token that undoes the change, or empty. `updates` is the link back to the list
        of updates whose page begins at `start`. Both are empty if the reader did not come from it.
        """

    def keep(self, keeping: "Keeping", *, settings: str) -> str:
        """Return a page that offers a button with which an inactive reader keeps the digest, or
        confirms the button.

        `settings` is the link to the reader's preference page, or empty.
        """

    def invalid_link(self, accepted: str) -> str:
        """Return a page that says that a link is invalid, and what to do.

        The text is the same for every cause.
        """

    def ended_link(self, accepted: str, *, is_mailed: bool) -> str:
        """Return a page that says that a preference link has expired, and offers to email a new
        link.

        With `is_mailed`, the page says instead that the new link was sent, if the reader still gets
        email.
        """

    def went_wrong(self, accepted: str) -> str:
        """Return a page that says that an internal error occurred, and what to do."""

    def not_sent(self, reader: Subscriber) -> str:
        """Return a page that says that the email has not been sent yet."""

    def nothing_left(self, reader: Subscriber) -> str:
        """Return a page that says that the email's events are no longer stored."""

    def updates(self, listed: UpdateList, reader: Subscriber) -> str:
        """Return a page that shows blocks with their links, pictures, lines, quotes and times, and
        with the reader's controls.

        If the page is too large, it shows only the first blocks, and the next page begins with the
        next block.
        """
