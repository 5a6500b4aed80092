"""The mail provider, and the proof that the provider's delivery events arrive.

Every port may raise `Unavailable`. The caller then cannot know whether a write succeeded, and
repeats the call. All instants are timezone-aware UTC.
"""

from datetime import datetime, timedelta
from typing import Protocol

from gazette.domain.delivery.pace import Quota
from gazette.domain.delivery.signals import SendOutcome
from gazette.domain.model import Mail

SMTP_COMMANDS = 7
"""The maximum number of SMTP commands for one email (RFC 5321).

The commands are EHLO, STARTTLS, EHLO again, AUTH, MAIL, RCPT and DATA.
"""


class Mailer(Protocol):
    """The provider that delivers email."""

    def send(self, mail: Mail, attempt: int) -> SendOutcome:
        """Send one message in exactly one request, without retries, and return the outcome.

        Returns within the send time-out. Never raises for an error of the provider or the network,
        but returns `Uncertain` if the outcome is unknown.
        """


class EvidenceLog(Protocol):
    """The log of the sending times of emails whose delivery events have arrived."""

    def record(self, sent_at: datetime) -> None:
        """Record that a delivery event of an email sent at `sent_at` has been processed."""

    def latest(self) -> datetime | None:
        """Return the latest recorded sending time, accurate to a few seconds; None if there is no
        record."""


class EvidenceBacklog(Protocol):
    """The delivery events that wait to be processed."""

    def is_clear(self, grace: timedelta) -> bool:
        """Return True if no event has waited for longer than `grace` and none has failed."""


class Canary(Protocol):
    """A test email to the SES mailbox simulator. Its delivery event proves that delivery events
    arrive."""

    def send(self) -> None:
        """Send a canary. Only the canary's delivery events show the outcome."""


class Account(Protocol):
    """Gazette's account with the mail provider."""

    def quota(self) -> Quota:
        """Return the current quota of the account. Raises Unavailable if the quota is unknown."""
