"""The simulated service behind: how long its answers take."""

import pytest

from gazette_cli.simulate.engine.service import Service, ServicePlan

PLAN = ServicePlan(each=20, least=2, most=2)
"""Forty requests a second."""


@pytest.mark.parametrize("a_second", [1, 34, 40])
def test_responses_take_the_service_latency_below_capacity(a_second: int) -> None:
    service = Service(PLAN)
    waits = [service.ask(1, number / a_second) for number in range(3 * a_second)]
    assert max(waits) == pytest.approx(PLAN.latency)
    assert service.overloaded == 0


def test_simultaneous_requests_are_answered_sequentially() -> None:
    assert Service(PLAN).ask(41, 0) == pytest.approx(PLAN.latency + 1)


def test_requests_at_twice_the_capacity_queue_until_timeout() -> None:
    service = Service(PLAN)
    waits = [service.ask(1, number / 80) for number in range(80 * 5)]
    assert waits == sorted(waits)
    assert waits[79] == pytest.approx(PLAN.latency + 1, abs=0.05)
    assert waits[-1] == PLAN.timeout
    assert service.failed > 0
