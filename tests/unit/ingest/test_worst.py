"""Attack: a message or a form that costs ingest or the pages their memory."""

from multiprocessing import get_context

import pytest

from benchmarks.worst import FORMS, MESSAGES, Cost, measure


@pytest.fixture(scope="module")
def costs() -> dict[str, Cost]:
    """Of each of the worst, one after the other in one process of its own."""
    names = [*MESSAGES, *FORMS]
    with get_context("spawn").Pool(1) as process:
        return dict(zip(names, process.map(measure, names), strict=True))


def test_attack_messages_and_forms_use_limited_memory(costs: dict[str, Cost]) -> None:
    """A megabyte of empty events took two gigabytes: six problems for each, at once."""
    assert len(costs) > 30
    assert sum(cost.memory for cost in costs.values()) < 64
