"""A benchmark of digests that compares the real function `generate`, in batches of ten, with the
naive design.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from gazette.adapters.aws.queues import encode_run_key
from gazette.domain.model import DAILY, RunKey

from benchmarks.bench.readers import user
from benchmarks.bench.stage import BenchStage, Took
from tests.functions.messages import records

OURS = "functions.generate.handler"
NAIVE = "benchmarks.bench.naive"
_FILL = "benchmarks.bench.readers"

BATCH = 10
_BATCHES = 3
"""The number of batches per design in each round."""


@dataclass
class Rounds:
    """The measurements of each round, per digest: CPU and wall-clock seconds, and bytes logged.

    Also contains the calls of each batch and, for our function, the CPU seconds of a digest by
    package.
    """

    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)
    logged: list[float] = field(default_factory=list)
    calls: list[Counter[str]] = field(default_factory=list)
    profile: dict[str, float] = field(default_factory=dict)

    def add(self, batches: list[Took]) -> None:
        """Add a round of batches."""
        digests = len(batches) * BATCH
        self.cpu.append(sum(each.cpu for each in batches) / digests)
        self.wall.append(sum(each.wall for each in batches) / digests)
        self.logged.append(sum(each.logged for each in batches) / digests)

    @property
    def per_second(self) -> list[float]:
        """The number of digests per CPU second."""
        return [1 / seconds for seconds in self.cpu]

    @property
    def milliseconds(self) -> list[float]:
        """The wall-clock milliseconds per digest."""
        return [1000 * seconds for seconds in self.wall]

    def counted(self, *named: str) -> float:
        """Return the median number of calls per digest.

        Count only calls with these names, or all calls.
        """
        return median(
            sum(number for name, number in calls.items() if not named or name in named) / BATCH
            for calls in self.calls
        )

    def counted_without(self, name: str) -> list[float]:
        """Return the number of calls per digest in each batch, excluding calls with this name."""
        return [(calls.total() - calls[name]) / BATCH for calls in self.calls]


def _fill(stage: BenchStage, batches: int, **given: object) -> list[list[str]]:
    """Create ten new readers per batch, and return their user ids by batch."""
    count = batches * BATCH
    first = stage.take_readers(count)
    stage.aws.set_latency(dynamodb=0.0, ses=0.0, sqs=0.0, secrets=0.0)
    stage.process(_FILL).invoke({"first": first, "readers": count, **given})
    users = [user(number) for number in range(first, first + count)]
    return [users[at : at + BATCH] for at in range(0, count, BATCH)]


def generate(
    stage: BenchStage,
    rounds: int,
    *,
    events: int,
    latency: Mapping[str, float],
    batches: int = _BATCHES,
) -> tuple[Rounds, Rounds]:
    """Measure rounds of our function and the naive design alternately, after a warm-up of each.

    Each entity has two events.
    """
    found = {OURS: Rounds(), NAIVE: Rounds()}
    given = {"events": events, "groups": events // 2}
    for turn in range(rounds + 1):
        filled = {
            OURS: _fill(stage, batches, **given),
            NAIVE: _fill(stage, batches, naive=True, **given),
        }
        stage.aws.set_latency(**latency)
        for module, users in filled.items():
            stage.aws.take_calls()
            took = []
            for each in users:
                took.append(_invoked(stage, module, each))
                calls = stage.aws.take_calls()
                if turn:
                    found[module].calls.append(calls)
            if turn:
                found[module].add(took)
    (last,) = _fill(stage, 1, **given)
    stage.aws.set_latency(**latency)
    seconds = stage.process(OURS).profile(_event(last))
    found[OURS].profile = {package: each / BATCH for package, each in seconds.items()}
    return found[OURS], found[NAIVE]


def _event(users: list[str]) -> dict[str, Any]:
    return records(*(encode_run_key(RunKey(user_id, DAILY, 1)) for user_id in users))


def _invoked(stage: BenchStage, module: str, users: list[str]) -> Took:
    took = stage.process(module).invoke(_event(users))
    if took.answer.get("batchItemFailures"):
        raise RuntimeError(f"{module} failed: {took.answer}; see build/bench/{module}.log")
    return took
