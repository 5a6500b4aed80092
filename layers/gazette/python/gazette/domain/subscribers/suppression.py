"""Suppressed addresses: no email is sent to them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from gazette.domain.scheduling.calendar import LONGEST_PAUSE


class Cause(StrEnum):
    """Why an address is suppressed, from the weakest cause to the strongest.

    Only `UNSUBSCRIBED` can be lifted by a reader, by the one who asked for it. `MANUAL`: by an
    operator. A cause that this version does not know suppresses as well, and no other replaces it.
    """

    UNSUBSCRIBED = "unsubscribed"
    BOUNCED = "bounced"
    COMPLAINED = "complained"
    MANUAL = "manual"

    @property
    def lesser(self) -> tuple["Cause", ...]:
        """The causes that this one replaces."""
        every = tuple(Cause)
        return every[: every.index(self)] if self in every else ()


@dataclass(frozen=True, slots=True)
class Suppression:
    """An address, why it is suppressed, and since when.

    `address`: its hash, as whoever made this has it; out of the tables it is identity.keyed_hash.
    The port `Suppressions` takes both.
    """

    address: str
    cause: Cause
    since: datetime


@dataclass(frozen=True, slots=True, order=True)
class SoftBounce:
    """A message that bounced softly, and when the provider accepted it."""

    sent_at: datetime
    message_id: str


_MOST_IN_A_ROW = 3
_SHORTEST_ROW = timedelta(days=14)
_LOOK_BACK = 2 * timedelta(days=31) + LONGEST_PAUSE
"""Three monthly digests with the longest pause between them. Runs are kept for longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftLimit:
    """The limit from which soft bounces count as a hard one: many, or several without a delivery.

    `bounces` messages that were sent within `span` are too many. Who gets few emails never reaches
    that, such as a reader of a weekly digest. So three in a row are too many as well, if they were
    sent over `span` or a fortnight, whichever is longer, and no email in between arrived: an
    outage, or a mailbox that is full for some days, is over by then.

    SES reports a domain that does not exist as a soft bounce, some only after fourteen hours:
    https://github.com/knadh/listmonk/issues/1463,
    https://github.com/mozilla/fxa-auth-server/issues/2304
    """

    bounces: int
    span: timedelta

    @property
    def retention(self) -> timedelta:
        """The time for which a bounce is remembered after the last one."""
        return max(2 * self.span, _LOOK_BACK)

    def is_reached(self, sent: Iterable[datetime]) -> bool:
        """Whether messages sent at these times, all of which bounced softly, are too many.

        The answer does not depend on the order in which the delivery events arrive.
        """
        at = sorted(sent)
        last = self.bounces - 1
        return any(late - early <= self.span for early, late in zip(at, at[last:], strict=False))

    def is_reached_in_a_row(self, sent: Iterable[datetime], arrived: Iterable[datetime]) -> bool:
        """Return whether messages that bounced since the last that arrived are too many in a row.

        Both by when they were sent. What is older than runs are kept does not count, because
        nobody knows any more what arrived then.
        """
        since = max(arrived, default=datetime.min.replace(tzinfo=UTC))
        at = [each for each in sorted(sent) if each > since]
        row = [each for each in at if at[-1] - each <= _LOOK_BACK]
        return len(row) >= min(self.bounces, _MOST_IN_A_ROW) and row[-1] - row[0] >= max(
            self.span, _SHORTEST_ROW
        )
