"""Addresses that must not be written to, and why."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum


class Cause(StrEnum):
    """Why an address must not be written to, from what counts least to what counts most.

    `UNSUBSCRIBED` is the reader's own, and theirs to take back. `MANUAL` is what an operator said.
    One that this version does not know suppresses as well, and nothing takes its place.
    """

    UNSUBSCRIBED = "unsubscribed"
    BOUNCED = "bounced"
    COMPLAINED = "complained"
    MANUAL = "manual"

    @property
    def lesser(self) -> tuple["Cause", ...]:
        """Those whose place it takes."""
        every = tuple(Cause)
        return every[: every.index(self)] if self in every else ()


@dataclass(frozen=True, slots=True)
class Suppression:
    """An address, as a hash (identity.address_hash), why it is suppressed, and since when."""

    address: str
    cause: Cause
    since: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftLimit:
    """`bounces` soft ones of as many messages within `span` are as good as a hard one."""

    bounces: int
    span: timedelta

    def is_reached(self, sent: Iterable[datetime]) -> bool:
        """Whether messages that were sent then, all bounced, are too many.

        Only a matter of what has bounced: in whatever order the delivery events come, the answer is
        the same once all have.
        """
        at = sorted(sent)
        last = self.bounces - 1
        return any(late - early <= self.span for early, late in zip(at, at[last:], strict=False))
