"""What became of an email after it was sent. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from gazette.domain.experiment import Variant
from gazette.domain.feedback import MailEvent
from gazette.domain.model import RunKey

REMEMBERED = frozenset(
    {
        MailEvent.DELIVERED,
        MailEvent.DELAYED,
        MailEvent.BOUNCED,
        MailEvent.COMPLAINED,
        MailEvent.REJECTED,
        MailEvent.OPENED,
        MailEvent.CLICKED,
    }
)
"""Of which the first instant is kept. That it was sent, the run says."""


@dataclass(frozen=True, slots=True)
class Engagement:
    """What became of the email of one run, with what reports tell emails apart by.

    `first`: when each of `REMEMBERED` happened first, as far as it was reported. `locale` and
    `variant` are those of the run: what was sent.
    """

    key: RunKey
    slot: datetime
    locale: str
    variant: Variant
    first: Mapping[MailEvent, datetime]
