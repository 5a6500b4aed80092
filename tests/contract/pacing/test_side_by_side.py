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


def test_ten_threads_get_ten_permits_evenly_spaced_by_one_write(
    paced: Paced, engine: str, writes: list[str]
) -> None:
    worker = paced.worker(TEN)
    found = paced.together(worker, 10, NOW, NOW + WAIT)
    assert found == [Permit(at=NOW + nth * SECOND / 10) for nth in range(10)]
    assert writes == (["UpdateItem"] if engine == "moto" else [])
    assert paced.worker(TEN).read(NOW).taken == 10


def test_others_come_behind_all_of_them(paced: Paced) -> None:
    one, other = paced.worker(TEN), paced.worker(TEN)
    paced.together(one, 10, NOW, NOW + WAIT)
    found = paced.together(other, 3, NOW, NOW + WAIT)
    assert found == [Permit(at=NOW + nth * SECOND / 10) for nth in (10, 11, 12)]


def test_threads_for_which_it_would_be_too_late_take_none(paced: Paced) -> None:
    worker = paced.worker(TEN)
    found = paced.together(worker, 10, NOW, NOW + timedelta(milliseconds=450))
    assert found == [Permit(at=NOW + nth * SECOND / 10) for nth in range(5)] + 5 * [NoPermit.BUSY]
    assert worker.read(NOW).taken == 5


def test_no_more_threads_get_one_than_the_day_has_left(paced: Paced) -> None:
    plan = replace(TEN, warmup_from=NOW.date(), warmup_daily=12)
    one, other = paced.worker(plan), paced.worker(plan)
    paced.together(one, 8, NOW, NOW + WAIT)
    found = paced.together(other, 10, NOW, NOW + WAIT)
    assert found[4:] == 6 * [NoPermit.DAILY_CAP]
    assert [each.at for each in found[:4] if isinstance(each, Permit)] == [
        NOW + nth * SECOND / 10 for nth in (8, 9, 10, 11)
    ]


def test_no_more_threads_get_one_than_the_account_has_left(paced: Paced) -> None:
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


def test_threads_take_no_more_of_the_day_than_others_have_left(paced: Paced) -> None:
    plan = replace(TEN, warmup_from=NOW.date(), warmup_daily=12)
    worker = crowded(paced, plan, 8)
    found = paced.together(worker, 10, NOW, NOW + WAIT)
    assert found == [*tenths(9, 10, 11), *7 * [NoPermit.DAILY_CAP]]
    assert worker.read(NOW).taken == 12


def test_threads_take_no_more_of_the_account_than_others_have_left(paced: Paced) -> None:
    paced.quota_store.set_quota(Quota(rate=500, daily=100, left=12), NOW)
    worker = crowded(paced, TEN, 8)
    found = paced.together(worker, 10, NOW, NOW + WAIT)
    assert found == [*tenths(9, 10, 11), *7 * [NoPermit.DAILY_CAP]]
    reading = worker.read(NOW)
    assert reading.quota
    assert (reading.taken, reading.quota.left) == (12, 0)


def test_the_last_of_the_permits_is_in_time_however_many_others_have_taken(paced: Paced) -> None:
    worker = crowded(paced, TEN, 45)
    found = paced.together(worker, 10, NOW, NOW + WAIT)
    assert found == [*tenths(46, 47, 48, 49, 50), *5 * [NoPermit.BUSY]]
    assert worker.read(NOW).taken == 51


def test_of_threads_that_ask_an_open_breaker_one_is_the_probe(paced: Paced) -> None:
    worker = paced.worker(TEN)
    until = worker.trip("paused", NOW).until
    found = paced.together(worker, 10, until, until + WAIT)
    assert found == [Permit(at=until, is_probe=True)] + 9 * [NoPermit.BREAKER_OPEN]


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
def test_what_waited_for_other_threads_gets_no_permit_of_the_past(paced: Paced) -> None:
    """They would go out all at once."""
    paced.now = NOW + SECOND / 4
    found = paced.together(paced.worker(TEN), 3, NOW, NOW + WAIT)
    assert found == [Permit(at=paced.now + nth * SECOND / 10) for nth in range(3)]


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
def test_a_thread_that_waited_for_the_others_has_as_long_for_its_permit(paced: Paced) -> None:
    """What is too late for all of them only because of their wait would be asked for again."""
    worker = crowded(paced, TEN, 2)
    paced.now = NOW + SECOND / 4
    assert paced.together(worker, 2, NOW, NOW + SECOND / 10) == [*tenths(3), NoPermit.BUSY]


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
def test_no_thread_waits_longer_than_it_said_because_others_are_patient(paced: Paced) -> None:
    worker = paced.worker(TEN)
    assert worker.reserve(NOW, NOW) == Permit(at=NOW)
    waits = {"hurried": SECOND / 20, "patient": WAIT}
    found: dict[str, Permit | NoPermit] = {}

    def ask(thread: str) -> None:
        found[thread] = worker.reserve(NOW, NOW + waits[thread])

    paced.coalescer.side_by_side(ask, list(waits))
    assert found["hurried"] is NoPermit.BUSY
