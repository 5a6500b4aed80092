"""The goals, in the order of the table that is printed."""

from benchmarks.bench.goals import Goal

GOALS: tuple[Goal, ...] = (
    Goal(
        "digests",
        "generate, 10 events: digests per CPU second",
        target=60,
        unit="a second",
        part="digests",
        is_floor=True,
    ),
    Goal(
        "digest-wall",
        "generate, 10 events: wall-clock time a digest, AWS answers in 10 ms",
        target=20,
        unit="ms",
        part="digests",
    ),
    Goal(
        "naive-cpu",
        "generate, 40 events: digests per CPU second, against the naive design",
        target=8,
        unit="×",
        part="naive",
        is_floor=True,
    ),
    Goal(
        "naive-wall",
        "generate, 40 events: wall-clock time, against the naive design",
        target=25,
        unit="×",
        part="naive",
        is_floor=True,
    ),
    Goal(
        "digest-calls",
        "generate: calls a digest, beside pages of events",
        target=5,
        unit="calls",
        part="digests",
    ),
    Goal(
        "events",
        "ingest: single events per CPU second",
        target=250,
        unit="a second",
        part="events",
        is_floor=True,
    ),
    Goal(
        "workers",
        "20 workers, modelled latencies",
        target=500,
        unit="emails a second",
        part="workers",
        is_floor=True,
    ),
    Goal(
        "ceiling",
        "the most that one installation sends",
        target=5000,
        unit="emails a second",
        part="digests",
        is_floor=True,
    ),
    Goal(
        "cold",
        "cold start of generate: CPU to the first message's work, against everything imported",
        target=0.6,
        unit="×",
        part="cold",
    ),
    Goal(
        "demo-week",
        "make demo from nothing: the whole week",
        target=180,
        unit="s",
        part="demo",
    ),
    Goal(
        "demo-first",
        "make demo from nothing: the first email",
        target=75,
        unit="s",
        part="demo",
    ),
)
