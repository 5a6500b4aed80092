"""What the pace promises, held against our fake and the real adapter on moto."""

import math
from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from gazette.adapters.dynamodb.client import update_or_current
from gazette.adapters.dynamodb.pacing.pace import DynamoRateLimiter
from gazette.domain.delivery.pace import EVER, NoPermit, PacePlan, Permit, Quota
from gazette.domain.errors import Unavailable
from gazette.domain.ports.pacing import RateLimiter
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.builders import NOW
from tests.contract.conftest import SECOND, Paced

WAIT = 5 * SECOND
MICROSECOND = timedelta(microseconds=1)
TEN = PacePlan(rate=10)
NEXT_DAY = datetime(2026, 11, 23, tzinfo=UTC)


def permit(worker: RateLimiter, now: datetime = NOW, *, wait: timedelta = WAIT) -> datetime:
    """A permit that is there."""
    found = worker.reserve(now, now + wait)
    assert isinstance(found, Permit)
    return found.at


def after(permit: datetime) -> timedelta:
    return permit - NOW


def test_permits_are_evenly_spaced_across_workers(
    paced: Paced,
) -> None:
    one, other = paced.worker(TEN), paced.worker(TEN)
    found = [after(permit(worker)) for worker in (one, other, other, one, other)]
    assert found == [SECOND * nth / 10 for nth in range(5)]


def test_permit_after_the_deadline_is_not_taken(paced: Paced) -> None:
    one, other = paced.worker(TEN), paced.worker(TEN)
    assert [after(permit(one)) for _ in range(51)][-1] == WAIT
    assert {one.reserve(NOW, NOW + WAIT), other.reserve(NOW, NOW + WAIT)} == {NoPermit.BUSY}
    assert other.read(NOW).taken == 51
    assert after(permit(other, NOW + SECOND)) == 5.1 * SECOND


def test_permit_taken_by_another_worker_is_not_taken_again(paced: Paced) -> None:
    one, other = paced.worker(TEN), paced.worker(TEN)
    permit(one)
    for _ in range(50):
        permit(other)
    assert one.reserve(NOW, NOW + WAIT) is NoPermit.BUSY
    assert one.read(NOW).taken == 51


def test_permit_can_be_requested_without_waiting(paced: Paced) -> None:
    worker = paced.worker(TEN)
    assert permit(worker, wait=timedelta(0)) == NOW
    assert worker.reserve(NOW, NOW) is NoPermit.BUSY
    assert after(permit(worker, NOW + SECOND / 10, wait=timedelta(0))) == SECOND / 10


def test_idle_time_grants_no_extra_permits(paced: Paced) -> None:
    one, other = paced.worker(TEN), paced.worker(TEN)
    permit(one)
    later = NOW + 60 * SECOND
    assert [permit(worker, later) - later for worker in (other, one, other)] == [
        SECOND * nth / 10 for nth in range(3)
    ]


def test_fractional_rate_is_never_exceeded(paced: Paced) -> None:
    worker = paced.worker(PacePlan(rate=7))
    found = [after(permit(worker)) for _ in range(8)]
    assert SECOND < found[7] < SECOND + timedelta(microseconds=10)


def cost(rate: float) -> timedelta:
    """From one permit to the next."""
    return timedelta(microseconds=math.ceil(1_000_000 / rate))


def test_default_rate_is_90_percent_of_the_quota(
    paced: Paced,
) -> None:
    plan = PacePlan()
    one, other = paced.worker(plan), paced.worker(plan)
    found = [permit(worker) for worker in (one, other)]
    assert one.read(NOW).full_rate == 0.9
    paced.quota_store.set_quota(Quota(rate=20), NOW)
    found += [permit(worker) for worker in (one, other, one)]
    paced.quota_store.set_quota(Quota(rate=2.5), NOW + SECOND)
    found += [permit(worker) for worker in (other, other)]
    gaps = [later - earlier for earlier, later in pairwise(found)]
    assert gaps == [cost(0.9), cost(0.9), cost(18), cost(18), cost(18), cost(2.25)]


def test_quota_may_be_stored_before_the_first_send(paced: Paced) -> None:
    paced.quota_store.set_quota(Quota(rate=4, daily=200, left=150), NOW)
    worker = paced.worker(PacePlan())
    assert [after(permit(worker)) for _ in range(2)] == [0 * SECOND, cost(3.6)]
    reading = worker.read(NOW)
    assert (reading.taken, reading.quota) == (2, Quota(rate=4, daily=200, left=148))


def test_configured_rate_overrides_the_quota(paced: Paced) -> None:
    paced.quota_store.set_quota(Quota(rate=1), NOW)
    worker = paced.worker(TEN)
    assert [after(permit(worker)) for _ in range(2)] == [0 * SECOND, SECOND / 10]


def left(number: int) -> Quota:
    return Quota(rate=14, daily=200, left=number)


def test_remaining_daily_quota_is_shared_until_the_next_update(
    paced: Paced,
) -> None:
    """Also by whoever knows that nothing was left, or that there was no end to it."""
    workers = one, other, third = [paced.worker(TEN) for _ in range(3)]
    permit(one)
    paced.quota_store.set_quota(left(3), NOW)
    for worker in (one, other, other):
        permit(worker)
    for worker in workers * 2:
        assert worker.reserve(NOW, NOW + WAIT) is NoPermit.DAILY_CAP
    assert third.read(NOW).quota == left(0)
    paced.quota_store.set_quota(left(2), NOW + SECOND)
    for worker in (one, third):
        permit(worker, NOW + SECOND)
    assert {worker.reserve(NOW + SECOND, NOW + WAIT) for worker in workers} == {NoPermit.DAILY_CAP}


def test_unlimited_daily_quota_stops_no_worker(paced: Paced) -> None:
    one, other = paced.worker(TEN), paced.worker(TEN)
    paced.quota_store.set_quota(left(2), NOW)
    permit(one)
    paced.quota_store.set_quota(Quota(rate=14), NOW + SECOND)
    for worker in (one, other, one, other):
        permit(worker, NOW + SECOND)
    assert one.read(NOW + SECOND).quota is None


def test_runs_held_by_the_quota_are_released_by_an_increase(paced: Paced) -> None:
    """Also after it has told of room again."""
    worker = paced.worker(TEN)
    paced.quota_store.set_quota(left(1), NOW)
    assert worker.read(NOW).free_since == EVER
    permit(worker)
    assert worker.read(NOW).free_since is None
    later = NOW + timedelta(minutes=10)
    paced.quota_store.set_quota(left(0), later)
    assert worker.read(later).free_since is None
    room = later + timedelta(minutes=10)
    paced.quota_store.set_quota(left(5), room)
    again = room + timedelta(minutes=10)
    paced.quota_store.set_quota(left(2), again)
    assert worker.read(again).free_since == room


def test_hour_old_quota_stops_no_worker(paced: Paced) -> None:
    one, other = paced.worker(TEN), paced.worker(TEN)
    paced.quota_store.set_quota(left(1), NOW)
    permit(one)
    hour_later = NOW + timedelta(hours=1)
    assert one.reserve(hour_later - SECOND, hour_later) is NoPermit.DAILY_CAP
    for worker in (one, other, one):
        permit(worker, hour_later)
    assert one.read(hour_later).quota is None


WARMUP = PacePlan(rate=100, warmup_from=NOW.date(), warmup_daily=3)


def test_warmup_cap_doubles_each_day(
    paced: Paced,
) -> None:
    one, other, third = (paced.worker(WARMUP) for _ in range(3))
    for worker in (one, other, one):
        permit(worker)
    for worker in (one, other, third):
        assert worker.reserve(NOW, NOW + WAIT) is NoPermit.DAILY_CAP
    for worker in (one, other, one, one, other, one):
        permit(worker, NEXT_DAY)
    assert {worker.reserve(NEXT_DAY, NEXT_DAY + WAIT) for worker in (one, other, third)} == {
        NoPermit.DAILY_CAP
    }


def test_critical_email_counts_toward_the_warmup_but_is_not_delayed(paced: Paced) -> None:
    one, other = paced.worker(WARMUP), paced.worker(WARMUP)
    for worker in (one, other, one, other):
        assert isinstance(worker.reserve(NOW, NOW + WAIT, critical=True), Permit)
    for worker in (one, other):
        assert worker.reserve(NOW, NOW + WAIT) is NoPermit.DAILY_CAP
        assert worker.forecast(NOW) is NoPermit.DAILY_CAP
        assert isinstance(worker.forecast(NOW, critical=True), Permit)
    assert one.read(NOW).taken == 4
    assert one.read(NEXT_DAY).free_since == NEXT_DAY
    assert isinstance(other.reserve(NEXT_DAY, NEXT_DAY + WAIT, critical=True), Permit)
    assert one.read(NEXT_DAY + SECOND).free_since == NEXT_DAY, "still known after a critical one"


def test_concurrent_threads_get_normal_or_critical_permits(paced: Paced) -> None:
    worker = paced.worker(WARMUP)
    found = paced.together(worker, 5, NOW, NOW + WAIT)
    assert sum(isinstance(each, Permit) for each in found) == 3
    found = paced.together(worker, 5, NOW, NOW + WAIT, critical=True)
    assert sum(isinstance(each, Permit) for each in found) == 5


def test_critical_email_waits_for_quota_and_rate(paced: Paced) -> None:
    worker = paced.worker(WARMUP)
    paced.quota_store.set_quota(Quota(rate=100, daily=200, left=1), NOW)
    assert isinstance(worker.reserve(NOW, NOW + WAIT, critical=True), Permit)
    assert worker.reserve(NOW, NOW + WAIT, critical=True) is NoPermit.DAILY_CAP
    slow = paced.worker(replace(WARMUP, rate=0.01))
    paced.quota_store.set_quota(Quota(rate=100), NOW)
    assert isinstance(slow.reserve(NOW + SECOND, NOW + 9 * SECOND, critical=True), Permit)
    assert slow.reserve(NOW + SECOND, NOW + 9 * SECOND, critical=True) is NoPermit.BUSY


def test_runs_held_by_the_daily_cap_are_released_at_midnight(paced: Paced) -> None:
    worker = paced.worker(WARMUP)
    for _ in range(3):
        permit(worker)
    assert worker.read(NOW).free_since is None
    assert worker.read(NEXT_DAY + 5 * SECOND).free_since == NEXT_DAY
    permit(worker, NEXT_DAY + 5 * SECOND)
    assert worker.read(NEXT_DAY + 9 * SECOND).free_since == NEXT_DAY
    day_after = NEXT_DAY + timedelta(days=1)
    permit(worker, day_after)
    assert worker.read(day_after).free_since == NEXT_DAY, "only one of six was taken there"


def test_unused_cap_holds_no_runs(paced: Paced) -> None:
    worker = paced.worker(WARMUP)
    permit(worker)
    assert worker.read(NEXT_DAY).free_since == EVER
    permit(worker, NEXT_DAY)
    assert worker.read(NEXT_DAY + SECOND).free_since == EVER


def test_worker_unaware_of_a_reached_cap_keeps_its_record_at_midnight(
    paced: Paced,
) -> None:
    one, other = paced.worker(WARMUP), paced.worker(WARMUP)
    permit(one)
    permit(other)
    permit(other)
    permit(one, NEXT_DAY)
    assert one.read(NEXT_DAY).free_since == NEXT_DAY


def test_new_day_begins_once_for_all_workers(paced: Paced) -> None:
    workers = [paced.worker(WARMUP) for _ in range(3)]
    for worker in workers:
        permit(worker, NEXT_DAY - 5 * SECOND)
    for nth in range(6):
        permit(workers[nth % 3], NEXT_DAY + nth * SECOND)
    late = NEXT_DAY + 6 * SECOND
    assert workers[0].reserve(late, late) is NoPermit.DAILY_CAP


def test_slow_clock_at_midnight_does_not_restore_the_previous_day(paced: Paced) -> None:
    plan = replace(WARMUP, warmup_daily=1)
    one, other = paced.worker(plan), paced.worker(plan)
    permit(one, NEXT_DAY)
    permit(one, NEXT_DAY)
    for worker in (other, one):
        assert worker.reserve(NEXT_DAY - SECOND, NEXT_DAY + WAIT) is NoPermit.DAILY_CAP


def test_daily_cap_is_reported_in_preference_to_a_late_permit(paced: Paced) -> None:
    """What is told decides whether a digest is requeued or skipped."""
    worker = paced.worker(replace(WARMUP, rate=0.01))
    permit(worker)
    assert worker.reserve(NOW, NOW + WAIT) is NoPermit.BUSY
    for nth in (1, 2):
        permit(worker, NOW + nth * 100 * SECOND)
    assert worker.reserve(NOW, NOW + WAIT) is NoPermit.DAILY_CAP


def test_sending_rate_can_be_read(paced: Paced) -> None:
    plan = replace(WARMUP, ramp_from=20)
    worker = paced.worker(plan)
    before = worker.read(NOW)
    assert (before.rate, before.full_rate, before.taken, before.cap) == (20, 100, 0, 3)
    permit(worker)
    assert paced.worker(plan).read(NOW).taken == 1
    tomorrow = worker.read(NEXT_DAY)
    assert (tomorrow.taken, tomorrow.cap) == (0, 6)
    assert paced.worker(TEN).read(NOW).cap is None


STRETCH = 15 * SECOND


def drain(workers: list[RateLimiter], now: datetime, *, until: datetime) -> Counter[int]:
    """Emails by stretch of a ramp, where somebody is always waiting. Advances as a worker would."""
    sent: Counter[int] = Counter()
    while now < until:
        for worker in workers:
            found = permit(worker, now)
            sent[int((found - NOW) / STRETCH)] += 1
        now = max(now, found)
    return sent


@pytest.mark.long
def test_ramp_up_starts_slowly_and_doubles_per_interval(
    paced: Paced,
) -> None:
    plan = PacePlan(rate=6, ramp_from=1, ramp_every=STRETCH)
    workers: list[RateLimiter] = [paced.worker(plan) for _ in range(3)]
    sent = drain(workers, NOW, until=NOW + 5 * STRETCH)
    for nth, rate in enumerate((1, 2, 4, 6)):
        assert sent[nth] == pytest.approx(15 * rate, abs=rate + 2)


def test_ramp_up_counts_permits_of_all_workers(paced: Paced) -> None:
    """Also where the one that begins a stretch knows little of the last."""
    plan = PacePlan(rate=6, ramp_from=1)
    one, other = paced.worker(plan), paced.worker(plan)
    permit(one)
    for nth in range(1, 29):
        permit(other, NOW + nth * SECOND)
    begin = NOW + 31 * SECOND
    permit(one, begin)
    assert one.read(begin).rate == 2


def test_ramp_up_restarts_after_a_pause(paced: Paced) -> None:
    plan = PacePlan(rate=6, ramp_from=1, ramp_every=STRETCH)
    workers: list[RateLimiter] = [paced.worker(plan) for _ in range(2)]
    drain(workers, NOW, until=NOW + 2.5 * STRETCH)
    assert workers[0].reserve(NOW + 40 * SECOND, NOW + 50 * SECOND)
    later = NOW + 5 * STRETCH
    assert [permit(worker, later) - later for worker in (*workers, *workers)] == [
        SECOND * nth for nth in range(4)
    ]


def test_few_emails_do_not_raise_the_ramp(paced: Paced) -> None:
    """Else a few immediate emails all night would let the morning begin at the full rate."""
    worker = paced.worker(PacePlan(rate=100, ramp_from=10))
    now = NOW
    for _ in range(40):
        permit(worker, now)
        now += 7 * SECOND
    assert worker.read(now).rate == 10


@dataclass(frozen=True)
class Ask:
    """Threads of a worker ask, some time after the last ones did, and wait so long.

    Before it, a tick may learn how many emails the account may still send.
    """

    worker: int
    threads: int
    pause: timedelta
    wait: timedelta
    tick: int | None


def milliseconds(most: int) -> st.SearchStrategy[timedelta]:
    return st.integers(0, most).map(lambda number: timedelta(milliseconds=number))


asks = st.builds(
    Ask,
    worker=st.integers(0, 3),
    threads=st.sampled_from((1, 1, 2, 10)),
    pause=st.one_of(st.just(timedelta(0)), milliseconds(300), milliseconds(40_000)),
    wait=milliseconds(5000),
    tick=st.one_of(st.none(), st.none(), st.none(), st.integers(0, 12)),
)
plans = st.builds(
    PacePlan,
    rate=st.sampled_from((0.7, 3, 7, 30)),
    ramp_from=st.sampled_from((0, 1, 2)),
    ramp_every=st.just(timedelta(seconds=15)),
    warmup_from=st.sampled_from((None, date(2026, 11, 22))),
    warmup_daily=st.integers(1, 30),
)
_numbers = iter(range(1_000_000))


examples = {"plan": plans, "said": st.lists(asks, min_size=20, max_size=60)}


@pytest.mark.long
@settings(max_examples=100, deadline=None)
@given(**examples)
def test_rates_and_caps_hold_for_any_sequence_of_requests(plan: PacePlan, said: list[Ask]) -> None:
    all_hold(Paced("fake"), plan, said)


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
@settings(
    max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(**examples)
def test_rates_and_caps_hold_with_outdated_worker_caches(
    engine: str, plan: PacePlan, said: list[Ask]
) -> None:
    all_hold(Paced(engine, f"row {next(_numbers)}"), plan, said)


def all_hold(paced: Paced, plan: PacePlan, said: list[Ask]) -> None:
    """Begins just before midnight.

    A permit lies right behind the one before it, by the rate that could be read, or is now; only
    who remembers an older rate of a ramp may leave a longer gap, and never a shorter one.
    """
    workers = [paced.worker(plan) for _ in range(4)]
    now = NEXT_DAY - 10 * SECOND
    soonest = latest = now
    still: int | None = None
    permits: list[datetime] = []
    days: Counter[date] = Counter()
    for ask in said:
        now += ask.pause
        if ask.tick is not None:
            now, still = now + MICROSECOND, ask.tick
            paced.quota_store.set_quota(left(ask.tick), now)
        rate = workers[ask.worker].read(now).rate
        _is_what_the_ramp_allows(rate, plan, permits, now)
        for found in paced.together(workers[ask.worker], ask.threads, now, now + ask.wait):
            if found is NoPermit.DAILY_CAP:
                assert still == 0 or days[now.date()] == plan.cap_on(now.date())
            elif found is NoPermit.BUSY:
                assert latest > now + ask.wait
            else:
                assert isinstance(found, Permit)
                assert still != 0
                still = still and still - 1
                at = found.at
                assert max(now, soonest) <= at <= min(max(now, latest), now + ask.wait)
                soonest = at + timedelta(seconds=1 / rate)
                slowest = min(rate, plan.ramp_from or rate)
                latest = at + timedelta(seconds=1 / slowest) + MICROSECOND
                permits.append(at)
                days[now.date()] += 1
    for day, number in days.items():
        cap = plan.cap_on(day)
        assert cap is None or number <= cap
    for nth, begin in enumerate(permits):
        within = [found for found in permits[nth:] if found < begin + SECOND]
        assert len(within) <= (plan.rate or 0) + 1


def _is_what_the_ramp_allows(
    rate: float, plan: PacePlan, permits: list[datetime], now: datetime
) -> None:
    """Doubled from its beginning, to the power of two that is next to twice what was taken.

    A stretch ends with the first permit after `ramp_every`, and counts until the next one ends: so
    what it had may have been taken three of them ago.
    """
    assert plan.rate
    if not plan.ramp_from:
        assert rate == plan.rate
        return
    lately = [found for found in permits if found >= now - 3 * plan.ramp_every]
    most = 2 * 2**0.5 * len(lately) / plan.ramp_every.total_seconds()
    assert min(plan.rate, plan.ramp_from) <= rate <= min(plan.rate, max(plan.ramp_from, most))


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
def test_permit_with_a_lost_response_is_never_granted_twice(
    paced: Paced, answers: list[str]
) -> None:
    one, other = paced.worker(TEN), paced.worker(TEN)
    permit(one)
    answers += ["lost after"]
    with pytest.raises(Unavailable):
        one.reserve(NOW, NOW + WAIT)
    answers += ["lost before"]
    with pytest.raises(Unavailable):
        one.reserve(NOW, NOW + WAIT)
    assert [after(permit(worker)) for worker in (one, other)] == [SECOND / 5, 3 * SECOND / 10]


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
def test_worker_known_to_be_busy_sends_no_request(paced: Paced, answers: list[str]) -> None:
    worker = paced.worker(TEN)
    for _ in range(51):
        permit(worker)
    answers += ["lost before"]
    assert worker.reserve(NOW, NOW + WAIT) is NoPermit.BUSY
    assert answers == ["lost before"]


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
def test_constantly_changing_row_is_reported_as_unavailable(
    paced: Paced, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = paced.worker(TEN)
    permit(paced.worker(TEN))
    monkeypatch.setattr(
        "gazette.adapters.dynamodb.pacing.pace.update_or_current", lambda *_: (False, None)
    )
    assert isinstance(worker, DynamoRateLimiter)
    with pytest.raises(Unavailable, match="kept changing"):
        worker.reserve(NOW, NOW + WAIT)


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
@pytest.mark.parametrize("later", [0 * SECOND, SECOND / 2, 40 * SECOND, 100 * SECOND])
def test_concurrent_worker_gets_a_separate_permit(
    paced: Paced, monkeypatch: pytest.MonkeyPatch, later: timedelta
) -> None:
    plan = PacePlan(rate=10, ramp_from=5, warmup_from=NOW.date())
    one, other = paced.worker(plan), paced.worker(plan)
    found = [permit(worker) for worker in (one, other)]
    now = NOW + later

    def overtaken(*asked: Any) -> Any:
        monkeypatch.setattr(
            "gazette.adapters.dynamodb.pacing.pace.update_or_current", update_or_current
        )
        found.append(permit(other, now))
        return update_or_current(*asked)

    monkeypatch.setattr("gazette.adapters.dynamodb.pacing.pace.update_or_current", overtaken)
    found.append(permit(one, now))
    assert [later - earlier >= SECOND / 10 for earlier, later in pairwise(found)] == [True] * 3
    assert one.read(now).taken == 4


def test_forecast_equals_a_reservation_without_taking_permits(paced: Paced) -> None:
    worker = paced.worker(replace(TEN, warmup_from=NOW.date(), warmup_daily=2))
    for number in (0, 1):
        expected = [worker.forecast(NOW) for _ in range(2)]
        assert worker.read(NOW).taken == number
        assert expected == 2 * [worker.reserve(NOW, NOW + WAIT)]
    assert worker.forecast(NOW) is NoPermit.DAILY_CAP
    breaker_open = paced.worker(TEN)
    breaker_open.trip("paused", NOW)
    assert breaker_open.forecast(NOW) is NoPermit.BREAKER_OPEN
    later = NOW + 120 * SECOND
    expected = [breaker_open.forecast(later) for _ in range(2)]
    assert expected == 2 * [Permit(at=later, is_probe=True)]
    assert expected[0] == breaker_open.reserve(later, later + WAIT)
