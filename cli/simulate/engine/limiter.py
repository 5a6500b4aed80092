"""A stream's row of the pace, and what each worker knows of it."""

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
    """A row of the table `pace`. `writes`: the requests that reached it, refused ones too."""

    plan: PacePlan
    pace: Pace = field(default_factory=Pace)
    writes: int = 0


@dataclass(slots=True)
class WorkersLimiter:
    """The port `RateLimiter` of one worker: as on DynamoDB, it may know an older state."""

    row: Row
    known: Pace = field(default_factory=Pace)

    def reserve(
        self, now: datetime, latest: datetime, *, critical: bool = False
    ) -> Permit | NoPermit:
        """Ask the row only if what is known leaves hope."""
        found = self.reserve_some(1, now, latest, critical=critical)
        return found if isinstance(found, NoPermit) else found.permits_from(found.at)[0]

    def reserve_some(
        self, number: int, now: datetime, latest: datetime, *, critical: bool = False
    ) -> Reservation | NoPermit:
        """As the threads of an invocation ask together: for so many, or as many as there are."""
        plan, known = self.row.plan, self.known
        if known is not self.row.pace and not is_used_up(known, now):
            hope = take(known, plan, now=now, latest=latest, critical=critical)
            if isinstance(hope, NoPermit):
                return hope
        found = take(self.row.pace, plan, now=now, latest=latest, number=number, critical=critical)
        if isinstance(found, NoPermit):
            self.row.writes += known is not self.row.pace or found is not NoPermit.BUSY
        else:
            self.row.pace = found.from_(self.row.pace)
            self.row.writes += 1
        self.known = self.row.pace
        return found

    def outlook(self, now: datetime) -> Outlook:
        """By what is known."""
        return outlook(self.known, self.row.plan, now)
