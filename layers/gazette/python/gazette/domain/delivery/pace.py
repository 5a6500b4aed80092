"""How fast the emails of a stream go out: what was chosen, where it stands, which permit is next.

A permit is the instant at which one email may go. Permits are evenly spaced, whoever takes them, so
no second has more of them than the rate. Each stream has a fixed share of all that was chosen
and of what the account may send, and does not use the other's. Nothing here does I/O.
"""

import math
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum

from gazette.domain.delivery.circuit_breaker import OpenBreaker
from gazette.domain.delivery.streams import WHOLE, Share

MAX_RATE = 500
"""Emails a second, of all streams: each is a write of a row, which takes 1,000 a second, and some
are refused.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html"""

SANDBOX_RATE = 1.0
"""Emails a second that every account may send: what SES allows in its sandbox.
https://docs.aws.amazon.com/ses/latest/dg/quotas.html"""

QUOTA_SHARE = 0.9
"""Of the account's rate: others send from it too, and SES may accept less than it names.
https://docs.aws.amazon.com/ses/latest/APIReference/API_GetSendQuota.html"""

_BELIEVED_FOR = timedelta(hours=1)
"""How long an answer tells what is left of the account's day: six ticks without another one."""

_WARMUP_DAYS = 30
"""After so many doublings a cap is none."""


class NoPermit(StrEnum):
    """Why no permit was taken.

    The next free one is too late, those of the day are used up, or nothing is sent at all.
    """

    BUSY = "busy"
    DAILY_CAP = "daily_cap"
    BREAKER_OPEN = "breaker_open"


@dataclass(frozen=True, slots=True, kw_only=True)
class Permit:
    """The instant from which one email may go; `is_probe`: it tries whether the breaker may go."""

    at: datetime
    is_probe: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PacePlan:
    """What was chosen for all email, of which a stream has its `share`.

    `rate`: emails a second; None: by the account's quota. `ramp_from`: emails a second with
    which a cold downstream is begun, 0 for none; the ramp looks back at each `ramp_every`, which
    must be three times as long as anybody waits for a permit. `warmup_daily`: what a new sending
    domain may send on `warmup_from` (UTC), and before; it doubles each day after.
    """

    rate: float | None = None
    ramp_from: float = 0
    ramp_every: timedelta = timedelta(seconds=30)
    warmup_from: date | None = None
    warmup_daily: int = 200
    share: Share = WHOLE

    def cap_on(self, day: date) -> int | None:
        """How many emails of the stream may go out on a day of UTC; None: any number."""
        if self.warmup_from is None:
            return None
        doublings = max(0, (day - self.warmup_from).days)
        if doublings > _WARMUP_DAYS:
            return None
        return self.share.of(self.warmup_daily << doublings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """What the account may send: `rate` emails a second, and `left` of `daily` in 24 hours.

    Both are None where it may send any number in 24 hours. Of `left` each stream has a part of its
    own; the rest is what the account has.
    """

    rate: float
    daily: int | None = None
    left: int | None = None

    def part(self, share: Share) -> "Quota":
        """For one stream."""
        return self if self.left is None else replace(self, left=share.of(self.left))


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Where a stream stands, for all workers together.

    `next_at`: the first free permit. `stretch_at`: when the present stretch of the ramp began,
    and how many permits it has had, and the one before it. `day`: of UTC, and how many permits it
    has had. `quota`: of the account, where it is known, as it was told at `quota_at`, less the
    permits since. `breaker`: None where it is off.
    """

    quota: Quota | None = None
    quota_at: datetime | None = None
    next_at: datetime | None = None
    stretch_at: datetime | None = None
    stretch_taken: int = 0
    last_taken: int = 0
    day: date | None = None
    taken: int = 0
    breaker: OpenBreaker | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Taking:
    """The permit `at`, after whose `cost` the next one is free.

    In the stretch that began at `stretch_at`, after one that had `last_taken`; of those that
    `day` has, `cap` in all; of those that are left of the account's day, where `is_of_quota`.
    `breaker`: what becomes of it where this permit is the one that tries; None: it is off.
    """

    at: datetime
    cost: timedelta
    stretch_at: datetime
    last_taken: int
    day: date
    cap: int | None
    is_of_quota: bool
    breaker: OpenBreaker | None

    @property
    def is_probe(self) -> bool:
        """Whether whoever takes it tries if anything can be sent."""
        return self.breaker is not None

    @property
    def permit(self) -> Permit:
        """For whoever takes it."""
        return Permit(at=self.at, is_probe=self.is_probe)

    def from_(self, pace: Pace) -> Pace:
        """Where it stands once it is taken."""
        is_same_stretch = self.stretch_at == pace.stretch_at
        is_same_day = self.day == pace.day
        quota = pace.quota
        if self.is_of_quota and quota and quota.left is not None:
            quota = replace(quota, left=quota.left - 1)
        return replace(
            pace,
            quota=quota,
            next_at=self.at + self.cost,
            stretch_at=self.stretch_at,
            stretch_taken=1 + (pace.stretch_taken if is_same_stretch else 0),
            last_taken=self.last_taken,
            day=self.day,
            taken=1 + (pace.taken if is_same_day else 0),
            breaker=self.breaker,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PaceReading:
    """For people: emails a second now and at most, permits taken today, and how many there are.

    All of one stream. `quota`: of the account, None where its day is not known, or has no end.
    `breaker`: None where it is off.
    """

    rate: float
    full_rate: float
    taken: int
    cap: int | None
    quota: Quota | None
    breaker: OpenBreaker | None


def full_rate(pace: Pace, plan: PacePlan) -> float:
    """Emails a second once nothing is cold."""
    account = pace.quota.rate if pace.quota else SANDBOX_RATE
    return plan.share.of_rate(min(MAX_RATE, plan.rate or QUOTA_SHARE * account))


def rate_at(pace: Pace, plan: PacePlan, now: datetime) -> float:
    """Emails a second: `ramp_from` doubled as often as the permits taken lately call for.

    Each stretch may have twice what the one before it had, in steps of the ramp: so it rises
    while there is work, and whoever was idle, or took few, begins low.
    """
    full = full_rate(pace, plan)
    if not plan.ramp_from:
        return full
    low = plan.share.of_rate(plan.ramp_from)
    taken = _last_taken(pace, plan, now) / plan.ramp_every.total_seconds()
    doublings = round(math.log2(2 * taken / low)) if taken else 0
    return min(full, low * 2.0 ** max(0, doublings))


def take(pace: Pace, plan: PacePlan, *, now: datetime, latest: datetime) -> Taking | NoPermit:
    """The next permit, if it lies at or before `latest`, and the breaker lets it pass.

    That is looked at first: an open breaker only requeues a run, also where the day is used up.
    """
    if pace.breaker and pace.breaker.holds(now):
        return NoPermit.BREAKER_OPEN
    day, taken = _today(pace, now)
    cap = plan.cap_on(day)
    if (cap is not None and taken >= cap) or is_used_up(pace, now):
        return NoPermit.DAILY_CAP
    at = now if pace.next_at is None else max(now, pace.next_at)
    if at > latest:
        return NoPermit.BUSY
    stretch_at = pace.stretch_at
    if stretch_at is None or now - stretch_at >= plan.ramp_every:
        stretch_at = now
    return Taking(
        at=at,
        cost=timedelta(microseconds=math.ceil(1_000_000 / rate_at(pace, plan, now))),
        stretch_at=stretch_at,
        last_taken=_last_taken(pace, plan, now),
        day=day,
        cap=cap,
        is_of_quota=_day_of_account(pace, now) is not None,
        breaker=pace.breaker and pace.breaker.probed(now),
    )


def is_used_up(pace: Pace, now: datetime) -> bool:
    """Whether nothing is left of the day of the account."""
    quota = _day_of_account(pace, now)
    return quota is not None and not quota.left


def read(pace: Pace, plan: PacePlan, now: datetime) -> PaceReading:
    """What a person wants to know of it."""
    day, taken = _today(pace, now)
    return PaceReading(
        rate=rate_at(pace, plan, now),
        full_rate=full_rate(pace, plan),
        taken=taken,
        cap=plan.cap_on(day),
        quota=_day_of_account(pace, now),
        breaker=pace.breaker,
    )


def _today(pace: Pace, now: datetime) -> tuple[date, int]:
    """The day and what it has had. A clock that is behind at midnight does not bring one back."""
    today = now.astimezone(UTC).date()
    if pace.day is None or pace.day < today:
        return today, 0
    return pace.day, pace.taken


def _day_of_account(pace: Pace, now: datetime) -> Quota | None:
    """The quota that permits count for; None: they may be any number, or the answer is too old.

    SES may then refuse an email; else nobody would get any until it can be asked again.
    """
    quota, at = pace.quota, pace.quota_at
    if quota is None or quota.left is None or at is None or now - at >= _BELIEVED_FOR:
        return None
    return quota


def _last_taken(pace: Pace, plan: PacePlan, now: datetime) -> int:
    """Permits of the stretch before this instant's."""
    if pace.stretch_at is None or now - pace.stretch_at >= 2 * plan.ramp_every:
        return 0
    if now - pace.stretch_at >= plan.ramp_every:
        return pace.stretch_taken
    return pace.last_taken
