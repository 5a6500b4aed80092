"""The rate limiter of a stream: the plan, the state, and the next permit.

A permit is the instant at which one email may be sent. Permits are evenly spaced across all
workers, so no second has more permits than the rate. Each stream has a fixed share of the plan and
of the account's quota, and never uses the share of the other stream. The module does no I/O.

All instants come from the clocks of workers. A worker with a wrong clock can delay other workers or
let them send too much, but only within these bounds:

- If the stored time of the next permit is later than any correct clock would store, it is set
  back, at most once in SET_BACK_EVERY. Other workers wait at most that long. The extra permits in
  a second are at most the permits of the longest wait.
- A worker whose clock is ahead begins the next day early. Its permits count for that day, so the
  two days together have no more permits than their caps.
- If a stretch of the ramp begins in the future, it is ignored and the ramp restarts.
- The breaker stays open for at most its longest step. A quota is valid for an hour by any clock.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum

from gazette.domain.delivery.batching import longest_wait
from gazette.domain.delivery.circuit_breaker import CLOCK_SKEW, OpenBreaker
from gazette.domain.delivery.streams import WHOLE, Share

MAX_RATE = 5000
"""The maximum number of emails per second, for all streams together.

Every ten permits cost one write to the same row. DynamoDB accepts 1,000 writes per second to a row,
and throttles some of them.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html
"""

ASSUMED_QUOTA = 14
"""The assumed quota, in emails per second, of an account outside the SES sandbox.

This quota determines sizes and waits while the account's quota is not known. AWS no longer
publishes a number (https://docs.aws.amazon.com/ses/latest/dg/quotas.html); most accounts start with
14.
"""

SANDBOX_RATE = 1.0
"""The number of emails per second that every account may send, even in the SES sandbox.

https://docs.aws.amazon.com/ses/latest/dg/quotas.html
"""

QUOTA_SHARE = 0.9
"""The share of the account's sending rate that Gazette uses.

Other senders use the same account, and SES may accept less than its rate.
https://docs.aws.amazon.com/ses/latest/APIReference/API_GetSendQuota.html
"""

ASSUMED_RATE = QUOTA_SHARE * ASSUMED_QUOTA
"""The rate for which a stage is sized that has no `emails_per_second`, in emails per second."""

SET_BACK_EVERY = timedelta(seconds=10)
"""The minimum time between two corrections of a `next_at` that is too far ahead.

If two clocks differ, neither worker knows which clock is wrong. A worker whose clock is behind may
set back a correct value. Other workers then issue the permits of the longest wait a second time.
Corrections must therefore be rare.
"""

_SIGNED_WITHIN = timedelta(minutes=15)
"""The largest clock error, ahead or behind, at which DynamoDB accepts a signed request.

https://github.com/aws/aws-sdk-js/issues/2565, https://github.com/boto/boto3/issues/1252
"""

EVER = datetime.min.replace(tzinfo=UTC)
"""An instant that is earlier than every run."""

_BELIEVED_FOR = timedelta(hours=1)
"""The time for which a stored daily quota is valid. It covers six ticks without an update."""

_WARMUP_DAYS = 30
"""The number of daily doublings after which the warm-up has no cap."""


class NoPermit(StrEnum):
    """The reason why no permit was taken."""

    BUSY = "busy"
    """The next free permit is too far in the future."""

    DAILY_CAP = "daily_cap"
    """The daily cap or the account's daily quota is used up."""

    BREAKER_OPEN = "breaker_open"
    """The circuit breaker is open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Permit:
    """The instant from which one email may be sent."""

    at: datetime
    is_probe: bool = False
    """True if the email is the breaker's probe."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PacePlan:
    """The settings of the sending rate for all email, and one stream's `share` of the rate."""

    rate: float | None = None
    """The rate in emails per second; None to derive the rate from the account's quota."""

    ramp_from: float = 0
    """The rate at the start of the ramp, in emails per second; 0 for no ramp."""

    ramp_every: timedelta = timedelta(seconds=30)
    """The length of one stretch of the ramp. It is at least three times the longest wait for
    permits."""

    warmup_from: date | None = None
    """The first day of the warm-up (UTC); None for no warm-up."""

    warmup_daily: int = 200
    """The daily cap of a new sending domain on `warmup_from` and before.

    The cap doubles on each later day.
    """

    batch: int = 1
    """The maximum number of emails per invocation."""

    share: Share = WHOLE

    def cap_on(self, day: date) -> int | None:
        """Return the stream's cap on a UTC day; None if there is no cap."""
        if self.warmup_from is None:
            return None
        doublings = max(0, (day - self.warmup_from).days)
        if doublings > _WARMUP_DAYS:
            return None
        return self.share.of(self.warmup_daily << doublings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """The sending quota of the AWS account."""

    rate: float
    """The account's maximum number of emails per second."""

    daily: int | None = None
    """The account's maximum number of emails in 24 hours; None if unlimited."""

    left: int | None = None
    """The number of emails left of the daily quota; None if unlimited.

    Each stream has its own share.
    """

    def part(self, share: Share) -> "Quota":
        """Return the quota with the stream's share of the remaining emails."""
        return self if self.left is None else replace(self, left=share.of(self.left))


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """The rate limiter's state for one stream, shared by all workers."""

    quota: Quota | None = None
    """The account's quota as read at `quota_at`, minus the permits since then; None if unknown."""

    quota_at: datetime | None = None
    used_up_at: datetime | None = None
    """The end of the last period in which the quota or a cap was used up; None if there is none."""

    next_at: datetime | None = None
    """The time of the next free permit."""

    set_back_at: datetime | None = None
    """The last time at which `next_at` was set back because it was too far ahead."""

    stretch_at: datetime | None = None
    """The beginning of the current stretch of the ramp."""

    stretch_taken: int = 0
    """The number of permits taken in the current stretch of the ramp."""

    last_taken: int = 0
    """The number of permits taken in the previous stretch of the ramp."""

    day: date | None = None
    """The current day (UTC)."""

    taken: int = 0
    """The number of permits taken on `day`."""

    breaker: OpenBreaker | None = None
    """The open circuit breaker; None if it is closed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """A reservation of permits, and the state of the rate limiter afterwards.

    The first of the `number` permits is at `at`, and `cost` is the time between two permits.
    """

    at: datetime
    number: int
    cost: timedelta
    ahead_of: datetime | None
    """The latest plausible `next_at`, if the stored `next_at` is later and is set back; else
    None."""

    set_back_at: datetime | None
    """The time of the last correction of `next_at`."""

    stretch_at: datetime
    """The beginning of the ramp stretch that the permits belong to."""

    last_taken: int
    """The number of permits taken in the previous stretch of the ramp."""

    day: date
    """The day that the permits count for."""

    cap: int | None
    """The cap on `day`; None if there is no cap."""

    used_up_at: datetime | None
    """The end of the last period in which the quota or a cap was used up. Includes yesterday's
    cap."""

    is_of_quota: bool
    """True if the permits also count for the account's daily quota."""

    breaker: OpenBreaker | None
    """The half-open breaker, whose probe gets the only permit; None if the breaker is closed."""

    @property
    def is_probe(self) -> bool:
        """Return True if the reserved permit is for the breaker's probe."""
        return self.breaker is not None

    @property
    def last_at(self) -> datetime:
        """The time of the last reserved permit."""
        return self.at + (self.number - 1) * self.cost

    def permits_from(self, at: datetime) -> Sequence[Permit]:
        """Return the reserved permits, starting at `at`."""
        return [
            Permit(at=at + each * self.cost, is_probe=self.is_probe) for each in range(self.number)
        ]

    def from_(self, pace: Pace) -> Pace:
        """Return the state of the stream after the reserved permits are taken."""
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
    """The state of a stream's rate limiter, for display."""

    rate: float
    """The current rate, in emails per second."""

    full_rate: float
    """The highest rate in emails per second."""

    taken: int
    """The number of permits taken today."""

    cap: int | None
    """Today's cap; None if there is no cap."""

    quota: Quota | None
    """The account's quota; None if the daily quota is unknown or unlimited."""

    free_since: datetime | None
    """The start of the current period in which permits are left; None if the cap or the quota is
    used up."""

    breaker: OpenBreaker | None
    """The open circuit breaker; None if it is closed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """A worker's estimate of the next permits of a stream."""

    free_at: datetime
    """The earliest time at which a permit is free."""

    rate: float
    """The number of permits per second."""

    longest_wait: timedelta
    """The longest time that a worker waits for the permits of its emails."""


def outlook(pace: Pace, plan: PacePlan, now: datetime) -> Outlook:
    """Estimate the next free permit from a state that may be outdated.

    The actual permit is never earlier than the estimate.
    """
    is_ahead = pace.next_at is not None and pace.next_at > _furthest(pace, plan, now)
    free_at = _may_be_set_back_from(pace, now) if is_ahead else pace.next_at or now
    return Outlook(
        free_at=free_at, rate=rate_at(pace, plan, now), longest_wait=longest_wait_in(pace, plan)
    )


def full_rate(pace: Pace, plan: PacePlan) -> float:
    """Return the rate after the ramp, in emails per second."""
    return _rate(plan, pace.quota.rate if pace.quota else SANDBOX_RATE)


def longest_wait_in(pace: Pace, plan: PacePlan) -> timedelta:
    """Return the longest time that a worker waits for the permits of its emails.

    A worker that does not know the account's quota yet assumes ASSUMED_QUOTA, like the sizes of the
    functions do.
    """
    account = pace.quota.rate if pace.quota else ASSUMED_QUOTA
    return longest_wait(_rate(plan, account), plan.batch)


def _rate(plan: PacePlan, account: float) -> float:
    """Return the highest rate of the stream. `account` is the rate of the account's quota."""
    return plan.share.of_rate(min(MAX_RATE, plan.rate or QUOTA_SHARE * account))


def rate_at(pace: Pace, plan: PacePlan, now: datetime) -> float:
    """Return the current rate, in emails per second.

    The rate starts at `ramp_from` and depends on recent permits. It is about twice the rate of the
    permits in the previous stretch, rounded to a doubling of `ramp_from`. The rate therefore rises
    while there is work, and starts low after an idle or slow stretch.
    """
    full = full_rate(pace, plan)
    if not plan.ramp_from:
        return full
    low = plan.share.of_rate(plan.ramp_from)
    permits_per_second = _last_taken(pace, plan, now) / plan.ramp_every.total_seconds()
    doublings = round(math.log2(2 * permits_per_second / low)) if permits_per_second else 0
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
    """Reserve up to `number` permits, none of which is later than `latest`.

    A half-open breaker allows only the permit of its probe. The breaker is checked first, so that
    runs are requeued while it is open even if the daily cap is used up. `critical` permits count
    for the warm-up, but only the account's quota limits them.
    """
    if pace.breaker and pace.breaker.holds(now):
        return NoPermit.BREAKER_OPEN
    day, permits_today = _today(pace, now)
    cap = None if critical else plan.cap_on(day)
    if is_used_up(pace, now) or (cap is not None and permits_today >= cap):
        return NoPermit.DAILY_CAP
    at = now if pace.next_at is None else max(now, pace.next_at)
    furthest = _furthest(pace, plan, now)
    is_ahead = at > furthest
    if is_ahead and _may_be_set_back_from(pace, now) <= now:
        at = latest  # other workers have not taken a later permit
    if at > latest:
        return NoPermit.BUSY
    stretch_at, last_taken = pace.stretch_at, pace.last_taken
    if stretch_at is None or (_is_over(pace, plan, now) and not is_ahead):
        stretch_at, last_taken = now, _last_taken(pace, plan, now)
    cost = _cost(rate_at(pace, plan, now))
    quota = _day_of_account(pace, now)
    quota_left = quota.left if quota and quota.left is not None else number
    in_time = 1 + (latest - at) // cost
    of_day = number if cap is None else cap - permits_today
    return Reservation(
        at=at,
        number=1 if pace.breaker else min(number, in_time, of_day, quota_left),
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
    """Return True if the account's daily quota is used up."""
    quota = _day_of_account(pace, now)
    return quota is not None and not quota.left


def with_quota(pace: Pace, quota: Quota, at: datetime) -> Pace:
    """Return the state with the account's quota as read at `at`."""
    was_used_up = pace.quota is not None and pace.quota.left == 0
    used_up_at = at if was_used_up else pace.used_up_at
    return replace(pace, quota=quota, quota_at=at, used_up_at=used_up_at)


def free_since(pace: Pace, plan: PacePlan, now: datetime) -> datetime | None:
    """Return the start of the current period in which permits are left.

    None if the cap or the quota is used up.
    """
    if _is_day_over(pace, plan, now):
        return None
    day, _ = _today(pace, now)
    return min(_room_since(pace, plan, day) or EVER, now)


def read(pace: Pace, plan: PacePlan, now: datetime) -> PaceReading:
    """Return the state of the rate limiter for display."""
    day, permits_today = _today(pace, now)
    return PaceReading(
        rate=rate_at(pace, plan, now),
        full_rate=full_rate(pace, plan),
        taken=permits_today,
        cap=plan.cap_on(day),
        quota=_day_of_account(pace, now),
        free_since=free_since(pace, plan, now),
        breaker=pace.breaker,
    )


def _is_day_over(pace: Pace, plan: PacePlan, now: datetime) -> bool:
    """Return True if the daily cap or the account's daily quota is used up."""
    day, permits_today = _today(pace, now)
    cap = plan.cap_on(day)
    return (cap is not None and permits_today >= cap) or is_used_up(pace, now)


def _room_since(pace: Pace, plan: PacePlan, today: date) -> datetime | None:
    """Return the end of the last period in which the cap or the quota was used up; None if there
    was none.

    A cap that was used up ends at midnight (UTC). Midnight does not affect runs that wait for other
    reasons.
    """
    if pace.day is None or pace.day >= today:
        return pace.used_up_at
    cap = plan.cap_on(pace.day)
    if cap is None or pace.taken < cap:
        return pace.used_up_at
    midnight = datetime.combine(pace.day + timedelta(days=1), time(), UTC)
    return max(midnight, pace.used_up_at or EVER)


def _today(pace: Pace, now: datetime) -> tuple[date, int]:
    """Return the current day and the number of permits taken on this day.

    After midnight, a worker whose clock is behind does not return to the previous day.
    """
    today = now.astimezone(UTC).date()
    if pace.day is None or pace.day < today:
        return today, 0
    return pace.day, pace.taken


def _day_of_account(pace: Pace, now: datetime) -> Quota | None:
    """Return the account's daily quota, which each permit reduces; None if it is unlimited, unknown
    or outdated.

    If the quota is outdated, SES may refuse an email. A stricter rule would stop all email until
    SES responds.
    """
    quota, at = pace.quota, pace.quota_at
    if quota is None or quota.left is None or at is None or abs(now - at) >= _BELIEVED_FOR:
        return None
    return quota


def _cost(rate: float) -> timedelta:
    """Return the time between two permits."""
    return timedelta(microseconds=math.ceil(1_000_000 / rate))


def _furthest(pace: Pace, plan: PacePlan, now: datetime) -> datetime:
    """Return the latest time that a worker with a correct clock can have stored as `next_at`.

    Such a worker takes no permit later than its own longest wait, and the next permit follows at
    the slowest rate.
    """
    slowest = full_rate(pace, plan)
    if plan.ramp_from:
        slowest = min(slowest, plan.share.of_rate(plan.ramp_from))
    return now + CLOCK_SKEW + longest_wait_in(pace, plan) + _cost(slowest)


def _may_be_set_back_from(pace: Pace, now: datetime) -> datetime:
    """Return the earliest time at which `next_at` may be set back if it is too far ahead."""
    last = pace.set_back_at
    if last is None or last - now > _SIGNED_WITHIN:
        return now
    return max(now, last + SET_BACK_EVERY)


def _is_over(pace: Pace, plan: PacePlan, now: datetime) -> bool:
    """Return True if the current stretch of the ramp is over or begins in the future."""
    if pace.stretch_at is None or now - pace.stretch_at >= plan.ramp_every:
        return True
    return pace.stretch_at - now > CLOCK_SKEW


def _last_taken(pace: Pace, plan: PacePlan, now: datetime) -> int:
    """Return the number of permits taken in the previous stretch of the ramp."""
    if pace.stretch_at is None or now - pace.stretch_at >= 2 * plan.ramp_every:
        return 0
    if pace.stretch_at - now > CLOCK_SKEW:
        return 0
    if now - pace.stretch_at >= plan.ramp_every:
        return pace.stretch_taken
    return pace.last_taken
