"""Threads that ask for permits at the same time get them by one write."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from botocore.client import BaseClient
from gazette.domain.delivery.pace import NoPermit, PacePlan, Permit, Quota

from tests.builders import NOW
from tests.contract.conftest import SECOND, Paced

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
