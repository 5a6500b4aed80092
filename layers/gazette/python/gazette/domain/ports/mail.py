"""The mail provider, and the proof that its delivery events arrive.

Every port may raise `Unavailable`. The caller then cannot know whether a write was made, and
repeats the call. All instants are timezone-aware UTC.
"""

from datetime import datetime, timedelta
from typing import Protocol

from gazette.domain.delivery.pace import Quota
from gazette.domain.delivery.signals import SendOutcome
from gazette.domain.model import Mail

SMTP_COMMANDS = 7
"""The most commands for one email: EHLO, STARTTLS, EHLO again, AUTH, MAIL, RCPT, DATA (RFC 5321).
"""


class Mailer(Protocol):
    """The provider that delivers email."""

    def send(self, mail: Mail, attempt: int) -> SendOutcome:
        """Send one message in exactly one request, without retries, and return the outcome.

        Returns within the send time-out. Never raises for a fault of the provider or the network,
        but returns `Uncertain` if the outcome is unknown.
        """


class EvidenceLog(Protocol):
    """The log of sending times whose delivery events have arrived."""

    def record(self, sent_at: datetime) -> None:
        """Record that a delivery event of an email sent at this instant has been processed."""

    def latest(self) -> datetime | None:
        """Return the latest such instant, to within some seconds; None if there was none."""


class EvidenceBacklog(Protocol):
    """The delivery events that are waiting to be processed."""

    def is_clear(self, grace: timedelta) -> bool:
        """Return True if no event has waited for longer than `grace`, and none has failed."""


class Canary(Protocol):
    """An email to the mailbox simulator, whose delivery event proves that such events arrive."""

    def send(self) -> None:
        """Send a canary. Only its delivery events show the outcome."""


class Account(Protocol):
    """The account with the mail provider."""

    def quota(self) -> Quota:
        """Return the current quota of the account. Raises Unavailable if it is unknown."""
