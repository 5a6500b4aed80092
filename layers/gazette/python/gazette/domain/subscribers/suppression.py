"""Suppressed addresses: no email is sent to them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum


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


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftLimit:
    """`bounces` soft bounces, of different messages sent within `span`, count as a hard one."""

    bounces: int
    span: timedelta

    def is_reached(self, sent: Iterable[datetime]) -> bool:
        """Whether messages sent at these times, all of which bounced softly, are too many.

        The answer does not depend on the order in which the delivery events arrive.
        """
        at = sorted(sent)
        last = self.bounces - 1
        return any(late - early <= self.span for early, late in zip(at, at[last:], strict=False))
