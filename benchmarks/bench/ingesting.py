"""A benchmark of events, with the real function `ingest` and readers with armed schedules."""

from collections import Counter
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from benchmarks.bench.readers import detail_of, happened, user
from benchmarks.bench.stage import BenchStage
from tests.functions.messages import envelope, records

_MODULE = "functions.ingest.handler"
_FILL = "benchmarks.bench.readers"
_LATENCY = 0.010
_LIST = 100
_MESSAGES = 10
_INVOCATIONS = 3
"""The number of invocations per round, both with ten single events and with one list."""


@dataclass
class Ingested:
    """The measurements of each round, per event: CPU and wall-clock seconds, and bytes logged.

    Also contains the calls of an invocation, and the CPU seconds of an event by package.
    """

    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)
    logged: list[float] = field(default_factory=list)
    calls: Counter[str] = field(default_factory=Counter)
    profile: dict[str, float] = field(default_factory=dict)

    @property
    def per_second(self) -> list[float]:
        """The number of events per CPU second."""
        return [1 / seconds for seconds in self.cpu]


def ingest(stage: BenchStage, rounds: int) -> tuple[Ingested, Ingested]:
    """Measure rounds of invocations, alternately with ten single events and with a list of a
    hundred.

    Each event is for a different reader.
    """
    first = stage.take_readers(_LIST)
    stage.aws.set_latency(dynamodb=0.0, sqs=0.0, secrets=0.0)
    stage.process(_FILL).invoke({"first": first, "readers": _LIST, "armed": True})
    stage.aws.set_latency(dynamodb=_LATENCY, sqs=_LATENCY, secrets=_LATENCY)
    numbers = count()
    singles, lists = Ingested(), Ingested()
    for turn in range(rounds + 1):
        for found, events in ((singles, _MESSAGES), (lists, _LIST)):
            cpu = wall = logged = 0.0
            for _ in range(_INVOCATIONS):
                event = _event(first, events, next(numbers))
                stage.aws.take_calls()
                took = stage.process(_MODULE).invoke(event)
                if took.answer.get("batchItemFailures"):
                    raise RuntimeError(f"ingest failed: see build/bench/{_MODULE}.log")
                found.calls = stage.aws.take_calls()
                cpu, wall, logged = cpu + took.cpu, wall + took.wall, logged + took.logged
            if turn:
                done = _INVOCATIONS * events
                found.cpu.append(cpu / done)
                found.wall.append(wall / done)
                found.logged.append(logged / done)
    seconds = stage.process(_MODULE).profile(_event(first, _MESSAGES, next(numbers)))
    singles.profile = {package: each / _MESSAGES for package, each in seconds.items()}
    return singles, lists


def _event(first: int, events: int, turn: int) -> dict[str, Any]:
    """Return an invocation payload with one event per reader, as single messages or as one list."""
    details = [
        detail_of(happened(first + number, turn, 1), id=f"e{turn}", user_id=user(first + number))
        for number in range(events)
    ]
    if events == _LIST:
        return records(envelope("event.created", {"events": details}))
    return records(*(envelope("event.created", detail) for detail in details))
