"""The two streams of email, digests and immediate emails. Neither stream delays the other."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from gazette.domain.scheduling.kinds import ScheduleKind, kind_of

ValueT_co = TypeVar("ValueT_co", covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Streams(Generic[ValueT_co]):
    """A pair of values, one for each stream."""

    digest: ValueT_co
    immediate: ValueT_co

    def of(self, schedule: str) -> ValueT_co:
        """Return the value for the stream that sends the runs of this schedule."""
        return self.immediate if kind_of(schedule) is ScheduleKind.IMMEDIATE else self.digest

    def other_than(self, schedule: str) -> ValueT_co:
        """Return the value for the stream that does not send the runs of this schedule."""
        return self.digest if kind_of(schedule) is ScheduleKind.IMMEDIATE else self.immediate


@dataclass(frozen=True, slots=True)
class Share:
    """A stream's share of all email. It ranges from `start` to `end`, in hundredths.

    Adjacent shares add up exactly to the whole, because both round the same number where they meet.
    """

    start: int
    end: int

    def of(self, whole: int) -> int:
        """Return the stream's share of a number of emails."""
        return whole * self.end // 100 - whole * self.start // 100

    def of_rate(self, rate: float) -> float:
        """Return the stream's share of a rate."""
        return rate * (self.end - self.start) / 100


WHOLE = Share(0, 100)


def divided(immediate_share: int) -> Streams[Share]:
    """Return the share of each stream.

    Immediate emails get `immediate_share` hundredths, from 1 to 99. Digests get the rest.
    """
    return Streams(immediate=Share(0, immediate_share), digest=Share(immediate_share, 100))
