"""How fast emails go out: what was chosen, where it stands, and which turn is the next.

A turn is the instant at which one email may go. Turns are evenly spaced, whoever takes them, so
no second has more of them than the rate. Nothing here does I/O.
"""

import math
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum

SANDBOX_RATE = 1.0
"""Emails a second that every account may send: what SES allows in its sandbox.
https://docs.aws.amazon.com/ses/latest/dg/quotas.html"""

CALLS_A_SECOND = 500
"""Turns are taken one by one up to this rate, and above it several at once.

A row takes 1,000 writes a second, and some are refused.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html"""

KEPT_FOR = timedelta(milliseconds=250)
"""How long after its instant a turn that was taken together with others is still used."""

_WARMUP_DAYS = 30
"""After so many doublings a cap is none."""


class NoTurn(StrEnum):
    """Why no turn was taken: the next free one is too late, or those of the day are used up."""

    BUSY = "busy"
    DAILY_CAP = "daily_cap"


@dataclass(frozen=True, slots=True, kw_only=True)
class PacePlan:
    """What was chosen.

    `rate`: emails a second; None: what the account may send. `ramp_from`: emails a second with
    which a cold downstream is begun, 0 for none; the ramp looks back at each `ramp_every`, which
    must be three times as long as anybody waits for a turn. `warmup_daily`: what a new sending
    domain may send on `warmup_from` (UTC), and before; it doubles each day after.
    """

    rate: float | None = None
    ramp_from: float = 0
    ramp_every: timedelta = timedelta(seconds=30)
    warmup_from: date | None = None
    warmup_daily: int = 200

    def cap_on(self, day: date) -> int | None:
        """How many emails may go out on a day of UTC; None: any number."""
        if self.warmup_from is None:
            return None
        doublings = max(0, (day - self.warmup_from).days)
        return None if doublings > _WARMUP_DAYS else self.warmup_daily << doublings


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Where it stands, for all workers together.

    `next_at`: the first free turn. `stretch_at`: when the present stretch of the ramp began,
    and how many turns it has had, and the one before it. `day`: of UTC, and how many turns it
    has had. `quota`: emails a second that the account may send, where it is known.
    """

    quota: float | None = None
    next_at: datetime | None = None
    stretch_at: datetime | None = None
    stretch_taken: int = 0
    last_taken: int = 0
    day: date | None = None
    taken: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Taking:
    """`number` turns from `first` on, after whose `cost` the next one is free.

    In the stretch that began at `stretch_at`, after one that had `last_taken`; of those that
    `day` has, `cap` in all.
    """

    first: datetime
    number: int
    cost: timedelta
    stretch_at: datetime
    last_taken: int
    day: date
    cap: int | None

    @property
    def turns(self) -> list[datetime]:
        """The instants, evenly spaced."""
        return [self.first + self.cost * nth / self.number for nth in range(self.number)]

    def from_(self, pace: Pace) -> Pace:
        """Where it stands once these are taken."""
        is_same_stretch = self.stretch_at == pace.stretch_at
        is_same_day = self.day == pace.day
        return replace(
            pace,
            next_at=self.first + self.cost,
            stretch_at=self.stretch_at,
            stretch_taken=self.number + (pace.stretch_taken if is_same_stretch else 0),
            last_taken=self.last_taken,
            day=self.day,
            taken=self.number + (pace.taken if is_same_day else 0),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PaceReading:
    """For people: emails a second now and at most, turns taken today, and how many there are."""

    rate: float
    full_rate: float
    taken: int
    cap: int | None


def full_rate(pace: Pace, plan: PacePlan) -> float:
    """Emails a second once nothing is cold."""
    return plan.rate or pace.quota or SANDBOX_RATE


def rate_at(pace: Pace, plan: PacePlan, now: datetime) -> float:
    """Emails a second: `ramp_from` doubled as often as what went out lately calls for.

    Each stretch may have twice what the one before it had, in steps of the ramp: so it rises
    while there is work, and whoever was idle, or sent little, begins low.
    """
    full = full_rate(pace, plan)
    if not plan.ramp_from:
        return full
    went_out = _went_out(pace, plan, now) / plan.ramp_every.total_seconds()
    doublings = round(math.log2(2 * went_out / plan.ramp_from)) if went_out else 0
    return min(full, plan.ramp_from * 2.0 ** max(0, doublings))


def take(pace: Pace, plan: PacePlan, *, now: datetime, latest: datetime) -> Taking | NoTurn:
    """The next turns, if the first of them lies at or before `latest`."""
    day, taken = _today(pace, now)
    cap = plan.cap_on(day)
    if cap is not None and taken >= cap:
        return NoTurn.DAILY_CAP
    first = now if pace.next_at is None else max(now, pace.next_at)
    if first > latest:
        return NoTurn.BUSY
    rate = rate_at(pace, plan, now)
    number = math.ceil(rate / CALLS_A_SECOND)
    if cap is not None:
        number = min(number, cap - taken)
    stretch_at = pace.stretch_at
    if stretch_at is None or now - stretch_at >= plan.ramp_every:
        stretch_at = now
    return Taking(
        first=first,
        number=number,
        cost=timedelta(microseconds=math.ceil(number * 1_000_000 / rate)),
        stretch_at=stretch_at,
        last_taken=_went_out(pace, plan, now),
        day=day,
        cap=cap,
    )


def read(pace: Pace, plan: PacePlan, now: datetime) -> PaceReading:
    """What a person wants to know of it."""
    day, taken = _today(pace, now)
    return PaceReading(
        rate=rate_at(pace, plan, now),
        full_rate=full_rate(pace, plan),
        taken=taken,
        cap=plan.cap_on(day),
    )


def _today(pace: Pace, now: datetime) -> tuple[date, int]:
    """The day and what it has had. A clock that is behind at midnight does not bring one back."""
    today = now.astimezone(UTC).date()
    if pace.day is None or pace.day < today:
        return today, 0
    return pace.day, pace.taken


def _went_out(pace: Pace, plan: PacePlan, now: datetime) -> int:
    """Turns of the stretch before this instant's."""
    if pace.stretch_at is None or now - pace.stretch_at >= 2 * plan.ramp_every:
        return 0
    if now - pace.stretch_at >= plan.ramp_every:
        return pace.stretch_taken
    return pace.last_taken
