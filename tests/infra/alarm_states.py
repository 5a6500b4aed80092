"""What CloudWatch makes of recorded metrics: the state of an alarm, by AWS's published rules.

https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-evaluation.html
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html
"""

import ast
import math
import operator
from bisect import bisect_left, insort
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from typing import Any

Series = Sequence[float | None]
"""A value for each period, the oldest first; None where there is no data."""

BEYOND = 2
"""Periods that CloudWatch looks further back than it evaluates. AWS's example evaluates three and
looks at five; it does not publish the number for other alarms."""


@dataclass
class Recorded:
    """Metrics as they were written: for each name the values and when."""

    values: dict[str, list[tuple[float, float]]] = field(default_factory=dict)

    def add(self, name: str, value: float, at: datetime) -> None:
        insort(self.values.setdefault(name, []), (at.timestamp(), value))

    def series(
        self, name: str, *, statistic: str, period: int, until: datetime, periods: int = 30
    ) -> list[float | None]:
        """The last periods before the minute of `until`: they slide, as they do by default.

        https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-evaluation-window.html
        """
        end = int(until.timestamp()) // 60 * 60
        values = self.values.get(name, [])
        bounds = [
            bisect_left(values, (at,)) for at in range(end - periods * period, end + 1, period)
        ]
        return [
            aggregate([value for _, value in values[begin:behind]], statistic)
            if begin < behind
            else None
            for begin, behind in pairwise(bounds)
        ]


def aggregate(values: Sequence[float], statistic: str) -> float:
    """The statistic of the values of a period."""
    plain: Mapping[str, Callable[[Sequence[float]], float]] = {
        "Sum": sum,
        "Maximum": max,
        "Minimum": min,
        "Average": lambda found: sum(found) / len(found),
        "SampleCount": len,
    }
    if statistic in plain:
        return float(plain[statistic](values))
    share = float(statistic.removeprefix("p")) / 100
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def state(alarm: Mapping[str, Any], series: Series, *, before: str = "OK") -> str:
    """The state of an alarm: OK, ALARM or INSUFFICIENT_DATA.

    CloudWatch takes the most recent data points of its range. Only where those are fewer than it
    evaluates, it fills the rest with what missing data counts for.
    """
    evaluated = alarm["EvaluationPeriods"]
    needed = alarm.get("DatapointsToAlarm", evaluated)
    real = [value for value in series[-(evaluated + BEYOND) :] if value is not None][-evaluated:]
    missing = evaluated - len(real)
    breaching = sum(_is_breaching(alarm, value) for value in real)
    treated = alarm.get("TreatMissingData", "missing")
    if treated == "breaching":
        breaching += missing
    if breaching >= needed:
        return "ALARM"
    if treated in {"ignore", "missing"} and not real:
        return before if treated == "ignore" else "INSUFFICIENT_DATA"
    return "OK"


_COMPARED = {
    "GreaterThanThreshold": operator.gt,
    "GreaterThanOrEqualToThreshold": operator.ge,
    "LessThanThreshold": operator.lt,
    "LessThanOrEqualToThreshold": operator.le,
}


def _is_breaching(alarm: Mapping[str, Any], value: float) -> bool:
    return bool(_COMPARED[alarm["ComparisonOperator"]](value, alarm["Threshold"]))


def calculated(expression: str, metrics: Mapping[str, Series]) -> list[float | None]:
    """Metric math: the arithmetic, comparisons and functions that our alarms use."""
    length = max(map(len, metrics.values()))
    tree = ast.parse(expression, mode="eval").body
    found = _value(tree, metrics, length)
    return [None if value is None else float(value) for value in found]


_OPERATORS: dict[type[ast.AST], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def _value(node: ast.expr, metrics: Mapping[str, Series], length: int) -> list[Any]:
    match node:
        case ast.Name(id=name):
            return list(metrics[name])
        case ast.Constant(value=number):
            return [number] * length
        case ast.BinOp(left=left, op=op, right=right):
            return _each(_OPERATORS[type(op)], left, right, metrics, length)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return _each(_OPERATORS[type(op)], left, right, metrics, length)
        case ast.Call(func=ast.Name(id="FILL"), args=[of, with_]):
            rows = zip(*(_value(each, metrics, length) for each in (of, with_)), strict=True)
            return [fill if value is None else value for value, fill in rows]
        case ast.Call(func=ast.Name(id="DIFF"), args=[of]):
            values = _value(of, metrics, length)
            pairs = zip([None, *values], values, strict=False)
            return [None if a is None or b is None else b - a for a, b in pairs]
        case ast.Call(func=ast.Name(id="MAX"), args=[ast.List(elts=several)]):
            columns = zip(*(_value(each, metrics, length) for each in several), strict=True)
            return [max((v for v in column if v is not None), default=None) for column in columns]
        case ast.Call(func=ast.Name(id="IF"), args=[test, yes, no]):
            rows = zip(*(_value(each, metrics, length) for each in (test, yes, no)), strict=True)
            return [None if t is None else (y if t else n) for t, y, n in rows]
    raise ValueError(f"metric math that the tests do not know: {ast.unparse(node)}")


def _each(
    apply: Callable[[float, float], float],
    left: ast.expr,
    right: ast.expr,
    metrics: Mapping[str, Series],
    length: int,
) -> list[Any]:
    pairs = zip(_value(left, metrics, length), _value(right, metrics, length), strict=True)
    return [
        None if a is None or b is None or (apply is operator.truediv and not b) else apply(a, b)
        for a, b in pairs
    ]
