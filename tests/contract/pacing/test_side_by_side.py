"""Threads that ask for permits at the same time get them by one write."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from botocore.client import BaseClient
from gazette.adapters.dynamodb.pacing.pace import DynamoRateLimiter
from gazette.domain.delivery.pace import NoPermit, PacePlan, Permit, Quota

from tests.builders import NOW
from tests.contract.conftest import SECOND, Paced
from tests.fake_stores import FakeRateLimiter

TEN = PacePlan(rate=10)
WAIT = 5 * SECOND


@pytest.fixture
def writes(engine: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The calls that are made from now on; none where it is the fake."""
    made: list[str] = []
    if engine == "moto":
        real: Any = BaseClient._make_api_call  # type: ignore[attr-defined]

        def noted(client: BaseClient, operation: str, request: dict[str, Any]) -> Any:
            made.append(operation)
            return real(client, operation, request)

        monkeypatch.setattr(BaseClient, "_make_api_call", noted)
    return made


def tenths(*numbers: int) -> list[Permit]:
    """The permits of ten a second, from NOW on."""
    return [Permit(at=NOW + number * SECOND / 10) for number in numbers]


def test_ten_threads_get_evenly_spaced_permits_by_a_single_write(
    paced: Paced, engine: str, writes: list[str]
) -> None:
    worker = paced.worker(TEN)
    found = paced.together(worker, 10, NOW, NOW + WAIT)
    assert found == tenths(*range(10))
    assert writes == (["UpdateItem"] if engine == "moto" else [])
    assert paced.worker(TEN).read(NOW).taken == 10


def test_later_threads_get_later_permits(paced: Paced) -> None:
    one, other = paced.worker(TEN), paced.worker(TEN)
    paced.together(one, 10, NOW, NOW + WAIT)
    found = paced.together(other, 3, NOW, NOW + WAIT)
    assert found == tenths(10, 11, 12)


def test_threads_with_late_permits_take_none(paced: Paced) -> None:
    worker = paced.worker(TEN)
    found = paced.together(worker, 10, NOW, NOW + timedelta(milliseconds=450))
    assert found == tenths(*range(5)) + 5 * [NoPermit.BUSY]
    assert worker.read(NOW).taken == 5


def test_threads_do_not_exceed_the_daily_cap(paced: Paced) -> None:
    plan = replace(TEN, warmup_from=NOW.date(), warmup_daily=12)
    one, other = paced.worker(plan), paced.worker(plan)
    paced.together(one, 8, NOW, NOW + WAIT)
    found = paced.together(other, 10, NOW, NOW + WAIT)
    assert found[4:] == 6 * [NoPermit.DAILY_CAP]
    assert found[:4] == tenths(8, 9, 10, 11)


def test_threads_do_not_exceed_the_account_quota(paced: Paced) -> None:
    paced.quota_store.set_quota(Quota(rate=500, daily=100, left=3), NOW)
    found = paced.together(paced.worker(TEN), 10, NOW, NOW + WAIT)
    assert found[3:] == 7 * [NoPermit.DAILY_CAP]
    reading = paced.worker(TEN).read(NOW)
    assert reading.quota
    assert (reading.taken, reading.quota.left) == (3, 0)


def crowded(paced: Paced, plan: PacePlan, others: int) -> FakeRateLimiter | DynamoRateLimiter:
    """A worker that remembers its own permit, and none of those that others have taken since."""
    worker, other = paced.worker(plan), paced.worker(plan)
    assert worker.reserve(NOW, NOW + WAIT) == Permit(at=NOW)
    paced.together(other, others, NOW, NOW + WAIT)
    return worker


def test_threads_do_not_exceed_the_daily_cap_after_concurrent_permits(paced: Paced) -> None:
    plan = replace(TEN, warmup_from=NOW.date(), warmup_daily=12)
    worker = crowded(paced, plan, 8)
    permits = paced.together(worker, 10, NOW, NOW + WAIT)
    assert permits == [*tenths(9, 10, 11), *7 * [NoPermit.DAILY_CAP]]
    assert worker.read(NOW).taken == 12


def test_threads_do_not_exceed_the_account_quota_after_concurrent_permits(paced: Paced) -> None:
    paced.quota_store.set_quota(Quota(rate=500, daily=100, left=12), NOW)
    worker = crowded(paced, TEN, 8)
    permits = paced.together(worker, 10, NOW, NOW + WAIT)
    assert permits == [*tenths(9, 10, 11), *7 * [NoPermit.DAILY_CAP]]
    reading = worker.read(NOW)
    assert reading.quota
    assert (reading.taken, reading.quota.left) == (12, 0)


def test_last_batch_permit_is_on_time_despite_concurrent_permits(paced: Paced) -> None:
    worker = crowded(paced, TEN, 45)
    permits = paced.together(worker, 10, NOW, NOW + WAIT)
    assert permits == [*tenths(46, 47, 48, 49, 50), *5 * [NoPermit.BUSY]]
    assert worker.read(NOW).taken == 51


def test_only_a_single_thread_probes_an_open_breaker(paced: Paced) -> None:
    worker = paced.worker(TEN)
    until = worker.trip("paused", NOW).until
    found = paced.together(worker, 10, until, until + WAIT)
    assert found == [Permit(at=until, is_probe=True)] + 9 * [NoPermit.BREAKER_OPEN]


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
def test_waiting_threads_get_no_permits_in_the_past(paced: Paced) -> None:
    """They would go out all at once."""
    paced.now = NOW + SECOND / 4
    found = paced.together(paced.worker(TEN), 3, NOW, NOW + WAIT)
    assert found == [Permit(at=paced.now + nth * SECOND / 10) for nth in range(3)]


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
def test_waiting_for_a_batch_does_not_shorten_the_permit_deadline(paced: Paced) -> None:
    """Else all of them would ask again, although only their wait for each other made them late."""
    worker = crowded(paced, TEN, 2)
    paced.now = NOW + SECOND / 4
    assert paced.together(worker, 2, NOW, NOW + SECOND / 10) == [*tenths(3), NoPermit.BUSY]


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
def test_thread_deadline_is_not_extended_by_patient_threads(paced: Paced) -> None:
    worker = paced.worker(TEN)
    assert worker.reserve(NOW, NOW) == Permit(at=NOW)
    waits = {"hurried": SECOND / 20, "patient": WAIT}
    found: dict[str, Permit | NoPermit] = {}

    def ask(thread: str) -> None:
        found[thread] = worker.reserve(NOW, NOW + waits[thread])

    paced.coalescer.side_by_side(ask, list(waits))
    assert found["hurried"] is NoPermit.BUSY
