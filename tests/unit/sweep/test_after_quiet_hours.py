"""The quiet hours of a hundred thousand readers end at seven: the sweep and the rate keep up."""

from collections import Counter
from datetime import UTC, datetime, timedelta

from gazette.domain.delivery.run import Run
from gazette.domain.identity import shard_of
from gazette.domain.model import RunKey
from gazette.domain.scheduling.growing import LOOK_AHEAD
from gazette.domain.scheduling.holding import waiting_in_quiet_hours
from gazette.domain.scheduling.kinds import immediate_schedule
from gazette.domain.scheduling.quiet import JITTER, spread_after
from gazette.steps.sweep.sweep import _ENOUGH, sweep

from gazette_cdk.topology import SWEEP
from tests.days import SWEEP_EVERY
from tests.fake_stores import PARTITIONS
from tests.indexed import IndexedRuns, RunRows
from tests.world import HOLD, World

READERS = 100_000
END = datetime(2026, 11, 29, 6, tzinfo=UTC)
"""Seven o'clock in Berlin."""

POST1 = immediate_schedule("post#post1")
BUSIEST = 220
"""The maximum number of emails in a second, where an even spread has 167."""

CALL = timedelta(milliseconds=20)
"""A slow call of DynamoDB or SQS. The sweep makes one for each run, and one for ten of them."""


def held_run(number: int) -> Run:
    begin = END - timedelta(hours=8)
    key = RunKey(f"reader{number}", POST1, int(begin.timestamp()))
    run = Run(key, due_at=begin, check_at=begin + timedelta(hours=1))
    return waiting_in_quiet_hours(run, spread_after(END, key.user_id), hold=HOLD)


def test_sweep_queues_a_hundred_thousand_emails_in_time_and_evenly() -> None:
    world = World(runs=IndexedRuns(RunRows()))
    for number in range(READERS):
        world.runs.create(held_run(number))
    calls = Counter[str]()
    visible: dict[RunKey, datetime] = {}
    busiest_turn = 0

    def count(name: str, call: object) -> object:
        calls[name] += 1
        return call()  # type: ignore[operator]

    world.clock.now = END - LOOK_AHEAD
    while world.clock.now < END + JITTER:
        for partition in range(PARTITIONS):
            with world.watched(count):
                swept = sweep(
                    partition, context=world.sweeping(), time_left=lambda: timedelta(minutes=15)
                )
            busiest_turn = max(busiest_turn, len(swept))
        for each in world.generate_queue.sent:
            assert each.key not in visible
            visible[each.key] = world.clock.now + each.delay
        world.generate_queue.sent = []
        world.clock.now += SWEEP_EVERY
    assert calls == {
        "runs.overdue": PARTITIONS * 4,
        "generate_queue.send": calls["generate_queue.send"],
        "runs.swap": READERS,
    }
    due = {run.key: run.due_at for run in world.runs.rows.values()}
    assert all(at == due[key] + HOLD for key, at in visible.items()), "no email is late"
    by_second = Counter(at.replace(microsecond=0) for at in visible.values())
    assert max(by_second.values()) < BUSIEST
    assert len(by_second) == JITTER // timedelta(seconds=1)
    assert READERS / 10 <= calls["generate_queue.send"] <= READERS / 10 + 4 * PARTITIONS
    time = timedelta(seconds=SWEEP.timeout) - _ENOUGH
    assert 1.1 * CALL * busiest_turn < time, "a turn of a partition fits in an invocation"


def test_partitions_of_the_sweep_are_equally_full() -> None:
    parts = Counter(shard_of(f"reader{number}", PARTITIONS) for number in range(READERS))
    assert max(parts.values()) < 1.1 * READERS / PARTITIONS
