"""A short seed of `make linear`, and proof that it can fail."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import pytest

from benchmarks.ledger import Ledger
from benchmarks.linear import Measured, calls_each, measure, not_flat, not_straight
from benchmarks.town import Town
from tests.fake_stores import FakeEvents, FakeRuns, FakeSchedules

FEW, MANY = 2_000, 4_000
"""Python keeps up to two thousand tuples of a length for reuse, which the fewest must fill too."""


@pytest.fixture(scope="module")
def slot() -> Mapping[str, int]:
    return measure(0).calls


@pytest.fixture(scope="module")
def found() -> list[Measured]:
    return [measure(events) for events in (FEW, MANY)]


def test_idle_readers_cost_no_calls() -> None:
    found = [measure(readers, 300) for readers in (300, 600, 3_000)]
    assert not_flat(found) == []
    assert [each.messages for each in found] == [300] * 3


def test_call_for_idle_reader_is_detected() -> None:
    found = [measure(readers, 100) for readers in (100, 200)]
    visited = replace(found[1], calls=found[1].calls + Counter({"runs.chain": 1}))
    assert not_flat([found[0], visited]) == [
        "runs.chain: 101 calls with 200 readers, 100 with 100",
    ]


def test_calls_per_event_and_memory_are_constant(
    found: list[Measured], slot: Mapping[str, int]
) -> None:
    assert not_straight(found, slot) == []
    assert 4.1 < calls_each(found[-1], slot) < 4.2
    assert [each.messages for each in found] == [FEW, MANY]


def test_loading_all_readers_at_once_is_detected(
    found: list[Measured], slot: Mapping[str, int]
) -> None:
    wrong = not_straight([found[0], measure(MANY, page=MANY)], slot)
    assert wrong[-1].startswith("fan-out holds")


def test_growing_calls_per_event_are_detected(
    found: list[Measured], slot: Mapping[str, int]
) -> None:
    calls = Counter(found[1].calls) + Counter({"runs.chain": MANY // 100})
    wrong = not_straight([found[0], replace(found[1], calls=calls)], slot)
    assert wrong == ["runs.chain: 1.0100 calls a reader of 4000, 1.0000 of 2000"]


def test_omitted_reader_or_growing_duration_is_detected(
    found: list[Measured], slot: Mapping[str, int]
) -> None:
    left_out = replace(found[1], done=found[1].done - Counter(queued=1))
    assert not_straight([found[0], left_out], slot)[0].startswith("3999 of 4000")
    slow = [replace(each, seconds=each.waiting**3) for each in found]
    assert not_straight(slow, slot)[-1].endswith("times as long")


def test_indexed_and_plain_fakes_give_same_result() -> None:
    indexed, plain = Town(60, waiting=20), Town(60, waiting=20)
    plain.schedules = FakeSchedules(  # type: ignore[assignment]
        shards=plain.schedules.shards, rows=plain.schedules.rows, shard_of=plain.schedules.shard_of
    )
    plain.runs = FakeRuns()  # type: ignore[assignment]
    plain.events = FakeEvents(  # type: ignore[assignment]
        plain.clock, plain.runs, plain.schedules, plain.events.rows, plain.events.expires_at
    )
    ledgers = [Ledger(), Ledger()]
    done = [
        town.fan_out(book, weighs=False)
        for town, book in zip((indexed, plain), ledgers, strict=True)
    ]
    assert done[0] == done[1]
    assert ledgers[0].calls == ledgers[1].calls
    assert indexed.runs.rows == plain.runs.rows
    assert indexed.schedules.rows == plain.schedules.rows
    assert indexed.generate_queue.sent == plain.generate_queue.sent
