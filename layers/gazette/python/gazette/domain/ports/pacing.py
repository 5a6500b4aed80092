"""The rate limiter and the circuit breaker of each stream and source, shared by all workers.

Every port may raise `Unavailable`. The caller then cannot know whether a write was made, and
repeats the call. All instants are timezone-aware UTC.
"""

from datetime import datetime, timedelta
from typing import Protocol

from gazette.domain.delivery.circuit_breaker import OpenBreaker
from gazette.domain.delivery.pace import NoPermit, Outlook, PaceReading, Permit, Quota


class RateLimiter(Protocol):
    """The rate limiter of a stream. It gives permits to all workers, at no more than the rate."""

    def reserve(
        self, now: datetime, latest: datetime, *, critical: bool = False
    ) -> Permit | NoPermit:
        """Take the next permit, if it is not after `latest`.

        No other worker gets that permit, even if it is not used. It counts for the day of `now`.
        Returning NoPermit costs no permit; a call whose answer is lost may cost one. An open
        breaker allows only one permit for each of its steps, that of the probe. `critical`: also if
        the warm-up has no more permits today.
        """

    def outlook(self, now: datetime) -> Outlook:
        """Return the known state. Makes no call, and never raises."""


class CircuitBreaker(Protocol):
    """The circuit breaker of a stream, which every worker sees when it takes a permit.

    Permits that were taken before may still be used. After an error, the change may have been made.
    """

    def trip(self, why: str, now: datetime, *, at_least: timedelta = timedelta(0)) -> OpenBreaker:
        """Open the breaker, or extend it, after a refusal of the whole stream (see `tripped`).

        Returns the current breaker. A breaker that was opened by hand is unchanged.
        """

    def trip_if_closed(self, why: str, now: datetime) -> None:
        """Open the breaker after a refusal in another stream that also applies to this one.

        An open breaker is unchanged. Can be repeated.
        """

    def reset(self) -> None:
        """Close the breaker, unless it was opened by hand. Can be repeated."""

    def open_by_hand(self, why: str, now: datetime) -> OpenBreaker:
        """Stop the stream until `close_by_hand`. Returns the current breaker."""

    def close_by_hand(self) -> None:
        """Close the breaker, regardless of the reason for which it is open. Can be repeated."""


class PaceGauge(Protocol):
    """A display of the pace of a stream."""

    def read(self, now: datetime) -> PaceReading:
        """Return the current and the highest rate, and today's permits and cap."""

    def forecast(
        self, now: datetime, latest: datetime, *, critical: bool = False
    ) -> Permit | NoPermit:
        """Return the result of `RateLimiter.reserve` without taking a permit or starting a
        probe."""


class QuotaStore(Protocol):
    """A store for the sending quota of a stream, shared by all workers."""

    def set_quota(self, quota: Quota, at: datetime) -> None:
        """Store the stream's part as of `at`.

        Each later permit reduces the remaining quota of the day.
        """
