"""One worker whose clock is odd: others wait no longer than stated, and nothing goes out too fast.

Held against our fake and the real adapter on moto. DynamoDB rejects requests of a clock that is
more than 15 minutes off, so most of what is tried here is worse than what AWS lets happen.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from random import Random

import pytest
from gazette.domain.delivery.batching import LONGEST_WAIT_FOR_A_PERMIT
from gazette.domain.delivery.circuit_breaker import CLOCK_SKEW, FIRST_STEP, LONGEST_STEP
from gazette.domain.delivery.pace import (
    SET_BACK_EVERY,
    NoPermit,
    Pace,
    PacePlan,
    Permit,
    Quota,
    outlook,
    take,
)
from gazette.domain.delivery.streams import Share
from gazette.domain.ports.pacing import RateLimiter

from tests.builders import NOW
from tests.contract.conftest import SECOND, Paced

HOUR = timedelta(hours=1)
WAIT = LONGEST_WAIT_FOR_A_PERMIT
TEN = PacePlan(rate=10)


def lasting(paced: Paced) -> tuple[int, int]:
    """Seconds and emails a second of a test: moto takes milliseconds for each."""
    return (12, 5) if paced.engine == "moto" else (60, 20)


@dataclass
class Clocked:
    """A worker whose clock is so far ahead of the right one."""

    worker: RateLimiter
    ahead: timedelta = timedelta(0)

    def asks(self, at: datetime) -> datetime | NoPermit:
        """Ask at the right time `at`; returns when the email goes out by the right clock."""
        now = at + self.ahead
        found = self.worker.reserve(now, now + WAIT)
        return found.at - self.ahead if isinstance(found, Permit) else found


def test_permits_of_a_clock_an_hour_ahead_delay_workers_ten_seconds(
    paced: Paced,
) -> None:
    right, odd = Clocked(paced.worker(TEN)), Clocked(paced.worker(TEN), HOUR)
    assert right.asks(NOW) == NOW
    assert isinstance(odd.asks(NOW), datetime)
    assert right.asks(NOW) == NOW + WAIT, "behind all that others have taken"
    assert isinstance(odd.asks(NOW + SECOND), datetime)
    assert right.asks(NOW + SECOND) is NoPermit.BUSY
    again = NOW + SET_BACK_EVERY
    assert right.worker.outlook(NOW + SECOND).free_at == again
    assert isinstance(right.asks(again), datetime)
    assert right.asks(again + SECOND) == again + SECOND
    assert timedelta(seconds=10) == SET_BACK_EVERY


@pytest.mark.parametrize("ahead", [SECOND, CLOCK_SKEW, CLOCK_SKEW + 2 * SECOND, 365 * 24 * HOUR])
def test_delay_by_a_fast_clock_does_not_depend_on_the_offset(
    paced: Paced, ahead: timedelta
) -> None:
    right, odd = Clocked(paced.worker(TEN)), Clocked(paced.worker(TEN), ahead)
    assert isinstance(odd.asks(NOW), datetime)
    waited = next(
        tenths * SECOND / 10
        for tenths in range(1000)
        if isinstance(right.asks(NOW + tenths * SECOND / 10), datetime)
    )
    assert waited <= CLOCK_SKEW + WAIT + SECOND / 10


def asking_for(
    seconds: int, workers: Sequence[Clocked], *, plan: PacePlan
) -> tuple[Counter[int], list[datetime]]:
    """They ask all the time: permits by the second, and when those with a right clock had one."""
    assert plan.rate
    random = Random(7)
    sent: Counter[int] = Counter()
    right: list[datetime] = []
    for step in range(int(seconds * plan.rate * 2)):
        at = NOW + step * SECOND / (plan.rate * 2)
        asking = random.choice(workers)
        found = asking.asks(at)
        if isinstance(found, datetime):
            sent[(found - NOW) // SECOND] += 1
            if not asking.ahead:
                right.append(at)
    return sent, right


@pytest.mark.parametrize("ahead", [HOUR, -HOUR, 14 * SECOND * 60, -14 * SECOND * 60])
def test_fast_clock_exceeds_the_rate_by_a_bounded_amount(paced: Paced, ahead: timedelta) -> None:
    """The odd one takes permits as often as the others, and does not stop."""
    seconds, rate = lasting(paced)
    plan = PacePlan(rate=rate)
    workers = [Clocked(paced.worker(plan)) for _ in range(3)]
    sent, right = asking_for(seconds, [*workers, Clocked(paced.worker(plan), ahead)], plan=plan)
    twice = 1 + int(rate * WAIT / SECOND)
    assert max(sent.values()) <= rate + 2 * twice
    corrections = 1 + seconds // SET_BACK_EVERY.seconds
    assert sum(sent.values()) <= seconds * rate + 2 * corrections * twice
    gaps = [later - earlier for earlier, later in pairwise(right)]
    assert max(gaps) <= SET_BACK_EVERY + SECOND


def test_slow_clock_delays_no_worker(paced: Paced) -> None:
    seconds, rate = lasting(paced)
    plan = PacePlan(rate=rate)
    workers = [Clocked(paced.worker(plan)) for _ in range(3)]
    _, alone = asking_for(seconds, workers, plan=plan)
    other = Paced(paced.engine, "other")
    beside = [Clocked(other.worker(plan)) for _ in range(3)]
    _, right = asking_for(seconds, [*beside, Clocked(other.worker(plan), -HOUR)], plan=plan)
    gaps = [later - earlier for earlier, later in pairwise(right)]
    assert max(gaps) <= SECOND
    assert len(right) >= len(alone) / 2


@pytest.mark.parametrize(
    ("plan", "lead"),
    [
        (PacePlan(rate=0.5), 2 * SECOND),
        (PacePlan(rate=1, share=Share(0, 1)), 100 * SECOND),
        (PacePlan(rate=500, ramp_from=1, share=Share(0, 5)), 20 * SECOND),
    ],
)
def test_permit_of_a_correct_clock_is_respected_at_any_rate(
    paced: Paced, plan: PacePlan, lead: timedelta
) -> None:
    """Also where that clock is as far ahead as clocks may be."""
    one, other = Clocked(paced.worker(plan), CLOCK_SKEW), Clocked(paced.worker(plan))
    assert one.asks(NOW) == NOW
    assert other.asks(NOW) is NoPermit.BUSY
    assert other.worker.outlook(NOW).free_at == NOW + CLOCK_SKEW + lead


def test_raised_quota_releases_permits_spaced_by_the_old_quota(paced: Paced) -> None:
    plan = PacePlan(share=Share(0, 1))
    worker = Clocked(paced.worker(plan))
    assert worker.asks(NOW) == NOW
    assert worker.asks(NOW + SECOND) is NoPermit.BUSY
    paced.quota_store.set_quota(Quota(rate=2000), NOW + SECOND)
    fresh = Clocked(paced.worker(plan))
    assert isinstance(fresh.asks(NOW + 2 * SECOND), datetime)


WARMUP = PacePlan(rate=100, warmup_from=NOW.date(), warmup_daily=30)
MIDNIGHT = datetime(2026, 11, 23, tzinfo=UTC)


@pytest.mark.parametrize("ahead", [HOUR, -HOUR])
def test_daily_caps_hold_at_midnight_with_skewed_clocks(paced: Paced, ahead: timedelta) -> None:
    workers = [Clocked(paced.worker(WARMUP)), Clocked(paced.worker(WARMUP), ahead)]
    taken = 0
    for minutes in range(-90, 90):
        for worker in workers:
            at = MIDNIGHT + minutes * 60 * SECOND
            taken += isinstance(worker.asks(at), datetime)
            taken += isinstance(worker.asks(at + SECOND), datetime)
    assert WARMUP.cap_on(NOW.date()) == 30
    assert taken <= 30 + 60


def test_breaker_opened_by_a_fast_clock_waits_at_most_the_maximum(
    paced: Paced,
) -> None:
    odd, right = paced.worker(TEN), Clocked(paced.worker(TEN))
    odd.trip("refused", NOW + HOUR)
    waited = next(
        minutes
        for minutes in range(120)
        if right.asks(NOW + minutes * 60 * SECOND) is not NoPermit.BREAKER_OPEN
    )
    assert waited * 60 * SECOND <= LONGEST_STEP + CLOCK_SKEW


def test_refusal_by_a_correct_clock_resets_a_future_breaker_time(
    paced: Paced,
) -> None:
    odd, right = paced.worker(TEN), paced.worker(TEN)
    odd.trip("refused", NOW + HOUR)
    assert right.trip("refused", NOW).until == NOW + 2 * FIRST_STEP


def test_manually_opened_breaker_ignores_clocks(paced: Paced) -> None:
    paced.worker(TEN).open_by_hand("stop", NOW)
    assert Clocked(paced.worker(TEN)).asks(NOW + 24 * HOUR) is NoPermit.BREAKER_OPEN


RAMP = PacePlan(rate=100, ramp_from=1, ramp_every=30 * SECOND)


def test_future_ramp_start_does_not_stop_the_ramp_up(paced: Paced) -> None:
    right, odd = Clocked(paced.worker(RAMP)), Clocked(paced.worker(RAMP), HOUR)
    assert isinstance(odd.asks(NOW), datetime)
    rates = []
    for stretch in range(4):
        for seconds in range(30):
            right.asks(NOW + (stretch * 30 + seconds) * SECOND)
        rates.append(paced.worker(RAMP).read(NOW + (stretch + 1) * 30 * SECOND).rate)
    assert rates[-1] >= 2
    assert rates == sorted(rates)


def test_quota_stored_by_a_fast_clock_is_valid_for_an_hour() -> None:
    pace = Pace(quota=Quota(rate=14, daily=200, left=0), quota_at=NOW + HOUR)
    assert isinstance(take(pace, TEN, now=NOW, latest=NOW + WAIT), NoPermit) is False
    within = replace(pace, quota_at=NOW + HOUR - SECOND)
    assert take(within, TEN, now=NOW, latest=NOW + WAIT) is NoPermit.DAILY_CAP
    assert (
        isinstance(take(within, TEN, now=NOW + 2 * HOUR, latest=NOW + 2 * HOUR + WAIT), NoPermit)
        is False
    )


def test_future_clock_correction_does_not_delay_permits_for_an_hour() -> None:
    pace = Pace(next_at=NOW + HOUR, set_back_at=NOW + HOUR)
    assert outlook(pace, TEN, NOW).free_at == NOW
    near = replace(pace, set_back_at=NOW + timedelta(minutes=15))
    assert outlook(near, TEN, NOW).free_at == NOW + timedelta(minutes=15) + SET_BACK_EVERY
