"""Emails and pages, and the links in them.

Every port may raise `Unavailable`; the caller then cannot know whether a write was made, and
does the same again. All instants are timezone-aware UTC.
"""

from dataclasses import dataclass
from typing import Protocol

from gazette.domain.delivery.compose import Digest, Ranking
from gazette.domain.links import LinkKeys
from gazette.domain.model import Edition, RunKey
from gazette.domain.subscribers.subscriber import Subscriber


class Renderer(Protocol):
    """Permits a digest into an email."""

    def ranking(self, variation: int) -> Ranking:
        """What comes first in the digests of a variation."""

    def render(
        self,
        digest: Digest,
        subscriber: Subscriber,
        links: "Links",
        schedule: str,
        *,
        variation: int = 1,
    ) -> Edition:
        """The edition for this reader. Deterministic: the same input makes the same bytes.

        It may show fewer groups than `digest` has, the first ones, and counts the others as left
        out. `schedule` is the run's: the email says why, and how often, the reader gets it.
        Raises RenderingFailed for whatever a template cannot show.
        """


@dataclass(frozen=True, slots=True)
class CacheCount:
    """How often something was there already, and how often it had to be made."""

    found: int
    made: int


@dataclass(frozen=True, slots=True)
class Links:
    """The reader's own links, signed, https.

    `preferences`: the page of choices. `email`: this email in the browser. `updates`: everything
    of its run, also what the email leaves out.
    """

    unsubscribe: str
    preferences: str
    email: str
    updates: str


class LinkMaker(Protocol):
    """Makes the signed links of an email."""

    def links(self, key: RunKey) -> Links:
        """The links for the reader of this run. Raises Unavailable where no key is known."""


class KeyStore(Protocol):
    """Where the keys lie that sign the links."""

    def read(self) -> LinkKeys:
        """As they are stored now. Raises InvalidKeys, with what to do."""

    def replace(self, keys: LinkKeys) -> bool:
        """Store them if what is there is still what `read` returned last; else False."""


class Pages(Protocol):
    """The web pages that a reader sees. Each returns a whole HTML document.

    `accepted` is what the browser says it speaks (Accept-Language), where nobody asked who reads.
    """

    def confirm_unsubscribe(self, accepted: str) -> str:
        """Asks before anything happens; its button repeats the request as a POST."""

    def unsubscribed(self, accepted: str) -> str:
        """Says that it is done."""

    def invalid_link(self, accepted: str) -> str:
        """Says that a link does not work and what to do, the same whatever the cause."""

    def went_wrong(self, accepted: str) -> str:
        """Says that it is not the reader's fault, and what to do."""

    def not_sent(self, reader: Subscriber) -> str:
        """Says that there is nothing to see before an email is sent."""

    def nothing_left(self, reader: Subscriber) -> str:
        """Says that nothing of what an email showed is still there."""

    def updates(self, digest: Digest, reader: Subscriber) -> str:
        """Each group of the digest with its link, people, count and time."""
