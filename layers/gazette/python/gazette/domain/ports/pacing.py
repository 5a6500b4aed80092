"""The rate limiter and circuit breaker of each stream and source, shared by all workers.

Every port may raise `Unavailable`. The caller then cannot know whether a write succeeded, and
repeats the call. All instants are timezone-aware UTC.
"""

from datetime import datetime, timedelta
from typing import Protocol

from gazette.domain.delivery.circuit_breaker import OpenBreaker
from gazette.domain.delivery.pace import NoPermit, Outlook, PaceReading, Permit, Quota


class RateLimiter(Protocol):
    """The rate limiter of a stream, which gives permits to all workers at a limited rate."""

    def reserve(
        self, now: datetime, latest: datetime, *, critical: bool = False
    ) -> Permit | NoPermit:
        """Take the next permit, if it is not after `latest`.

        No other worker gets the same permit, even if the permit is not used. The permit counts for
        the day of `now`. A NoPermit result takes no permit; a call whose response is lost may take
        one. An open breaker allows one permit per step, for the probe. With `critical`, a permit is
        given even if the warm-up allows no more permits today.
        """

    def outlook(self, now: datetime) -> Outlook:
        """Return an estimate of the next permits from the last known state. Makes no call, and
        never raises."""


class CircuitBreaker(Protocol):
    """The circuit breaker of a stream. Every worker checks the breaker when it takes a permit.

    Permits that were taken before the breaker opened may still be used. If a method raises an
    error, the change may still have been made.
    """

    def trip(self, why: str, now: datetime, *, at_least: timedelta = timedelta(0)) -> OpenBreaker:
        """Open the breaker, or keep it open longer, after the provider refused the whole stream.

        Returns the current breaker (`tripped`). A breaker that was opened manually is unchanged.
        """

    def trip_if_closed(self, why: str, now: datetime) -> None:
        """Open the breaker after a refusal in a different stream that also applies to this stream.

        A breaker that is already open is unchanged. Can be repeated.
        """

    def reset(self) -> None:
        """Close the breaker, unless it was opened manually. Can be repeated."""

    def open_by_hand(self, why: str, now: datetime) -> OpenBreaker:
        """Stop the stream until `close_by_hand` is called. Return the current breaker."""

    def close_by_hand(self) -> None:
        """Close the breaker, regardless of why it is open. Can be repeated."""


class PaceGauge(Protocol):
    """A gauge that reads the sending rate of a stream for display."""

    def read(self, now: datetime) -> PaceReading:
        """Return the current and the highest rate, and today's permits and cap."""

    def forecast(self, now: datetime, *, critical: bool = False) -> Permit | NoPermit:
        """Return the result of `RateLimiter.reserve` for a worker that waits as long as it may.

        Takes no permit, and starts no probe.
        """


class QuotaStore(Protocol):
    """The store of a stream's sending quota, shared by all workers."""

    def set_quota(self, quota: Quota, at: datetime) -> None:
        """Store the stream's share of the quota, which was read at `at`.

        Each later permit reduces the remaining quota of the day.
        """
