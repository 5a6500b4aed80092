"""The pace row of a stream, and each worker's copy of the row."""

from dataclasses import dataclass, field
from datetime import datetime

from gazette.domain.delivery.pace import (
    NoPermit,
    Outlook,
    Pace,
    PacePlan,
    Permit,
    Reservation,
    is_used_up,
    outlook,
    take,
)


@dataclass(slots=True)
class Row:
    """A row of the table `pace`."""

    plan: PacePlan
    pace: Pace = field(default_factory=Pace)

    # The number of write requests, including rejected ones.
    writes: int = 0


@dataclass(slots=True)
class WorkersLimiter:
    """The `RateLimiter` of a worker. As with DynamoDB, the worker's copy of the row may be
    outdated.
    """

    row: Row
    known: Pace = field(default_factory=Pace)

    def reserve(
        self, now: datetime, latest: datetime, *, critical: bool = False
    ) -> Permit | NoPermit:
        """Reserve a permit. If the worker's copy of the row already shows that no permit is
        available, do not send a request.
        """
        answer = self.reserve_some(1, now, latest, critical=critical)
        return answer if isinstance(answer, NoPermit) else answer.permits_from(answer.at)[0]

    def reserve_some(
        self, number: int, now: datetime, latest: datetime, *, critical: bool = False
    ) -> Reservation | NoPermit:
        """Reserve up to `number` permits for the threads of an invocation."""
        plan, known = self.row.plan, self.known
        if known is not self.row.pace and not is_used_up(known, now):
            hope = take(known, plan, now=now, latest=latest, critical=critical)
            if isinstance(hope, NoPermit):
                return hope
        answer = take(self.row.pace, plan, now=now, latest=latest, number=number, critical=critical)
        if isinstance(answer, NoPermit):
            self.row.writes += known is not self.row.pace or answer is not NoPermit.BUSY
        else:
            self.row.pace = answer.from_(self.row.pace)
            self.row.writes += 1
        self.known = self.row.pace
        return answer

    def outlook(self, now: datetime) -> Outlook:
        """Return the outlook for permits, based on the worker's copy of the row."""
        return outlook(self.known, self.row.plan, now)
