"""Emails and pages, and the links in them.

Every port may raise `Unavailable`. The caller then cannot know whether a write was made, and
repeats the call. All instants are timezone-aware UTC.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from gazette.domain.delivery.arrangement import Arrangement
from gazette.domain.delivery.compose import Digest
from gazette.domain.links import LinkKeys, LinkToken, Scope
from gazette.domain.model import Edition
from gazette.domain.subscribers.leaving import Leaving
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.domain.templates.settings import NO_SETTINGS, VersionSettings
from gazette.domain.templates.versions import Version


class Renderer(Protocol):
    """A renderer of digests. Threads may share it."""

    def arrangement(self, variation: int, of_stage: Arrangement) -> Arrangement:
        """Return the arrangement of the stage with the overrides of a variation."""

    def render(
        self,
        digest: Digest,
        subscriber: Subscriber,
        links: "Links",
        schedule: str,
        *,
        variation: int = 1,
        due_at: datetime | None = None,
    ) -> Edition:
        """Return the edition for this reader. Deterministic: the same input makes the same bytes.

        It may show only the first blocks of `digest`, and counts the others as left out.
        `schedule`: the run's schedule, so that the email can explain why, and how often, the reader
        gets it. `due_at`: the run's due time, whose day is part of a digest's subject, so that
        consecutive subjects differ. Raises RenderingFailed if a template cannot render a value.
        """

    def said(
        self, digest: Digest, subscriber: Subscriber, *, variation: int = 1
    ) -> Sequence[Sequence[str]]:
        """Return the text of each line of each block for this reader. Raises RenderingFailed."""


@dataclass(frozen=True, slots=True)
class VersionTemplates:
    """A loaded template version: its renderer and its settings."""

    number: int
    """0 is the deployed version."""

    renderer: Renderer
    settings: VersionSettings = NO_SETTINGS


class TemplateLibrary(Protocol):
    """The versions that a process has loaded; others are loaded once. Threads may share it."""

    @property
    def deployed(self) -> VersionTemplates:
        """The version that was deployed with the code."""

    def get(self, version: Version) -> VersionTemplates:
        """Return a version, verified and loaded.

        Raises Unavailable if it cannot be read now, VersionUnusable if this process cannot use it,
        and VersionGone if it certainly no longer exists. The answer is cached for a minute.
        """

    def numbered(self, number: int) -> VersionTemplates:
        """Return a version by its number, in force or not. Raises the same errors as `get`."""


@dataclass(frozen=True, slots=True)
class CacheCount:
    """The hits and misses of a cache."""

    hits: int
    misses: int


def _nowhere(_: Scope) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Links:
    """The reader's own links: signed, https."""

    unsubscribe: str
    """The unsubscribe link. Empty in the browser, because readers share what they see there."""

    preferences: str
    """The link to the preference page. Empty in the browser, for the same reason."""

    email: str
    """The link to this email in the browser."""

    updates: str
    """The link to every event of its run, including events that the email omits."""

    leave: Callable[[Scope], str] = field(default=_nowhere, compare=False)
    """A function that makes the link to unsubscribe from a scope.

    It returns an empty text in the browser.
    """


class LinkMaker(Protocol):
    """A maker of the signed links of an email."""

    def links(self, link: LinkToken) -> Links:
        """Return the links with this content. Raises Unavailable if no key is known."""


class KeyStore(Protocol):
    """The store of the keys that sign links."""

    def read(self) -> LinkKeys:
        """Return the stored keys. Raises InvalidKeys, which names the remedy."""

    def replace(self, keys: LinkKeys) -> bool:
        """Store the keys if the stored ones are still those that `read` last returned; else return
        False.
        """


class Pages(Protocol):
    """The web pages for readers. Each method returns a whole HTML document.

    `accepted` is the browser's Accept-Language header, for pages that do not know the reader.
    """

    def confirm_leaving(self, accepted: str, leaving: Leaving, *, settings: str) -> str:
        """Show the effect of a link, and for which reader. Buttons repeat the request as a POST.

        `settings`: the link to the reader's preference page, or empty.
        """

    def left(self, accepted: str, leaving: Leaving, *, undo: str, settings: str) -> str:
        """Confirm the change, and offer the rest. `undo`: the token that undoes it, or empty."""

    def invalid_link(self, accepted: str) -> str:
        """Show that a link is invalid, and the remedy. The text is the same for every cause."""

    def ended_link(self, accepted: str, *, is_mailed: bool) -> str:
        """Show that a link to the preferences has expired, and offer to mail a new one.

        `is_mailed`: show instead that it was mailed, if the reader still gets email.
        """

    def went_wrong(self, accepted: str) -> str:
        """Show that an error occurred that is not the reader's fault, and the remedy."""

    def not_sent(self, reader: Subscriber) -> str:
        """Show that the email has not been sent yet, so that there is nothing to see."""

    def nothing_left(self, reader: Subscriber) -> str:
        """Show that none of the events of the email is still stored."""

    def updates(self, digest: Digest, reader: Subscriber, said: Sequence[Sequence[str]]) -> str:
        """Show each block of the digest with its link, the text of its lines, and its time."""
