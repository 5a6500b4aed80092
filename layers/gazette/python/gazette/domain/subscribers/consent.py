"""The rule for returning a reader on a new consent that a service states. Pure.

Only an unsubscription ends by a consent, and only one that is older than the consent.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from gazette.domain.commands import AHEAD
from gazette.domain.identity import address_hash
from gazette.domain.stored import is_known
from gazette.domain.subscribers.subscriber import Erased, Reader, Subscriber, SubscriberStatus
from gazette.domain.subscribers.suppression import Cause, Suppression


class Refusal(StrEnum):
    """The reason for which a reader was not returned."""

    UNKNOWN_READER = "unknown_reader"
    """No profile is stored under this user id."""

    ERASED = "erased"
    """The reader was erased, and the consent is not newer than the erasure."""

    AHEAD = "ahead"
    """The consent is more than an hour ahead of its arrival.

    Otherwise, all later consents of the reader would count from the arrival of this one.
    """

    OTHER_ADDRESS = "other_address"
    """The stored profile has a different address from the one that the consent is for."""

    BOUNCED = "bounced"
    COMPLAINED = "complained"
    MANUAL = "manual"
    """An operator suppressed the address."""

    SHARED_ADDRESS = "shared_address"
    """Another reader of the address unsubscribed."""

    NEWER_UNSUBSCRIPTION = "newer_unsubscription"
    """The reader, or the owner of the address, unsubscribed at the time of the consent or later."""

    UNKNOWN_STATUS = "unknown_status"
    """The status or the cause is from a newer version of Gazette."""


_CAUSES = {
    Cause.BOUNCED: Refusal.BOUNCED,
    Cause.COMPLAINED: Refusal.COMPLAINED,
    Cause.MANUAL: Refusal.MANUAL,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Consent:
    """A consent to email that a reader gave to a service."""

    user_id: str
    email: str
    """The address that the reader consented to. It must be the stored one."""

    stated_at: datetime
    """The time of the consent, by the service's clock."""

    arrived_at: datetime
    """The time at which the service stated the consent, by Gazette's clock."""

    @property
    def address(self) -> str:
        """The hash of the address."""
        return address_hash(self.email)

    def counts_from(self, reader: Subscriber) -> datetime:
        """Return the time from which the consent counts, which is never after its arrival.

        A consent that is already stored counts from its first arrival. Otherwise a repetition of a
        request from a clock that is ahead would lift an unsubscription in between.
        """
        arrived = reader.returned_at if self._is_known_to(reader) else None
        return min(self.stated_at, arrived or self.arrived_at)

    def recorded_in(self, reader: Subscriber) -> Subscriber:
        """Return the reader with this consent, or with an equal or later one that is stored."""
        if self._is_known_to(reader):
            return reader
        return replace(reader, consented_at=self.stated_at, returned_at=self.arrived_at)

    def to_note_in(self, reader: Subscriber) -> Subscriber | None:
        """Return the reader with this consent if its arrival must be stored before anything else.

        The arrival of a consent matters only if the service's clock is ahead. Return None if it
        does not matter, or is stored.
        """
        if self.stated_at <= self.arrived_at or self._is_known_to(reader):
            return None
        return replace(self.recorded_in(reader), revision=reader.revision + 1)

    def _is_known_to(self, reader: Subscriber) -> bool:
        return reader.consented_at is not None and self.stated_at <= reader.consented_at


def refusal_of(consent: Consent, reader: Reader, suppression: Suppression | None) -> Refusal | None:
    """Return the reason for which the consent does not return the reader; None if it does.

    `suppression` is that of the consent's address.
    """
    if consent.stated_at - consent.arrived_at > AHEAD:
        return Refusal.AHEAD
    match reader:
        case None:
            return Refusal.UNKNOWN_READER
        case Erased():
            return Refusal.ERASED
    if address_hash(reader.email) != consent.address:
        return Refusal.OTHER_ADDRESS
    since = consent.counts_from(reader)
    if reader.erased_at and since <= reader.erased_at:
        return Refusal.ERASED
    if not is_known(reader.status):
        return Refusal.UNKNOWN_STATUS
    if suppression and suppression.cause is not Cause.UNSUBSCRIBED:
        return _CAUSES.get(suppression.cause, Refusal.UNKNOWN_STATUS)
    if suppression and suppression.readers - {reader.user_id}:
        return Refusal.SHARED_ADDRESS
    return Refusal.NEWER_UNSUBSCRIPTION if _has_left_since(reader, suppression, since) else None


def _has_left_since(reader: Subscriber, suppression: Suppression | None, since: datetime) -> bool:
    """Return True if reader or address was unsubscribed at `since` or later, or at an unknown time.

    The row of the address and the row of the reader each have a time. One of them may be missing
    after a crash, or in rows of an earlier release.
    """
    times = [suppression.last_left_at] if suppression else []
    if reader.status is SubscriberStatus.UNSUBSCRIBED:
        if reader.last_left_at:
            times.append(reader.last_left_at)
        return not times or max(times) >= since
    return any(at >= since for at in times)
