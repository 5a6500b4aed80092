"""The mail provider, and the proof that its delivery events arrive.

Every port may raise `Unavailable`; the caller then cannot know whether a write was made, and
does the same again. All instants are timezone-aware UTC.
"""

from datetime import datetime, timedelta
from typing import Protocol

from gazette.domain.delivery.pace import Quota
from gazette.domain.delivery.signals import SendOutcome
from gazette.domain.model import Mail


class Mailer(Protocol):
    """The provider that delivers email."""

    def send(self, mail: Mail, attempt: int) -> SendOutcome:
        """Hand over one message in exactly one request, never repeated, and say what came of it.

        Returns within the send time-out. Does not raise for anything that the provider or the
        network does: `Uncertain` is the answer for whatever cannot be told.
        """


class EvidenceLog(Protocol):
    """Up to when the provider's own delivery events have come in."""

    def note(self, sent_at: datetime) -> None:
        """A delivery event of an email that was sent at this instant has been worked off."""

    def latest(self) -> datetime | None:
        """The latest such instant, give or take some seconds; None: there never was any."""


class EvidenceBacklog(Protocol):
    """The delivery events that wait to be worked off."""

    def is_clear(self, grace: timedelta) -> bool:
        """Whether none waits for longer than `grace`, and none has failed."""


class Canary(Protocol):
    """An email to nobody, whose delivery event proves that delivery events come in."""

    def send(self) -> None:
        """Send one. What becomes of it shows in the delivery events alone."""


class Account(Protocol):
    """The account with the mail provider."""

    def quota(self) -> Quota:
        """What it may send now. Raises Unavailable where that cannot be told."""
