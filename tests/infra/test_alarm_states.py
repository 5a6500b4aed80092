"""Each alarm of the template, evaluated on metrics that must raise it and on some that must not."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from random import Random

import pytest

from tests.infra.alarm_states import BEYOND, Recorded, Series, aggregate, calculated, state
from tests.infra.synthesis import Properties, Synthesis

NONE = None
_THREE = {"EvaluationPeriods": 3, "ComparisonOperator": "GreaterThanThreshold", "Threshold": 0}
_BAD, _GOOD = 1.0, 0.0


def as_said(row: str) -> list[float | None]:
    return [{"X": _BAD, "0": _GOOD, "-": None}[each] for each in row.split()]


@pytest.mark.parametrize(
    ("row", "missing", "ignore", "breaching", "not_breaching"),
    [
        ("0 - X - X", "OK", "OK", "OK", "OK"),
        ("0 - - - -", "OK", "OK", "OK", "OK"),
        ("- - - - -", "INSUFFICIENT_DATA", "retain", "ALARM", "OK"),
        ("0 X X - X", "ALARM", "ALARM", "ALARM", "ALARM"),
    ],
)
def test_three_of_three_evaluation_matches_the_aws_table(
    row: str, missing: str, ignore: str, breaching: str, not_breaching: str
) -> None:
    """But for its last row, which differs where an alarm waits for data: none of ours does."""
    for treated, expected in (
        ("missing", missing),
        ("ignore", ignore),
        ("breaching", breaching),
        ("notBreaching", not_breaching),
    ):
        alarm = {**_THREE, "TreatMissingData": treated}
        assert state(alarm, as_said(row), before="retain") == expected, treated


@pytest.mark.parametrize(
    ("row", "breaching", "not_breaching"),
    [
        ("0 - X - X", "ALARM", "ALARM"),
        ("0 0 X 0 X", "ALARM", "ALARM"),
        ("0 - X - -", "ALARM", "OK"),
        ("- - - - 0", "ALARM", "OK"),
        ("- - - - X", "ALARM", "OK"),
    ],
)
def test_two_of_three_evaluation_matches_the_aws_table(
    row: str, breaching: str, not_breaching: str
) -> None:
    for treated, expected in (("breaching", breaching), ("notBreaching", not_breaching)):
        alarm = {**_THREE, "DatapointsToAlarm": 2, "TreatMissingData": treated}
        assert state(alarm, as_said(row)) == expected, treated


def test_alarm_statistics_match_cloudwatch() -> None:
    ages = [0.0] * 12 + [9000.0] * 4
    assert (aggregate(ages, "p75"), aggregate([*ages, 9000.0], "p75")) == (0, 9000)
    assert aggregate([1, 2, 3], "Sum") == 6


Metrics = Mapping[str, Series]
_QUIET: Series = [None] * 62
"""Before: nothing."""


def steady(value: float) -> Series:
    return [value] * 62


RAISED: dict[str, tuple[Metrics, Metrics]] = {
    "fanout-silent": ({"shards_done": _QUIET}, {"shards_done": steady(16)}),
    "sweep-silent": ({"partitions_swept": _QUIET}, {"partitions_swept": steady(16)}),
    "digests-overdue": ({"oldest_due_age": steady(5401)}, {"oldest_due_age": steady(5400)}),
    "run-left-open": ({"oldest_due_age": steady(50401)}, {"oldest_due_age": steady(46000)}),
    "digests-late": ({"slot_to_accepted": steady(4201)}, {"slot_to_accepted": steady(2000)}),
    "immediate-late": (
        {"collected_to_accepted": steady(262)},
        {"collected_to_accepted": steady(261)},
    ),
    "messages-failing": ({"failed": steady(1)}, {"failed": [*_QUIET[:-9], *[3.0] * 9]}),
    "delivery-events-missing": (
        {"swept_waits_for_evidence": [*_QUIET[:-11], 1, *[None] * 4, 1, *[None] * 4, 1]},
        {"swept_waits_for_evidence": [*_QUIET[:-6], 1, *[None] * 4, 1]},
    ),
    "bounce-rate": (
        {"Reputation.BounceRate": steady(0.05)},
        {"Reputation.BounceRate": steady(0.049)},
    ),
    "complaint-rate": (
        {"Reputation.ComplaintRate": steady(0.001)},
        {"Reputation.ComplaintRate": steady(0.0009)},
    ),
    "refused-by-policy": (
        {"part": steady(20), "whole": steady(400)},
        {"part": steady(19), "whole": steady(19)},
    ),
    "pages-unanswered": ({"5xx": [*_QUIET, 3]}, {"5xx": [*_QUIET, 2]}),
    "readers-turned-away": (
        {"requests_turned_away": [*_QUIET, 101, 500]},
        {"requests_turned_away": [*_QUIET, 100, 500]},
    ),
    "functions-failing": (
        {"ingest": [*_QUIET[:-3], 1, 0, 1], "sweep": [*_QUIET[:-3], None, 2, None]},
        {"ingest": [*_QUIET[:-3], 0, 0, 0], "sweep": [*_QUIET[:-3], 0, 9, 0]},
    ),
    "functions-throttled": (
        {"generate": [*_QUIET[:-3], 5, 1, 1]},
        {"generate": [*_QUIET[:-3], 5, 0, 1]},
    ),
    "concurrency-nearly-used-up": (
        {"ClaimedAccountConcurrency": [*_QUIET[:-3], 901, 1000, 901]},
        {"ClaimedAccountConcurrency": [*_QUIET[:-3], 1000, 900, 1000]},
    ),
    "events-lost": (
        {"invocationsFailedToBeSentToDlq1": [*_QUIET[:-1], 1]},
        {"failedInvocations0": steady(0)},
    ),
    "clock-failing": (
        {"invocationDroppedCount": [*_QUIET[:-1], 1]},
        {"targetErrorCount": steady(0)},
    ),
    "queues-growing": (
        {"feedback": [*_QUIET[:-2], 50, 151], "ingest": steady(0)},
        {"feedback": [*_QUIET[:-2], 5000, 5100], "ingest": [*_QUIET[:-1], 9000]},
    ),
}
"""By alarm: metrics that must raise it, and such as it must bear. Those of one metric that fire at
the first above 0, and those of queues, follow a rule and are not listed."""


def alarms(template: Synthesis) -> dict[str, Properties]:
    return {
        alarm["AlarmName"].removeprefix("gazette-prod-"): alarm
        for alarm in template.service.of_type("AWS::CloudWatch::Alarm").values()
    }


def series_of(alarm: Properties, metrics: Metrics) -> Series:
    if "Metrics" not in alarm:
        assert alarm["MetricName"] in metrics
        return metrics[alarm["MetricName"]]
    (expression,) = (each["Expression"] for each in alarm["Metrics"] if "Expression" in each)
    watched = {each["Id"] for each in alarm["Metrics"] if "MetricStat" in each}
    assert metrics.keys() <= watched
    return calculated(expression, {name: metrics.get(name, _QUIET) for name in watched})


def listed(name: str, alarm: Properties) -> tuple[Metrics, Metrics]:
    """What raises an alarm and what does not, of those that follow a rule."""
    metric, most = alarm["MetricName"], alarm["Threshold"]
    if name.endswith("-old"):
        return {metric: steady(most + 1)}, {metric: [*_QUIET[:-2], most + 1, most]}
    assert (most, alarm["ComparisonOperator"]) == (0, "GreaterThanThreshold"), name
    return {metric: [*_QUIET[:-1], 1]}, {metric: _QUIET}


def test_every_alarm_fires_for_its_cause_and_not_below_the_threshold(
    prod: Synthesis,
) -> None:
    found = alarms(prod)
    assert RAISED.keys() <= found.keys()
    for name, alarm in found.items():
        raising, bearable = RAISED.get(name) or listed(name, alarm)
        assert state(alarm, series_of(alarm, raising)) == "ALARM", name
        assert state(alarm, series_of(alarm, bearable)) == "OK", name


def test_only_clock_alarms_fire_on_missing_data(prod: Synthesis) -> None:
    silent = set()
    for name, alarm in alarms(prod).items():
        metrics = {alarm["MetricName"]: _QUIET} if "MetricName" in alarm else {}
        if state(alarm, series_of(alarm, metrics)) == "ALARM":
            silent.add(name)
    assert silent == {"fanout-silent", "sweep-silent"}


@pytest.mark.parametrize(
    ("name", "slow", "periods"), [("fanout-silent", 40, 10), ("sweep-silent", 25, 5)]
)
def test_silence_alarm_fires_within_the_documented_minutes(
    prod: Synthesis, name: str, slow: int, periods: int
) -> None:
    alarm = alarms(prod)[name]
    beating: list[float | None] = [16.0] * 20
    assert state(alarm, [*beating, *[None] * (slow // periods)]) == "ALARM"
    assert state(alarm, [*beating, None]) == "OK", "a beat that comes late"


def test_less_than_half_of_the_shards_raises_the_silence_alarm(prod: Synthesis) -> None:
    alarm = alarms(prod)["fanout-silent"]
    assert state(alarm, [16, 16, 7, 7]) == "ALARM"
    assert state(alarm, [16, 16, 7, 25]) == "OK", "late once, and made up for"


_BEGIN = datetime(2026, 11, 16, tzinfo=UTC)
_BEATS = {"fanout-silent": (10, 2), "sweep-silent": (5, 4)}
"""Minutes from beat to beat, and workers at once."""


def beaten(
    alarm: Properties, *, every: int, workers: int, offset: int, jitter: int, each: int, days: int
) -> Recorded:
    """What a clock that is late by up to `jitter` seconds records, `each` seconds a message."""
    recorded, random = Recorded(), Random(f"{offset} {jitter} {each}")
    for begin in range(0, days * 24 * 60, every):
        struck = begin * 60 + offset + random.uniform(0, jitter) + 2
        free = [struck] * workers
        for _ in range(16):
            done = heappop(free) + random.uniform(0.7, 1.3) * each
            heappush(free, done)
            recorded.add(alarm["MetricName"], 1, _BEGIN + timedelta(seconds=done))
    return recorded


def at_each_minute(
    alarm: Properties, recorded: Recorded, *, begin: datetime, minutes: int
) -> list[str]:
    return [
        state(
            alarm,
            recorded.series(
                alarm["MetricName"],
                statistic=alarm["Statistic"],
                period=alarm["Period"],
                until=begin + timedelta(minutes=minute),
                periods=alarm["EvaluationPeriods"] + BEYOND,
            ),
        )
        for minute in range(minutes)
    ]


@pytest.mark.parametrize("name", _BEATS)
@pytest.mark.parametrize(
    ("offset", "jitter", "each"),
    [(0, 5, 1), (0, 59, 1), (0, 59, 5), (0, 59, 8), (40, 5, 3), (40, 59, 8), (55, 3, 1)],
)
def test_silence_alarm_ignores_late_ticks_and_fires_if_ticks_stop(
    prod: Synthesis, name: str, offset: int, jitter: int, each: int
) -> None:
    """Seven days, evaluated at each minute: beats lie across the bounds of periods."""
    alarm, (every, workers) = alarms(prod)[name], _BEATS[name]
    recorded = beaten(
        alarm, every=every, workers=workers, offset=offset, jitter=jitter, each=each, days=7
    )
    hour, end = timedelta(hours=1), _BEGIN + timedelta(days=7)
    healthy = at_each_minute(alarm, recorded, begin=_BEGIN + hour, minutes=(7 * 24 - 1) * 60)
    assert set(healthy) == {"OK"}
    stopped = at_each_minute(alarm, recorded, begin=end, minutes=60)
    assert set(stopped[45:]) == {"ALARM"}


def test_metric_math_alarm_has_at_most_ten_metrics(prod: Synthesis) -> None:
    """CloudWatch takes no more."""
    numbers = [
        sum("MetricStat" in each for each in alarm["Metrics"])
        for alarm in alarms(prod).values()
        if "Metrics" in alarm
    ]
    assert 1 < max(numbers) <= 10
