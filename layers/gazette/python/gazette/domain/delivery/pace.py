"""The rate limiter of a stream: the plan, the state, and the next permit.

A permit is the instant at which one email may be sent. Permits are evenly spaced across all
workers, so no second has more of them than the rate. Each stream has a fixed share of the plan and
of the account's quota, and never uses the other's. Nothing here does I/O.

All instants are by the clocks of workers. One that is odd holds up the others, or lets them send
too much, only within these bounds:

- A next permit that lies further ahead than any worker with a right clock stores is set back, once
  in SET_BACK_EVERY at most. So others wait that long, and a second gets at most the permits of
  LONGEST_WAIT_FOR_A_PERMIT too many.
- A clock that is ahead begins a day early. What is taken then counts for that day: both days
  together have no more permits than their caps.
- A stretch of the ramp that begins later than now is over: the ramp starts again.
- The breaker holds for its longest step at most, and a quota is valid for an hour by any clock.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum

from gazette.domain.delivery.circuit_breaker import CLOCK_SKEW, OpenBreaker
from gazette.domain.delivery.streams import WHOLE, Share

MAX_RATE = 5000
"""Emails a second, of all streams. Every ten permits write one row, which takes 1,000 writes a
second, and some writes are refused.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html"""

LONGEST_WAIT_FOR_A_PERMIT = timedelta(milliseconds=100)
"""For one email: who waits costs Lambda time, and does no other work."""

SANDBOX_RATE = 1.0
"""Emails a second that every account may send: the rate of the SES sandbox.
https://docs.aws.amazon.com/ses/latest/dg/quotas.html"""

QUOTA_SHARE = 0.9
"""The part of the account's rate to use: other senders share it, and SES may accept less.
https://docs.aws.amazon.com/ses/latest/APIReference/API_GetSendQuota.html"""

SET_BACK_EVERY = timedelta(seconds=10)
"""The shortest time between two corrections of a next permit that lies too far ahead.

Of two clocks that differ, neither worker knows which one is odd. The one that is behind sets back
what was right, and the others then take permits from now on again: those of the longest wait come
twice. So it must be rare.
"""

_SIGNED_WITHIN = timedelta(minutes=15)
"""DynamoDB rejects a request that was signed by a clock that is further off, ahead or behind.
https://github.com/aws/aws-sdk-js/issues/2565, https://github.com/boto/boto3/issues/1252"""

EVER = datetime.min.replace(tzinfo=UTC)
"""Before every run."""

_BELIEVED_FOR = timedelta(hours=1)
"""How long a stored daily quota is valid: six ticks without a new one."""

_WARMUP_DAYS = 30
"""After so many doublings there is no cap."""


class NoPermit(StrEnum):
    """Why no permit was taken.

    The next free one is too late, the daily cap is used up, or the circuit breaker is open.
    """

    BUSY = "busy"
    DAILY_CAP = "daily_cap"
    BREAKER_OPEN = "breaker_open"


@dataclass(frozen=True, slots=True, kw_only=True)
class Permit:
    """The instant from which one email may be sent. `is_probe`: it is the breaker's probe."""

    at: datetime
    is_probe: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PacePlan:
    """The settings of the rate for all email, of which a stream has its `share`.

    `rate`: emails a second; None: by the account's quota. `ramp_from`: emails a second at the start
    of the ramp; 0: no ramp. `ramp_every`: the length of a stretch of the ramp, at least three times
    the longest wait for a permit. `warmup_daily`: how many emails a new sending domain may send on
    `warmup_from` (UTC), and before; doubles each day after.
    """

    rate: float | None = None
    ramp_from: float = 0
    ramp_every: timedelta = timedelta(seconds=30)
    warmup_from: date | None = None
    warmup_daily: int = 200
    share: Share = WHOLE

    def cap_on(self, day: date) -> int | None:
        """Return how many emails the stream may send on a day of UTC; None: any number."""
        if self.warmup_from is None:
            return None
        doublings = max(0, (day - self.warmup_from).days)
        if doublings > _WARMUP_DAYS:
            return None
        return self.share.of(self.warmup_daily << doublings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """What the account may send: `rate` emails a second, and `left` of `daily` in 24 hours.

    `daily` and `left` are None if it may send any number in 24 hours. Each stream has its own part
    of `left`; the other fields are the account's.
    """

    rate: float
    daily: int | None = None
    left: int | None = None

    def part(self, share: Share) -> "Quota":
        """Return the quota with the part of `left` that one stream has."""
        return self if self.left is None else replace(self, left=share.of(self.left))


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """The state of a stream, shared by all workers.

    `next_at`: the first free permit. `stretch_at`: when the present stretch of the ramp began, with
    its number of permits, `stretch_taken`, and that of the stretch before, `last_taken`. `day`: of
    UTC, with its number of permits, `taken`. `quota`: of the account, if known, as read at
    `quota_at`, less the permits since. `used_up_at`: the end of the last time at which the quota,
    or the cap of a day, was used up; None if neither ever was. `set_back_at`: when `next_at` was
    last set back, because it lay too far ahead; None if it never did. `breaker`: None if closed.
    """

    quota: Quota | None = None
    quota_at: datetime | None = None
    used_up_at: datetime | None = None
    next_at: datetime | None = None
    set_back_at: datetime | None = None
    stretch_at: datetime | None = None
    stretch_taken: int = 0
    last_taken: int = 0
    day: date | None = None
    taken: int = 0
    breaker: OpenBreaker | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """`number` permits from `at` on, one every `cost`, and the state that taking them leads to.

    `stretch_at`: when their stretch of the ramp began. `last_taken`: the permits of the stretch
    before. `day`: the day that they count for, with its `cap`. `used_up_at`: as in `Pace`, with
    the cap of the day before. `is_of_quota`: they also count for the account's daily quota.
    `breaker`: the breaker while its probe has the only permit; None: it is closed. `ahead_of`: the
    `next_at` of the state was later than this, and is set back at `set_back_at`; None: it was not.
    """

    at: datetime
    number: int
    cost: timedelta
    ahead_of: datetime | None
    set_back_at: datetime | None
    stretch_at: datetime
    last_taken: int
    day: date
    cap: int | None
    used_up_at: datetime | None
    is_of_quota: bool
    breaker: OpenBreaker | None

    @property
    def is_probe(self) -> bool:
        """Whether the email with the only permit is the breaker's probe."""
        return self.breaker is not None

    @property
    def last_at(self) -> datetime:
        """The last of the permits."""
        return self.at + (self.number - 1) * self.cost

    def permits_from(self, at: datetime) -> Sequence[Permit]:
        """Return the permits as they are if the first one is `at`."""
        return [
            Permit(at=at + each * self.cost, is_probe=self.is_probe) for each in range(self.number)
        ]

    def from_(self, pace: Pace) -> Pace:
        """Return the state after these permits are taken."""
        is_same_stretch = self.stretch_at == pace.stretch_at
        is_same_day = self.day == pace.day
        quota = pace.quota
        if self.is_of_quota and quota and quota.left is not None:
            quota = replace(quota, left=quota.left - self.number)
        return replace(
            pace,
            quota=quota,
            used_up_at=self.used_up_at,
            next_at=self.last_at + self.cost,
            set_back_at=self.set_back_at,
            stretch_at=self.stretch_at,
            stretch_taken=self.number + (pace.stretch_taken if is_same_stretch else 0),
            last_taken=self.last_taken,
            day=self.day,
            taken=self.number + (pace.taken if is_same_day else 0),
            breaker=self.breaker,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PaceReading:
    """The pace of one stream for people: emails a second, now and at most, and today's permits.

    `cap`: the permits of today; None: any number. `quota`: of the account; None if its daily quota
    is unknown or unlimited. `free_since`: since when cap and quota have had permits left; None:
    they are used up. `breaker`: None if it is closed.
    """

    rate: float
    full_rate: float
    taken: int
    cap: int | None
    quota: Quota | None
    free_since: datetime | None
    breaker: OpenBreaker | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """What one worker knows of a stream: no permit is free before `free_at`.

    `rate`: permits a second.
    """

    free_at: datetime
    rate: float


def outlook(pace: Pace, plan: PacePlan, now: datetime) -> Outlook:
    """Return the outlook by a state that may be old: permits only become later."""
    is_ahead = pace.next_at is not None and pace.next_at > _furthest(pace, plan, now)
    free_at = _may_be_set_back_from(pace, now) if is_ahead else pace.next_at or now
    return Outlook(free_at=free_at, rate=rate_at(pace, plan, now))


def full_rate(pace: Pace, plan: PacePlan) -> float:
    """Return the emails a second after the ramp."""
    account = pace.quota.rate if pace.quota else SANDBOX_RATE
    return plan.share.of_rate(min(MAX_RATE, plan.rate or QUOTA_SHARE * account))


def rate_at(pace: Pace, plan: PacePlan, now: datetime) -> float:
    """Return the emails a second: `ramp_from`, doubled according to the permits taken lately.

    Each stretch may have twice the permits of the one before, in steps of the ramp. So the rate
    rises while there is work, and starts low after an idle or slow stretch.
    """
    full = full_rate(pace, plan)
    if not plan.ramp_from:
        return full
    low = plan.share.of_rate(plan.ramp_from)
    taken = _last_taken(pace, plan, now) / plan.ramp_every.total_seconds()
    doublings = round(math.log2(2 * taken / low)) if taken else 0
    return min(full, low * 2.0 ** max(0, doublings))


def take(
    pace: Pace,
    plan: PacePlan,
    *,
    now: datetime,
    latest: datetime,
    number: int = 1,
    critical: bool = False,
) -> Reservation | NoPermit:
    """Return the next permits, `number` or as many as there are, all at or before `latest`.

    While the breaker is half open there is one, that of the probe. The breaker comes first: if it
    is open, a run is requeued even if the daily cap is used up. `critical`: the warm-up counts
    these permits, but holds none back; only the account's quota does.
    """
    if pace.breaker and pace.breaker.holds(now):
        return NoPermit.BREAKER_OPEN
    day, taken = _today(pace, now)
    cap = None if critical else plan.cap_on(day)
    if is_used_up(pace, now) or (cap is not None and taken >= cap):
        return NoPermit.DAILY_CAP
    at = now if pace.next_at is None else max(now, pace.next_at)
    furthest = _furthest(pace, plan, now)
    is_ahead = at > furthest
    if is_ahead and _may_be_set_back_from(pace, now) <= now:
        at = latest  # whatever others have taken is not later
    if at > latest:
        return NoPermit.BUSY
    stretch_at, last_taken = pace.stretch_at, pace.last_taken
    if stretch_at is None or (_is_over(pace, plan, now) and not is_ahead):
        stretch_at, last_taken = now, _last_taken(pace, plan, now)
    cost = _cost(rate_at(pace, plan, now))
    quota = _day_of_account(pace, now)
    left = quota.left if quota and quota.left is not None else number
    in_time = 1 + (latest - at) // cost
    of_day = number if cap is None else cap - taken
    return Reservation(
        at=at,
        number=1 if pace.breaker else min(number, in_time, of_day, left),
        cost=cost,
        ahead_of=furthest if is_ahead else None,
        set_back_at=now if is_ahead else pace.set_back_at,
        stretch_at=stretch_at,
        last_taken=last_taken,
        day=day,
        cap=cap,
        used_up_at=_room_since(pace, plan, day),
        is_of_quota=quota is not None,
        breaker=pace.breaker and pace.breaker.probed(now),
    )


def is_used_up(pace: Pace, now: datetime) -> bool:
    """Whether the daily quota of the account is used up."""
    quota = _day_of_account(pace, now)
    return quota is not None and not quota.left


def with_quota(pace: Pace, quota: Quota, at: datetime) -> Pace:
    """Return the state after the account has said at `at` what it may send."""
    was_used_up = pace.quota is not None and pace.quota.left == 0
    used_up_at = at if was_used_up else pace.used_up_at
    return replace(pace, quota=quota, quota_at=at, used_up_at=used_up_at)


def free_since(pace: Pace, plan: PacePlan, now: datetime) -> datetime | None:
    """Return since when cap and quota have had permits left; None: they are used up."""
    if _is_day_over(pace, plan, now):
        return None
    day, _ = _today(pace, now)
    return min(_room_since(pace, plan, day) or EVER, now)


def read(pace: Pace, plan: PacePlan, now: datetime) -> PaceReading:
    """Return the pace for people to read."""
    day, taken = _today(pace, now)
    return PaceReading(
        rate=rate_at(pace, plan, now),
        full_rate=full_rate(pace, plan),
        taken=taken,
        cap=plan.cap_on(day),
        quota=_day_of_account(pace, now),
        free_since=free_since(pace, plan, now),
        breaker=pace.breaker,
    )


def _is_day_over(pace: Pace, plan: PacePlan, now: datetime) -> bool:
    """Whether the cap of the day or the quota of the account is used up."""
    day, taken = _today(pace, now)
    cap = plan.cap_on(day)
    return (cap is not None and taken >= cap) or is_used_up(pace, now)


def _room_since(pace: Pace, plan: PacePlan, today: date) -> datetime | None:
    """Return the end of the last time at which cap or quota was used up; None if neither was.

    A cap that was used up ends at midnight (UTC); one that was not holds nothing up, so that
    midnight changes nothing for what waits for another reason.
    """
    if pace.day is None or pace.day >= today:
        return pace.used_up_at
    cap = plan.cap_on(pace.day)
    if cap is None or pace.taken < cap:
        return pace.used_up_at
    midnight = datetime.combine(pace.day + timedelta(days=1), time(), UTC)
    return max(midnight, pace.used_up_at or EVER)


def _today(pace: Pace, now: datetime) -> tuple[date, int]:
    """Return the day and its permits. A clock that is behind at midnight brings no day back."""
    today = now.astimezone(UTC).date()
    if pace.day is None or pace.day < today:
        return today, 0
    return pace.day, pace.taken


def _day_of_account(pace: Pace, now: datetime) -> Quota | None:
    """Return the quota that permits count for; None: it is unlimited, unknown or too old.

    If it is too old, SES may refuse an email; otherwise nothing could be sent until SES answers.
    """
    quota, at = pace.quota, pace.quota_at
    if quota is None or quota.left is None or at is None or abs(now - at) >= _BELIEVED_FOR:
        return None
    return quota


def _cost(rate: float) -> timedelta:
    """Return the time from one permit to the next."""
    return timedelta(microseconds=math.ceil(1_000_000 / rate))


def _furthest(pace: Pace, plan: PacePlan, now: datetime) -> datetime:
    """Return the latest `next_at` that a worker with a right clock can have stored.

    It takes no permit later than its own longest wait, and the next one comes after that by the
    slowest rate.
    """
    slowest = full_rate(pace, plan)
    if plan.ramp_from:
        slowest = min(slowest, plan.share.of_rate(plan.ramp_from))
    return now + CLOCK_SKEW + LONGEST_WAIT_FOR_A_PERMIT + _cost(slowest)


def _may_be_set_back_from(pace: Pace, now: datetime) -> datetime:
    """Return from when on a next permit that lies too far ahead may be set back."""
    last = pace.set_back_at
    if last is None or last - now > _SIGNED_WITHIN:
        return now
    return max(now, last + SET_BACK_EVERY)


def _is_over(pace: Pace, plan: PacePlan, now: datetime) -> bool:
    """Whether the present stretch of the ramp is over, or begins later than now."""
    if pace.stretch_at is None or now - pace.stretch_at >= plan.ramp_every:
        return True
    return pace.stretch_at - now > CLOCK_SKEW


def _last_taken(pace: Pace, plan: PacePlan, now: datetime) -> int:
    """Return the permits of the stretch before the one that `now` is in."""
    if pace.stretch_at is None or now - pace.stretch_at >= 2 * plan.ramp_every:
        return 0
    if pace.stretch_at - now > CLOCK_SKEW:
        return 0
    if now - pace.stretch_at >= plan.ramp_every:
        return pace.stretch_taken
    return pace.last_taken
