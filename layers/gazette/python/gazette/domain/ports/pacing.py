"""The pace of each stream, for all workers together.

Every port may raise `Unavailable`; the caller then cannot know whether a write was made, and
does the same again. All instants are timezone-aware UTC.
"""

from datetime import datetime
from typing import Protocol

from gazette.domain.delivery.circuit_breaker import OpenBreaker
from gazette.domain.delivery.pace import NoPermit, PaceReading, Permit, Quota


class RateLimiter(Protocol):
    """Gives all workers together their permits in a stream, at no more than its rate."""

    def reserve(self, now: datetime, latest: datetime) -> Permit | NoPermit:
        """Take the next permit, if it is not after `latest`.

        Nobody else gets it, also where it is not used. It counts for the day of `now`. What is
        not taken costs no permit; a call whose answer is lost may. While the breaker is on there is
        none, but one for each of its steps, whose `is_probe` is set.
        """


class CircuitBreaker(Protocol):
    """Pulls and releases the breaker of a stream, which all workers see where they take permits in
    it.

    Permits that were taken before are used. After an error it may have been done.
    """

    def trip(self, why: str, now: datetime) -> OpenBreaker:
        """The provider refused all of the stream: on, or on for longer, as `tripped` says.

        Returns it as it is now. One that was pulled by hand stays as it is.
        """

    def trip_if_closed(self, why: str, now: datetime) -> None:
        """The provider refused an email of another stream for what concerns this one too.

        On; one that is on already stays as it is. May be repeated.
        """

    def reset(self) -> None:
        """The provider takes email again: off, unless it was pulled by hand. May be repeated."""

    def open_by_hand(self, why: str, now: datetime) -> OpenBreaker:
        """A person stops the stream until `close_by_hand`. Returns it as it is now."""

    def close_by_hand(self) -> None:
        """Off, whoever pulled it. May be repeated."""


class PaceGauge(Protocol):
    """Shows how fast the emails of a stream go out."""

    def read(self, now: datetime) -> PaceReading:
        """Emails a second now and at most; how many permits were taken today, of how many."""

    def foresee(self, now: datetime, latest: datetime) -> Permit | NoPermit:
        """What `RateLimiter.reserve` would answer. Nobody's permit is taken, and the breaker is not
        tried.
        """


class QuotaStore(Protocol):
    """Where all workers look up what the account lets a stream send."""

    def set_quota(self, quota: Quota, at: datetime) -> None:
        """Its part at that instant: each permit from now on leaves one less of its day."""
