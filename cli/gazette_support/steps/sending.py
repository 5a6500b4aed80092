"""Show the state of sending, stop sending manually, and resume it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from gazette.domain.delivery.circuit_breaker import OpenBreaker
from gazette.domain.delivery.pace import PaceReading
from gazette.domain.delivery.streams import Streams
from gazette.domain.feedback.reputation import CategoryHold, category_hold
from gazette.domain.ports.clock import Clock
from gazette.domain.ports.ledgers import CategoryHolds, CategoryStats


class Stream(Protocol):
    """The methods of the `PaceGauge` and `CircuitBreaker` ports that operators use."""

    def read(self, now: datetime) -> PaceReading:
        """Return the stream's rate, and the reason if the stream is stopped."""

    def open_by_hand(self, why: str, now: datetime) -> OpenBreaker:
        """Stop the stream until an operator resumes it."""

    def close_by_hand(self) -> None:
        """Resume the stream, regardless of why it was stopped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SendingContext:
    """The streams and the category holds of a stage."""

    streams: Streams[Stream]
    holds: CategoryHolds
    clock: Clock


def read_streams(*, context: SendingContext) -> Streams[PaceReading]:
    """Return the pace of both streams at the same instant."""
    at = context.clock()
    return Streams(
        digest=context.streams.digest.read(at), immediate=context.streams.immediate.read(at)
    )


def stop_sending(why: str, *, context: SendingContext) -> None:
    """Stop both streams, because a problem such as an incorrect template affects all email."""
    at = context.clock()
    context.streams.digest.open_by_hand(why, at)
    context.streams.immediate.open_by_hand(why, at)


def resume_sending(*, context: SendingContext) -> Streams[PaceReading] | None:
    """Resume both streams. Return their previous states, or None if neither was stopped."""
    before = read_streams(context=context)
    if before.digest.breaker is None and before.immediate.breaker is None:
        return None
    context.streams.digest.close_by_hand()
    context.streams.immediate.close_by_hand()
    return before


def held_categories(*, context: SendingContext) -> Sequence[CategoryHold]:
    """Return the category holds by name."""
    return context.holds.active()


def hold_category(category: str, why: str, *, context: SendingContext) -> bool:
    """Put a category on hold. Return False if it is already on hold."""
    return context.holds.add(category_hold(category, why, context.clock(), by_hand=True))


def resume_category(category: str, *, holds: CategoryHolds, category_stats: CategoryStats) -> bool:
    """Release a category. Return False if it was not on hold.

    The category's statistics are reset first, because otherwise the next complaint would put it on
    hold again. Statistics of a category that is not on hold are not reset.
    """
    if category not in {hold.category for hold in holds.active()}:
        return False
    category_stats.forget(category)
    return holds.release(category)
