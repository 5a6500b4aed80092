"""What the breaker promises all workers, held against our fake and the real adapter on moto."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import boto3
import pytest
from gazette.adapters.dynamodb.client import update_or_current
from gazette.adapters.dynamodb.pacing.pace import DynamoRateLimiter
from gazette.domain.delivery.circuit_breaker import OpenBreaker, opened_by_hand, tripped
from gazette.domain.delivery.pace import NoPermit, PacePlan, Permit, Quota
from gazette.domain.errors import Unavailable
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.builders import NOW
from tests.contract.conftest import SECOND, Paced

WAIT = 5 * SECOND
MINUTE = 60 * SECOND
TEN = PacePlan(rate=10)
ON = tripped(None, "paused", NOW)


def ask(worker: Any, now: Any = NOW) -> Permit | NoPermit:
    found: Permit | NoPermit = worker.reserve(now, now + WAIT)
    return found


def is_probe(worker: Any, now: Any = NOW) -> bool:
    """Of a permit that is there."""
    found = ask(worker, now)
    assert isinstance(found, Permit)
    return found.is_probe


def test_permit_is_not_a_probe_while_the_breaker_is_closed(paced: Paced) -> None:
    worker = paced.worker(TEN)
    assert [is_probe(worker) for _ in range(3)] == [False] * 3
    assert worker.read(NOW).breaker is None


def test_breaker_opened_by_a_worker_stops_all_workers(paced: Paced) -> None:
    """Who had permits before, who never asked, and who pulled."""
    one, other, third = (paced.worker(TEN) for _ in range(3))
    for worker in (one, other):
        is_probe(worker)
    assert one.trip("paused", NOW) == ON
    for worker in (one, other, third) * 2:
        assert ask(worker) is NoPermit.BREAKER_OPEN
        assert worker.read(NOW).breaker == ON
    assert one.read(NOW).taken == 2


def test_breaker_can_open_before_the_first_send(paced: Paced) -> None:
    assert paced.worker(TEN).trip("paused", NOW) == ON
    assert ask(paced.worker(TEN)) is NoPermit.BREAKER_OPEN


def test_permits_before_the_stop_count_after_the_reset(paced: Paced) -> None:
    worker = paced.worker(TEN)
    for _ in range(3):
        ask(worker)
    worker.trip("paused", NOW)
    worker.reset()
    found = ask(worker)
    assert isinstance(found, Permit)
    assert found.at == NOW + 0.3 * SECOND
    assert worker.read(NOW).taken == 4


def test_simultaneous_refusals_open_the_breaker_once(paced: Paced) -> None:
    workers = [paced.worker(TEN) for _ in range(5)]
    for worker in workers:
        ask(worker)
    for nth, worker in enumerate(workers * 2):
        assert worker.trip("paused", NOW + nth * SECOND) == ON


def test_only_a_single_worker_probes_after_the_wait(paced: Paced) -> None:
    workers = [paced.worker(TEN) for _ in range(4)]
    workers[0].trip("paused", NOW)
    assert [ask(worker) for worker in workers] == [NoPermit.BREAKER_OPEN] * 4
    later = NOW + MINUTE
    assert is_probe(workers[2], later)
    for worker in workers * 2:
        assert ask(worker, later + 30 * SECOND) is NoPermit.BREAKER_OPEN
    assert is_probe(workers[1], later + MINUTE)


def test_only_a_refused_probe_doubles_the_wait(paced: Paced) -> None:
    workers = [paced.worker(TEN) for _ in range(3)]
    for worker in workers:
        ask(worker)
        worker.trip("paused", NOW)
    later = NOW + MINUTE
    assert is_probe(workers[1], later)
    found = workers[1].trip("still paused", later + SECOND)
    assert (found.step, found.until) == (2 * MINUTE, later + SECOND + 2 * MINUTE)
    assert (found.why, found.since) == ("still paused", NOW)
    for worker in workers:
        assert worker.trip("paused", later + 2 * SECOND) == found
        assert worker.read(later).breaker == found


def test_successful_probe_closes_the_breaker_for_all(paced: Paced) -> None:
    one, other, third = (paced.worker(TEN) for _ in range(3))
    one.trip("paused", NOW)
    for worker in (one, other):
        assert ask(worker) is NoPermit.BREAKER_OPEN
    later = NOW + MINUTE
    assert is_probe(other, later)
    other.reset()
    other.reset()
    assert [is_probe(worker, later) for worker in (one, other, third)] == [False] * 3
    assert one.read(later).breaker is None


def test_closed_breaker_reopens_with_the_initial_wait(paced: Paced) -> None:
    one, other = paced.worker(TEN), paced.worker(TEN)
    for worker in (one, other):
        worker.trip("paused", NOW)
    later = NOW + MINUTE
    assert is_probe(one, later)
    one.trip("paused", later)
    other.reset()
    assert one.trip("again", later + SECOND) == tripped(None, "again", later + SECOND)
    other.reset()
    assert other.trip("once more", later) == tripped(None, "once more", later)


def test_manually_opened_breaker_stays_open_until_closed_manually(paced: Paced) -> None:
    person, worker = paced.worker(TEN), paced.worker(TEN)
    worker.trip("paused", NOW)
    by_hand = opened_by_hand("wrong template", NOW + SECOND)
    assert person.open_by_hand("wrong template", NOW + SECOND) == by_hand
    year_later = NOW + timedelta(days=365)
    assert ask(worker, year_later) is NoPermit.BREAKER_OPEN
    assert worker.trip("paused", year_later) == by_hand
    worker.reset()
    assert paced.worker(TEN).read(year_later).breaker == by_hand
    assert ask(worker, year_later) is NoPermit.BREAKER_OPEN
    person.close_by_hand()
    person.close_by_hand()
    assert not is_probe(worker, year_later)
    assert person.read(year_later).breaker is None


def test_automatically_opened_breaker_can_be_closed_manually(paced: Paced) -> None:
    person, worker = paced.worker(TEN), paced.worker(TEN)
    worker.trip("paused", NOW)
    person.close_by_hand()
    assert not is_probe(worker)


def test_breaker_may_have_an_empty_reason(paced: Paced) -> None:
    worker = paced.worker(TEN)
    worker.trip("", NOW)
    breaker = worker.read(NOW).breaker
    assert breaker
    assert breaker.why == ""


def test_refusal_of_another_stream_opens_a_closed_breaker(paced: Paced) -> None:
    one, other = paced.worker(TEN), paced.worker(TEN)
    ask(other)
    for worker in (one, other, one):
        worker.trip_if_closed("paused", NOW)
    assert one.read(NOW).breaker == ON
    assert [ask(worker) for worker in (one, other)] == [NoPermit.BREAKER_OPEN] * 2
    assert one.read(NOW).taken == 1


@pytest.mark.parametrize("later", [SECOND, MINUTE])
def test_refusal_of_another_stream_does_not_change_an_open_breaker(
    paced: Paced, later: timedelta
) -> None:
    """Whether it is tried, to be tried, or was pulled by hand."""
    one, other = paced.worker(TEN), paced.worker(TEN)
    other.read(NOW)
    one.trip("not verified", NOW)
    if later == MINUTE:
        assert is_probe(one, NOW + later)
    before = one.read(NOW).breaker
    for worker in (one, other):
        worker.trip_if_closed("paused", NOW + later)
    assert one.read(NOW).breaker == before
    by_hand = one.open_by_hand("wrong template", NOW)
    other.trip_if_closed("paused", NOW + later)
    assert one.read(NOW).breaker == by_hand


def test_quota_update_leaves_the_breaker_open(paced: Paced) -> None:
    worker = paced.worker(TEN)
    worker.trip("paused", NOW)
    paced.quota_store.set_quota(Quota(rate=14, daily=200, left=0), NOW)
    assert ask(worker) is NoPermit.BREAKER_OPEN
    assert worker.read(NOW).breaker == ON


@dataclass(frozen=True)
class Act:
    """What a worker does, some time after the last one."""

    worker: int
    pause: int
    what: str


acts = st.lists(
    st.builds(
        Act,
        worker=st.integers(0, 3),
        pause=st.sampled_from((0, 0, 1, 20, 60, 130, 1800)),
        what=st.sampled_from(
            ("ask",) * 8
            + ("trip", "trip", "reset", "open_by_hand", "reset", "close_by_hand", "tick")
            + ("trip_if_closed",)
        ),
    ),
    min_size=10,
    max_size=60,
)
_numbers = iter(range(1_000_000))


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(said=acts)
def test_workers_with_cached_breaker_state_get_correct_permits(
    engine: str, said: list[Act]
) -> None:
    """Who remembers that it is busy does not ask, and so may not know of the breaker yet."""
    real, fake = Paced(engine, f"breaker {next(_numbers)}"), Paced("fake")
    workers, oracle = [real.worker(TEN) for _ in range(4)], fake.worker(TEN)
    now = NOW
    for act in said:
        now += act.pause * SECOND
        worker = workers[act.worker]
        if act.what == "ask":
            told = ask(worker, now)
            assert told == ask(oracle, now) or told is NoPermit.BUSY
        elif act.what == "tick":
            for paced in (real, fake):
                paced.quota_store.set_quota(Quota(rate=14, daily=200, left=2), now)
        elif act.what in ("trip", "open_by_hand"):
            said_now = [getattr(each, act.what)("paused", now) for each in (worker, oracle)]
            assert said_now[0] == said_now[1]
        elif act.what == "trip_if_closed":
            for each in (worker, oracle):
                each.trip_if_closed("paused", now)
        else:
            for each in (worker, oracle):
                getattr(each, act.what)()
        assert worker.read(now) == oracle.read(now)


# Of the adapter alone: what it costs, and what is lost.


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each UpdateItem under a condition was done."""
    done: list[bool] = []

    def noted(*given: Any) -> Any:
        answer = update_or_current(*given)
        done.append(answer[0])
        return answer

    monkeypatch.setattr("gazette.adapters.dynamodb.pacing.pace.update_or_current", noted)
    return done


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
def test_permit_costs_a_single_write_in_any_breaker_state(paced: Paced, asked: list[bool]) -> None:
    """Also the one that tries; and of those that find it on, one refused write each."""
    one, other = paced.worker(TEN), paced.worker(TEN)
    ask(one)
    ask(other)
    asked.clear()
    ask(one)
    assert asked == [True]
    one.trip("paused", NOW)
    asked.clear()
    for worker in (one, other, one, other):
        assert ask(worker) is NoPermit.BREAKER_OPEN
    assert asked == [False] * 4
    asked.clear()
    assert is_probe(other, NOW + MINUTE)
    assert asked == [True]


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
def test_each_concurrent_refusal_writes_once(paced: Paced, asked: list[bool]) -> None:
    workers = [paced.worker(TEN) for _ in range(4)]
    for worker in workers:
        ask(worker)
    asked.clear()
    for worker in workers:
        worker.trip("paused", NOW)
    assert asked == [True, False, False, False]
    assert is_probe(workers[2], NOW + MINUTE)
    asked.clear()
    workers[2].trip("paused", NOW + MINUTE)
    assert asked == [True]


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
def test_permit_taken_while_the_breaker_opens_is_rejected(
    paced: Paced, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = paced.worker(TEN), paced.worker(TEN)
    for worker in (one, other):
        ask(worker)

    def overtaken(*given: Any) -> Any:
        monkeypatch.setattr(
            "gazette.adapters.dynamodb.pacing.pace.update_or_current", update_or_current
        )
        other.trip("paused", NOW)
        return update_or_current(*given)

    monkeypatch.setattr("gazette.adapters.dynamodb.pacing.pace.update_or_current", overtaken)
    assert ask(one) is NoPermit.BREAKER_OPEN


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
def test_only_a_single_concurrent_probe_is_granted(
    paced: Paced, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = paced.worker(TEN), paced.worker(TEN)
    one.trip("paused", NOW)
    for worker in (one, other):
        ask(worker)
    later = NOW + MINUTE
    found: list[bool] = []

    def overtaken(*given: Any) -> Any:
        monkeypatch.setattr(
            "gazette.adapters.dynamodb.pacing.pace.update_or_current", update_or_current
        )
        found.append(is_probe(other, later))
        return update_or_current(*given)

    monkeypatch.setattr("gazette.adapters.dynamodb.pacing.pace.update_or_current", overtaken)
    assert ask(one, later) is NoPermit.BREAKER_OPEN
    assert found == [True]


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
def test_lost_response_leaves_the_breaker_open(paced: Paced, answers: list[str]) -> None:
    one, other = paced.worker(TEN), paced.worker(TEN)
    ask(one)
    answers += ["lost after"]
    with pytest.raises(Unavailable):
        one.trip("paused", NOW)
    assert ask(other) is NoPermit.BREAKER_OPEN
    later = NOW + MINUTE
    answers += ["lost after"]
    with pytest.raises(Unavailable):
        ask(other, later)
    assert ask(one, later) is NoPermit.BREAKER_OPEN
    assert is_probe(one, later + MINUTE)


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
def test_constantly_changing_breaker_is_reported_as_unavailable(
    paced: Paced, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = paced.worker(TEN)
    assert isinstance(worker, DynamoRateLimiter)
    monkeypatch.setattr(
        "gazette.adapters.dynamodb.pacing.pace.update_or_current", lambda *_: (False, None)
    )
    with pytest.raises(Unavailable, match="kept changing"):
        worker.trip("paused", NOW)


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
def test_closed_breaker_has_no_attributes_in_the_row(paced: Paced) -> None:
    worker = paced.worker(TEN)
    ask(worker)
    worker.trip("paused", NOW)
    worker.reset()
    row = boto3.resource("dynamodb").Table("pace").get_item(Key={"name": "email"})["Item"]
    assert not [name for name in row if name.startswith("breaker")]


def test_breaker_is_read_as_stored(paced: Paced) -> None:
    worker, until = paced.worker(TEN), NOW + MINUTE
    worker.trip("paused", NOW)
    is_probe(worker, until)
    assert worker.read(until).breaker == OpenBreaker(
        why="paused", since=NOW, until=until + MINUTE, step=MINUTE, is_probed=True
    )
