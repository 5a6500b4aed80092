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
    """Renders a digest as an email. Threads may share it."""

    def arrangement(self, variation: int, of_stage: Arrangement) -> Arrangement:
        """Return the arrangement of the stage with what a variation says otherwise."""

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
        `schedule`: the run's; the email says why, and how often, the reader gets it.
        `due_at`: of the run; its day is in the subject of a digest, which is therefore another one
        than that of the digest before. Raises RenderingFailed if a template cannot show something.
        """

    def said(
        self, digest: Digest, subscriber: Subscriber, *, variation: int = 1
    ) -> Sequence[Sequence[str]]:
        """Return what the lines of each block say to this reader. Raises RenderingFailed."""


@dataclass(frozen=True, slots=True)
class VersionTemplates:
    """A version as a process has it: what renders its emails, and the settings that belong to it.

    `number`: 0 is what was deployed.
    """

    number: int
    renderer: Renderer
    settings: VersionSettings = NO_SETTINGS


class TemplateLibrary(Protocol):
    """The versions that a process has; others are loaded once. Threads may share it."""

    @property
    def deployed(self) -> VersionTemplates:
        """What was deployed with the code."""

    def get(self, version: Version) -> VersionTemplates:
        """Return a version, verified and loaded.

        Raises Unavailable if it cannot be read now, VersionUnusable if this process cannot use it,
        and VersionGone if it is surely gone. For a minute after that the answer is the same.
        """

    def numbered(self, number: int) -> VersionTemplates:
        """Return a version by its number, whether it is in force or not. Raises as `get`."""


@dataclass(frozen=True, slots=True)
class CacheCount:
    """Hits and misses of a cache: how often a value was `found`, and how often it was `made`."""

    found: int
    made: int


def _nowhere(_: Scope) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Links:
    """The reader's own links, signed, https.

    `preferences`: the preference page. `email`: this email in the browser. `updates`: every event
    of its run, including those that the email leaves out. In the browser `unsubscribe` and
    `preferences` are empty: people share what they see there. `leave` makes the link by which the
    reader leaves a scope; an empty one in the browser.
    """

    unsubscribe: str
    preferences: str
    email: str
    updates: str
    leave: Callable[[Scope], str] = field(default=_nowhere, compare=False)


class LinkMaker(Protocol):
    """Makes the signed links of an email."""

    def links(self, link: LinkToken) -> Links:
        """Return the links with this content. Raises Unavailable if no key is known."""


class KeyStore(Protocol):
    """Where the keys that sign links are stored."""

    def read(self) -> LinkKeys:
        """Return the keys as they are stored now. Raises InvalidKeys, which says what to do."""

    def replace(self, keys: LinkKeys) -> bool:
        """Store the keys if the stored ones are still as `read` returned them last; else False."""


class Pages(Protocol):
    """The web pages that a reader sees. Each returns a whole HTML document.

    `accepted` is the browser's Accept-Language header, for pages that do not know the reader.
    """

    def confirm_leaving(self, accepted: str, leaving: Leaving, *, settings: str) -> str:
        """Say what a link does, and for whom; buttons repeat the request as a POST.

        `settings`: the link to the reader's preference page, or empty.
        """

    def left(self, accepted: str, leaving: Leaving, *, undo: str, settings: str) -> str:
        """Say what was done, and offer the rest. `undo`: the token that takes it back, or empty."""

    def invalid_link(self, accepted: str) -> str:
        """Say that a link does not work, and what to do; the same text whatever the cause."""

    def ended_link(self, accepted: str, *, is_mailed: bool) -> str:
        """Say that a link to the preferences has ended, and offer to mail a new one.

        `is_mailed`: say instead that it is on its way, if the reader still gets email.
        """

    def went_wrong(self, accepted: str) -> str:
        """Say that an error occurred that is not the reader's fault, and what to do."""

    def not_sent(self, reader: Subscriber) -> str:
        """Say that there is nothing to see before the email is sent."""

    def nothing_left(self, reader: Subscriber) -> str:
        """Say that none of the events of the email is still stored."""

    def updates(self, digest: Digest, reader: Subscriber, said: Sequence[Sequence[str]]) -> str:
        """Show each block of the digest with its link, what its lines say, and its time."""
