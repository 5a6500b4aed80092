"""The parts of the benchmark. Each part returns measurements by the name of the goal."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from statistics import median

from gazette.settings.ranges import RANGES

from benchmarks.bench.generating import BATCH, generate
from benchmarks.bench.goals import Measured, computed, number, of_rounds, ratio
from benchmarks.bench.ingesting import ingest
from benchmarks.bench.outside import bill, cold, demo, render, week
from benchmarks.bench.shared_stage import SharedStage
from gazette_cdk.topology import GENERATE
from gazette_cli.cost.assumptions import A_VCPU

Found = Mapping[str, Measured]
Part = Callable[[SharedStage, int], Found]

_EQUAL = dict.fromkeys(("dynamodb", "ses", "sqs", "secrets"), 0.010)
_MODELLED = {"dynamodb": 0.005, "ses": 0.060, "sqs": 0.010, "secrets": 0.010}
"""The modelled latency of each service in seconds. DynamoDB responds within single-digit
milliseconds. AWS does not document the latency of the other services.
https://aws.amazon.com/blogs/database/understanding-amazon-dynamodb-latency/
"""

_ROW_WRITES = 1000
"""The maximum write units per second for one partition, and therefore for one row.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html
"""

_WORKERS = 20
NAIVE = "naive design"
_PACE = "dynamodb UpdateItem pace"
_EVENT_PAGES = "dynamodb Query events"


def digests(stage: SharedStage, rounds: int) -> Found:
    """Measure digests of ten events, with AWS responses after 10 ms."""
    ours, naive = generate(stage(), rounds, events=10, latency=_EQUAL)
    writes = ours.counted(_PACE)
    fastest = RANGES["emails_per_second"].most or _ROW_WRITES / writes
    ceiling = min(fastest, _ROW_WRITES / writes)
    return {
        "digests": replace(
            of_rounds(
                ours.per_second,
                peers={NAIVE: naive.per_second},
                how=f"{number(median(ours.logged))} bytes logged a digest",
            ),
            profile=ours.profile,
        ),
        "digest-wall": of_rounds(ours.milliseconds, peers={NAIVE: naive.milliseconds}),
        "digest-calls": of_rounds(
            ours.counted_without(_EVENT_PAGES),
            peers={NAIVE: [naive.counted() - 1]},
            how=f"and {number(ours.counted(_EVENT_PAGES))} for pages of events",
        ),
        "ceiling": computed(
            ceiling,
            how=f"{number(writes)} writes of the pace row an email; a row accepts "
            f"{number(_ROW_WRITES)} writes a second; the highest rate of a stage is "
            f"{number(fastest)}",
        ),
    }


def against_naive(stage: SharedStage, rounds: int) -> Found:
    """Compare digests of forty events in twenty groups with the naive design."""
    ours, naive = generate(stage(), rounds, events=40, latency=_EQUAL, batches=1)
    rates = [number(median(each.per_second)) for each in (ours, naive)]
    walls = [number(median(each.milliseconds)) for each in (ours, naive)]
    return {
        "naive-cpu": replace(
            ratio(naive.cpu, ours.cpu, how=f"{' and '.join(rates)} digests per CPU second"),
            profile=ours.profile,
        ),
        "naive-wall": ratio(naive.wall, ours.wall, how=f"{' and '.join(walls)} ms a digest"),
    }


def workers(stage: SharedStage, rounds: int) -> Found:
    """Compute the rate of twenty workers from that of one worker, because they share only the pace
    row.

    On Lambda, a worker has only a share of a vCPU. The measured time of a batch is therefore
    extended by the missing CPU time, as if the worker never computed while it waits.
    """
    ours, _ = generate(stage(), rounds, events=10, latency=_MODELLED)
    share = min(1.0, GENERATE.memory / A_VCPU)
    rates = [
        _WORKERS / (wall + cpu * (1 / share - 1))
        for wall, cpu in zip(ours.wall, ours.cpu, strict=True)
    ]
    said = ", ".join(f"{name} {1000 * _MODELLED[name]:.0f} ms" for name in ("dynamodb", "ses"))
    return {
        "workers": of_rounds(
            rates,
            how=f"computed: {_WORKERS} times one worker, {said}, {GENERATE.memory} MB, which are "
            f"{share:.2f} vCPU; a batch of {BATCH} took "
            f"{number(BATCH * median(ours.milliseconds))} ms here",
        )
    }


def events(stage: SharedStage, rounds: int) -> Found:
    """Compare invocations with ten single events and invocations with a list of a hundred."""
    singles, lists = ingest(stage(), rounds)
    return {
        "events": replace(
            of_rounds(
                singles.per_second,
                peers={"in a list of 100": lists.per_second},
                how=f"{number(singles.calls.total())} calls an invocation of ten, "
                f"{number(lists.calls.total())} for a list of 100; "
                f"{number(median(singles.logged))} and {number(median(lists.logged))} bytes logged "
                "an event",
            ),
            profile=singles.profile,
        )
    }


PARTS: Mapping[str, Part] = {
    "rendering": render,
    "digests": digests,
    "naive": against_naive,
    "workers": workers,
    "events": events,
    "cold": cold,
    "bill": bill,
    "demo": demo,
    "week": week,
}
