"""The dependencies of the acceptance, and the values that its steps share."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol, TypeVar

from gazette.domain.delivery.run import Run
from gazette.domain.links import LinkToken
from gazette.domain.model import RunKey
from gazette.domain.ports.clock import Clock
from gazette.domain.ports.ledgers import CategoryHolds, CategoryStats
from gazette.domain.ports.stores import Bounces, Subscribers, Suppressions
from gazette.domain.receipts.receipt import Receipt

from gazette_support.domain.acceptance.readers import Role, SyntheticReader

T = TypeVar("T")


class Waiting(Protocol):
    """The passing of time while an acceptance waits for the stage."""

    def now(self) -> datetime:
        """Return the time by which waiting ends."""

    def until(self, instant: datetime) -> None:
        """Wait until an instant, at which a tick starts digests."""

    def pause(self) -> None:
        """Wait a few seconds, in which the stage may make progress."""


class Quarantine(Protocol):
    """The quarantine of a stage."""

    def take(self, event_id: str) -> str | None:
        """Delete the message with an event, and return its reason. None if there is none."""


class DeadLetters(Protocol):
    """The dead letters of generate."""

    def redrive(self, key: RunKey) -> bool:
        """Put a message of a run on the dead-letter queue, and redrive only this message. Return
        False if the message was not found.
        """


class DeliveryLog(Protocol):
    """The log lines of a stage about an email. Raises NotShown if they cannot be read."""

    def message_ids(self, run: Run, since: datetime) -> frozenset[str]:
        """Return the provider's ids of the messages that were sent for a run."""

    def endings(self, run: RunKey, since: datetime) -> int:
        """Return how often generate processed a message of a run that has ended."""


class OneClick(Protocol):
    """The unsubscribe links of a stage."""

    def link(self, token: LinkToken) -> str:
        """Return the link that ends all email. Raises NotShown if the key cannot be read."""

    def open(self, link: str) -> int:
        """Open a link as a browser does, and return the HTTP status; 0 if there is no response."""

    def click(self, link: str) -> int:
        """Unsubscribe as a mail program does (RFC 8058), and return the HTTP status, or 0."""


class ProviderList(Protocol):
    """The suppression list of the mail provider."""

    def forget(self, address: str) -> None:
        """Remove one spelling of an address, if it is in the list. Raises Unavailable."""


Publish = Callable[[str, Sequence[Mapping[str, Any]]], object]
"""A function that publishes details of a detail type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptanceContext:
    """The stage that is accepted."""

    publish: Publish
    subscribers: Subscribers
    suppressions: Suppressions
    bounces: Bounces
    receipt: Callable[[str, str], Receipt]
    """A function that returns what became of an event of a reader."""

    quarantine: Quarantine
    dead_letters: DeadLetters
    log: DeliveryLog
    one_click: OneClick
    provider_list: ProviderList | None
    """None if the stage sends by SMTP, or if the SES account is in the sandbox."""

    holds: CategoryHolds
    category_stats: CategoryStats
    clock: Clock
    waiting: Waiting
    url: str
    """A link to a host that the stage allows in events."""

    settle_lag: timedelta
    collapse: timedelta
    """The time for which an immediate email collects events."""

    is_ses: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """An acceptance in progress."""

    acceptance: str
    readers: Mapping[Role, SyntheticReader]
    began_at: datetime
    due_at: datetime
    stopped: frozenset[Role]
    """The readers who must not get any more email."""

    is_clicked_by_hand: bool
    """True if an operator clicks the unsubscribe link in their own mailbox."""

    @property
    def in_digest(self) -> list[SyntheticReader]:
        """The readers who get a digest.

        Without a simulator, both readers have the operator's address. Only one of them then gets a
        digest, so that the operator cannot click the link in the wrong one.
        """
        if self.readers[Role.OK].is_simulated:
            return [*self.readers.values()]
        return [self.readers[Role.LEAVES]]


def wait_for(look: Callable[[], T | None], *, until: datetime, waiting: Waiting) -> T | None:
    """Look again and again until there is a value; None if there is none at `until`."""
    while True:
        if (value := look()) is not None:
            return value
        if waiting.now() >= until:
            return None
        waiting.pause()


def let_pass(duration: timedelta, waiting: Waiting) -> None:
    """Wait for a duration."""
    until = waiting.now() + duration
    while waiting.now() < until:
        waiting.pause()


def email_of(reader: SyntheticReader, event_id: str, context: AcceptanceContext) -> Run | None:
    """Return the run whose email contains an event; None if there is none, or more than one."""
    emails = context.receipt(reader.user_id, event_id).emails
    return emails[0].run if len(emails) == 1 else None
