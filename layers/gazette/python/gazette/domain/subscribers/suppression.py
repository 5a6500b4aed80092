"""Suppressed addresses, to which no email is sent."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from gazette.domain.scheduling.calendar import LONGEST_PAUSE


class Cause(StrEnum):
    """The reason for a suppression, ordered from the weakest cause to the strongest.

    An unknown cause also suppresses the address, and no other cause replaces an unknown cause.
    """

    UNSUBSCRIBED = "unsubscribed"
    """The reader unsubscribed. This is the only cause that a reader, or a consent, can lift."""

    BOUNCED = "bounced"
    COMPLAINED = "complained"
    MANUAL = "manual"
    """An operator suppressed the address."""

    @property
    def lesser(self) -> tuple["Cause", ...]:
        """The causes that this cause replaces."""
        every = tuple(Cause)
        return every[: every.index(self)] if self in every else ()


@dataclass(frozen=True, slots=True)
class Suppression:
    """A suppressed address, with the cause and time of the suppression."""

    address: str
    """The hash of the address. Tables store identity.keyed_hash.

    The `Suppressions` port accepts both keyed and unkeyed hashes.
    """

    cause: Cause
    since: datetime
    left_at: datetime | None = None
    """The time of the latest unsubscription of the address; None if no time was stored."""

    readers: frozenset[str] = frozenset()
    """The ids of the readers of the address who unsubscribed, whatever the cause."""

    @property
    def last_left_at(self) -> datetime:
        """The latest time at which the address can have been unsubscribed.

        Rows of the previous release have only the time of the first unsubscription.
        """
        return max(filter(None, (self.since, self.left_at)))


@dataclass(frozen=True, slots=True, order=True)
class SoftBounce:
    """A message that bounced softly, with the time at which the provider accepted the message."""

    sent_at: datetime
    message_id: str


_MOST_IN_A_ROW = 3
_SHORTEST_ROW = timedelta(days=14)
_LOOK_BACK = 2 * timedelta(days=31) + LONGEST_PAUSE
"""The period in which soft bounces are counted.

It spans three monthly digests with the longest pause between them. Runs are kept longer.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftLimit:
    """The limit at which soft bounces have the effect of a hard bounce.

    An address reaches the limit if `bounces` messages that were sent within `span` bounce softly.
    Three soft bounces in a row also reach the limit, because some readers get few emails, such as a
    weekly digest. The three messages must have been sent over at least a fortnight or `span`,
    whichever is longer, with no delivered email in between. By then an outage or a full mailbox has
    usually ended.

    SES reports a nonexistent domain as a soft bounce, sometimes only after fourteen hours:
    https://github.com/knadh/listmonk/issues/1463,
    https://github.com/mozilla/fxa-auth-server/issues/2304
    """

    bounces: int
    span: timedelta

    @property
    def retention(self) -> timedelta:
        """The time for which a bounce is stored after the last bounce of the address."""
        return max(2 * self.span, _LOOK_BACK)

    def is_reached(self, sent: Iterable[datetime]) -> bool:
        """Return True if too many messages bounced softly, given the sending times of the messages.

        The result does not depend on the order in which the delivery events arrive.
        """
        at = sorted(sent)
        last = self.bounces - 1
        return any(late - early <= self.span for early, late in zip(at, at[last:], strict=False))

    def is_reached_in_a_row(self, sent: Iterable[datetime], arrived: Iterable[datetime]) -> bool:
        """Return True if too many messages in a row bounced since the last delivered message.

        Both arguments are ordered by sending time. Messages older than the retention of runs do not
        count, because the deliveries of that time are unknown.
        """
        since = max(arrived, default=datetime.min.replace(tzinfo=UTC))
        at = [each for each in sorted(sent) if each > since]
        row = [each for each in at if at[-1] - each <= _LOOK_BACK]
        return len(row) >= min(self.bounces, _MOST_IN_A_ROW) and row[-1] - row[0] >= max(
            self.span, _SHORTEST_ROW
        )
