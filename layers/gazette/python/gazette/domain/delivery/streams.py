"""Two streams of email, digests and what goes out at once: neither waits behind the other."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from gazette.domain.scheduling.kinds import ScheduleKind, kind_of

ValueT_co = TypeVar("ValueT_co", covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Streams(Generic[ValueT_co]):
    """The same thing, once for each stream."""

    digest: ValueT_co
    immediate: ValueT_co

    def of(self, schedule: str) -> ValueT_co:
        """The one for runs of this schedule."""
        return self.immediate if kind_of(schedule) is ScheduleKind.IMMEDIATE else self.digest

    def beside(self, schedule: str) -> ValueT_co:
        """The one for all other runs."""
        return self.digest if kind_of(schedule) is ScheduleKind.IMMEDIATE else self.immediate


@dataclass(frozen=True, slots=True)
class Share:
    """What a stream has of all email: from `start` up to `end`, in hundredths.

    Shares that lie side by side have the whole between them, to the last email, however small
    it is: where they meet, both round the same number.
    """

    start: int
    end: int

    def of(self, whole: int) -> int:
        """So many of these emails."""
        return whole * self.end // 100 - whole * self.start // 100

    def of_rate(self, rate: float) -> float:
        """So much of this rate."""
        return rate * (self.end - self.start) / 100


WHOLE = Share(0, 100)


def divided(immediate_share: int) -> Streams[Share]:
    """All email, of which so many hundredths, 1 to 99, go out at once.

    What cannot be halved is a digest's.
    """
    return Streams(immediate=Share(0, immediate_share), digest=Share(immediate_share, 100))
