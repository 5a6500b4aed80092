"""What a run of `demo.watched` measured, by the hour, as demo/data/dashboard.json keeps it."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import ceil
from pathlib import Path

from demo.engine import ROOT
from demo.watched import Watched
from infra.constructs.watching.panels import PANELS

RECORDED = ROOT / "demo" / "data" / "dashboard.json"
_HOUR = 3600

Points = Sequence[tuple[int, float]]
"""Hours since the beginning, and the statistic of each hour that has values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """One run: on which day, how much of what, and for each `metric statistic` its points."""

    day: str
    hours: int
    students: int
    messages: int
    strikes: int
    emails: int
    points: Mapping[str, Points]


def recorded(watched: Watched) -> Recorded:
    """What the dashboard's own metrics were, in each hour."""
    values: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for each in watched.values:
        hour = int((each.at - watched.begin).total_seconds() // _HOUR)
        values[each.name][hour].append(each.value)
    return Recorded(
        day=f"{watched.day:%-d %B %Y}",
        hours=watched.hours,
        students=watched.students,
        messages=watched.messages,
        strikes=watched.strikes,
        emails=watched.emails,
        points={
            f"{name} {statistic}": [
                (hour, round(_aggregate(found, statistic), 2))
                for hour, found in sorted(values[name].items())
            ]
            for panels in PANELS.values()
            for panel in panels
            for name, statistics in panel.own
            for statistic in statistics
        },
    )


def _aggregate(values: Sequence[float], statistic: str) -> float:
    if statistic == "Sum":
        return sum(values)
    if statistic == "Maximum":
        return max(values)
    share = float(statistic.removeprefix("p")) / 100
    return sorted(values)[max(0, ceil(share * len(values)) - 1)]


def write_down(run: Recorded, path: Path = RECORDED) -> None:
    """Write it, one line for each metric; `read_back` reads it."""
    told = asdict(run)
    points = told.pop("points")
    rows = ",\n".join(f"  {json.dumps(name)}: {json.dumps(each)}" for name, each in points.items())
    head = "".join(f" {json.dumps(name)}: {json.dumps(value)},\n" for name, value in told.items())
    path.write_text(f'{{\n{head} "points": {{\n{rows}\n }}\n}}\n')


def read_back(path: Path = RECORDED) -> Recorded:
    """The run that the picture in docs/images shows."""
    found = json.loads(path.read_text())
    points = {
        name: [(hour, value) for hour, value in each] for name, each in found["points"].items()
    }
    return Recorded(**{**found, "points": points})
