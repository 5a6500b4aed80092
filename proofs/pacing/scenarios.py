"""Digests of one slot, together with a steady stream of immediate email."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import inf
from random import Random

from gazette.domain.delivery.pace import QUOTA_SHARE, NoPermit, Outlook, Pace, PacePlan, Quota
from gazette.domain.delivery.run import Reason, Run
from gazette.domain.delivery.streams import Share, Streams, divided
from gazette.domain.model import RunKey
from gazette.settings.ranges import SECOND
from gazette.steps.delivery.pacing import Pacing

from gazette_cdk.concurrency import Size
from gazette_cdk.stage import Stage
from gazette_cdk.topology import GENERATE
from gazette_cli.simulate.engine.cohorts import DIGEST, IMMEDIATE, Cohort
from gazette_cli.simulate.engine.limiter import Row
from gazette_cli.simulate.engine.provider import Provider
from gazette_cli.simulate.engine.queues import Queue
from gazette_cli.simulate.engine.sending import AsTheStepsSay, Surroundings, Waiting, Workers
from gazette_cli.simulate.engine.tally import Tally
from gazette_cli.simulate.engine.timeline import Timeline
from gazette_cli.simulate.engine.times import Times

DIGESTS = 16_667
BEGIN = datetime(2026, 11, 23, 6, 0, tzinfo=UTC)
_EXACT = 0.001
"""Seconds, so short that messages become visible one by one."""


@dataclass(frozen=True, slots=True)
class AsBefore:
    """The pacing before there were two queues: a run waited for five seconds, then for minutes."""

    def longest(self, known: Outlook) -> timedelta:
        """Return five seconds, whatever the rate was."""
        return timedelta(seconds=5)

    def postponed_until(self, key: RunKey, pacing: Pacing) -> datetime | None:
        """Return None, because every run was read."""

    def again_at(self, run: Run, why: NoPermit, pacing: Pacing) -> datetime | Reason:
        """Return a random time, however many runs waited."""
        soonest, latest = (10, 60) if run.key.is_immediate else (60, 900)
        delay = soonest + (latest - soonest) * pacing.random()
        return pacing.clock() + timedelta(seconds=delay)


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """A design: the mappings by queue, the mapping of each stream, and the way in which runs
    wait."""

    mappings: Mapping[str, Size]
    queue_of: Streams[str]
    waiting: Waiting


_OWN = Streams(digest="generate", immediate="immediate")
_ONE = Streams(digest="generate", immediate="generate")

BEFORE = {
    "one queue, 20 workers of ten messages, 5 s": Design(
        mappings={"generate": Size(20, 10)}, queue_of=_ONE, waiting=AsBefore()
    ),
    "one queue, 20 workers of one message, 5 s": Design(
        mappings={"generate": Size(20, 1)}, queue_of=_ONE, waiting=AsBefore()
    ),
}
"""The designs before there were two queues, and before messages were processed in parallel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A scenario. `quota` is the account's emails a second, and `load` the share of their rate that
    immediate emails use. `slower` multiplies the assumed durations of calls and rendering. `spread`
    is the longest random delay of a digest; None for the default of a stage."""

    quota: float
    digests: int = DIGESTS
    load: float = 0.8
    slower: float = 1.0
    spread: timedelta | None = None
    seed: int = 1

    @property
    def rate(self) -> float:
        """The emails a second of both streams."""
        return QUOTA_SHARE * self.quota


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The promised figures and their cost. `rate_used` is the used share of the digests' rate, for
    19 in 20 digests.

    `immediate_p99` is the time in seconds from when a run may be sent until it is accepted.
    """

    digests: int
    immediate_p99: float
    longest_wait_ms: float
    rate_used: float
    requeues_per_email: float
    gb_s_per_million: float
    digest_seconds: float
    digests_per_invocation: float
    requeues_per_digest: float
    digests_by_minute: Mapping[int, int]


def stage_of(scenario: Scenario) -> Stage:
    """Return a stage that knows its rate; an unknown rate is assumed to be 14."""
    known = 0 if scenario.quota in {1, 14} else max(1, round(scenario.rate))
    return Stage(
        name="some", sender="a@example.com", list_id="example.com", emails_per_second=known
    )


def play(scenario: Scenario, *, old: Design | None = None) -> Figures:
    """Simulate the slot until everything is sent."""
    stage, random, timeline = stage_of(scenario), Random(scenario.seed), Timeline(BEGIN)
    own = Design(
        mappings={queue: stage.size_of(GENERATE, queue) for queue in GENERATE.queues},
        queue_of=_OWN,
        waiting=AsTheStepsSay(),
    )
    design, tally = old or own, Tally()
    spread = stage.spread if scenario.spread is None else scenario.spread
    queues = {name: Queue[Cohort](timeline, _EXACT) for name in design.mappings}
    shares = divided(stage.immediate_share)
    around = Surroundings(
        timeline=timeline,
        rows=Streams(
            digest=_row(scenario, shares.digest, design.mappings[design.queue_of.digest]),
            immediate=_row(scenario, shares.immediate, design.mappings[design.queue_of.immediate]),
        ),
        queue_of=Streams(
            digest=queues[design.queue_of.digest], immediate=queues[design.queue_of.immediate]
        ),
        resend=Queue(timeline),
        provider=Provider(rate=1e9),
        service=None,
        tally=tally,
        random=random,
        max_lateness=stage.max_lateness,
        times=Times().with_memory(stage.sized(GENERATE).memory).times(scenario.slower),
        waiting=design.waiting,
        grain=1,
    )
    for name, size in design.mappings.items():
        Workers(name, queues[name], size, around)
    for _ in range(scenario.digests):
        at = 20 * random.random() + random.randint(0, spread // SECOND)
        around.queue_of.digest.put(Cohort(DIGEST, 0, inf), 1, at)
    digests = scenario.rate * (100 - stage.immediate_share) / 100
    immediate = (scenario.rate - digests) * scenario.load
    until, at = max(600, scenario.digests / digests), 0.0
    while immediate and (at := at + random.expovariate(immediate)) < until:
        around.queue_of.immediate.put(Cohort(IMMEDIATE, at, inf), 1, at)
    timeline.run()
    return _figures(tally, scenario, digests, stage.sized(GENERATE).memory)


def _row(scenario: Scenario, share: Share, size: Size) -> Row:
    row = Row(PacePlan(batch=size.batch, share=share))
    row.pace = Pace(quota=Quota(rate=scenario.quota), quota_at=BEGIN)
    return row


def _figures(tally: Tally, scenario: Scenario, rate: float, memory: int) -> Figures:
    emails, digests = sum(tally.sent.values()), scenario.digests
    sent = max(1, tally.sent[DIGEST])
    nearly_all = 0.95
    return Figures(
        digests=tally.sent[DIGEST],
        immediate_p99=tally.late[IMMEDIATE].percentile(0.99),
        longest_wait_ms=tally.waited * 1000,
        rate_used=nearly_all * digests / tally.late[DIGEST].percentile(nearly_all) / rate,
        requeues_per_email=sum(tally.requeued.values()) / emails,
        gb_s_per_million=sum(tally.billed.values()) * memory / 1024 / emails * 1_000_000,
        digest_seconds=tally.billed["generate"] / sent,
        digests_per_invocation=sent / max(1, tally.sending["generate"]),
        requeues_per_digest=tally.requeued[DIGEST] / sent,
        digests_by_minute=tally.by_minute[DIGEST],
    )


def said(figures: Figures) -> str:
    """Return the figures on one line."""
    return (
        f"digests={figures.digests} immediate_p99_s={figures.immediate_p99:.1f} "
        f"longest_wait_ms={figures.longest_wait_ms:.0f} rate_used={figures.rate_used:.3f} "
        f"requeues_per_email={figures.requeues_per_email:.2f} "
        f"digests_per_invocation={figures.digests_per_invocation:.1f} "
        f"gb_s_per_million={figures.gb_s_per_million:.0f}"
    )
