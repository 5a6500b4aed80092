"""Digests of one slot beside a steady stream of immediate email."""

from dataclasses import dataclass
from datetime import timedelta
from random import Random

from gazette.domain.delivery.pace import QUOTA_SHARE, PacePlan
from gazette.domain.delivery.streams import Streams
from gazette.domain.model import DAILY, RunKey
from gazette.domain.scheduling.kinds import immediate_schedule

from infra.stage import Stage
from infra.topology import GENERATE
from proofs.pacing.simulation import BEGIN, Design, Found, Mapping, Simulation, Times

DIGESTS = 16_667
_AT_ONCE = immediate_schedule("post#p1")
_GB = GENERATE.memory / 1024
_OWN = Streams(digest="generate", immediate="immediate")
_ONE = Streams(digest="generate", immediate="generate")

BEFORE = {
    "one queue, 20 workers of ten messages, 5 s": Design(
        mappings=(Mapping(queue="generate", workers=20, batch=10),), queue_of=_ONE, old=True
    ),
    "one queue, 20 workers of one message, 5 s": Design(
        mappings=(Mapping(queue="generate", workers=20, batch=1),), queue_of=_ONE, old=True
    ),
}
"""Before there were two queues, and before messages were worked off side by side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """`quota`: emails a second of the account. `load`: the part of their rate that immediate emails
    take. `slower`: how many times as long calls and rendering take as the sizes assume.
    """

    quota: int
    digests: int = DIGESTS
    load: float = 0.8
    slower: float = 1.0
    seed: int = 1

    @property
    def rate(self) -> float:
        """Emails a second of both streams."""
        return QUOTA_SHARE * self.quota


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What is promised, and what it costs. `rate_used`: of the digests' rate, for 19 in 20 of them.

    `immediate_p99`: seconds from when the run may be sent until it is accepted.
    """

    digests: int
    immediate_p99: float
    longest_wait_ms: float
    rate_used: float
    requeues_per_email: float
    gb_s_per_million: float


def stage_of(scenario: Scenario) -> Stage:
    """A stage that knows its rate; 14 is what is assumed where it does not."""
    known = 0 if scenario.quota == 14 else max(1, round(scenario.rate))
    return Stage(
        name="some", sender="a@example.com", list_id="example.com", emails_per_second=known
    )


def play(scenario: Scenario, *, old: Design | None = None) -> Figures:
    """Simulate the slot until everything is sent."""
    stage, random = stage_of(scenario), Random(scenario.seed)
    sized = {queue: stage.size_of(GENERATE, queue) for queue in GENERATE.queues}
    own = Design(
        mappings=tuple(
            Mapping(queue=queue, workers=size.concurrency, batch=size.batch)
            for queue, size in sized.items()
        ),
        queue_of=_OWN,
    )
    simulation = Simulation(
        old or own,
        PacePlan(),
        stage.immediate_share,
        scenario.quota,
        Times().times(scenario.slower),
        random,
    )
    for number in range(scenario.digests):
        at = 20 * random.random() + random.randint(0, stage.spread)
        simulation.put(RunKey(f"reader{number}", DAILY, 1), BEGIN + timedelta(seconds=at))
    digests = scenario.rate * (100 - stage.immediate_share) / 100
    immediate = (scenario.rate - digests) * scenario.load
    until, at, number = max(600, scenario.digests / digests), 0.0, 0
    while (at := at + random.expovariate(immediate)) < until:
        simulation.put(RunKey(f"at{number}", _AT_ONCE, number), BEGIN + timedelta(seconds=at))
        number += 1
    return _figures(simulation.work(), scenario.digests, digests)


def _figures(found: Found, digests: int, rate: float) -> Figures:
    late = sorted(found.late["immediate"])
    most = sorted(found.done_at)[: digests * 19 // 20]
    emails = sum(found.sent.values())
    return Figures(
        digests=found.sent["digest"],
        immediate_p99=late[len(late) * 99 // 100],
        longest_wait_ms=max(found.waited) * 1000,
        rate_used=len(most) / (most[-1] - BEGIN).total_seconds() / rate,
        requeues_per_email=sum(found.requeued.values()) / emails,
        gb_s_per_million=found.billed * _GB / emails * 1_000_000,
    )


def said(figures: Figures) -> str:
    """One line."""
    return (
        f"digests={figures.digests} immediate_p99_s={figures.immediate_p99:.1f} "
        f"longest_wait_ms={figures.longest_wait_ms:.0f} rate_used={figures.rate_used:.3f} "
        f"requeues_per_email={figures.requeues_per_email:.2f} "
        f"gb_s_per_million={figures.gb_s_per_million:.0f}"
    )
