"""A stream's row of the pace, and what each worker knows of it."""

from dataclasses import dataclass, field
from datetime import datetime

from gazette.domain.delivery.pace import (
    NoPermit,
    Outlook,
    Pace,
    PacePlan,
    Permit,
    outlook,
    take,
)


@dataclass
class Row:
    """A row of the table `pace`."""

    plan: PacePlan
    pace: Pace = field(default_factory=Pace)


@dataclass
class WorkersLimiter:
    """The port `RateLimiter` of one worker: as on DynamoDB, it may know an older state."""

    row: Row
    known: Pace = field(default_factory=Pace)

    def reserve(
        self, now: datetime, latest: datetime, *, critical: bool = False
    ) -> Permit | NoPermit:
        """Ask the row only if what is known leaves hope."""
        found = take(self.known, self.row.plan, now=now, latest=latest, critical=critical)
        if isinstance(found, NoPermit):
            return found
        found = take(self.row.pace, self.row.plan, now=now, latest=latest, critical=critical)
        if not isinstance(found, NoPermit):
            self.row.pace = found.from_(self.row.pace)
        self.known = self.row.pace
        return found if isinstance(found, NoPermit) else found.permits_from(found.at)[0]

    def outlook(self, now: datetime) -> Outlook:
        """By what is known."""
        return outlook(self.known, self.row.plan, now)
