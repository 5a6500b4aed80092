"""The hourly measurement of a run of `demo.watched`, in the form stored in
demo/data/dashboard.json.
"""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import ceil
from pathlib import Path

from demo.engine import ROOT
from demo.watched import Watched
from gazette_cdk.constructs.watching.panels import PANELS

RECORDED = ROOT / "demo" / "data" / "dashboard.json"
_HOUR = 3600

Points = Sequence[tuple[int, float]]
"""The value of a statistic for each hour since the beginning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """One run, with its day, its size, and the points of each `metric statistic`."""

    day: str
    hours: int
    students: int
    messages: int
    strikes: int
    emails: int
    points: Mapping[str, Points]


def recorded(watched: Watched) -> Recorded:
    """Return the hourly statistics of the dashboard's own metrics."""
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
                (hour, round(_aggregate(each, statistic), 2))
                for hour, each in sorted(values[name].items())
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
    """Write the run to a file, with one line for each metric."""
    content = asdict(run)
    points = content.pop("points")
    rows = ",\n".join(f"  {json.dumps(name)}: {json.dumps(each)}" for name, each in points.items())
    head = "".join(
        f" {json.dumps(name)}: {json.dumps(value)},\n" for name, value in content.items()
    )
    path.write_text(f'{{\n{head} "points": {{\n{rows}\n }}\n}}\n')


def read_back(path: Path = RECORDED) -> Recorded:
    """Return the run that the picture in docs/images shows."""
    content = json.loads(path.read_text())
    points = {
        name: [(hour, value) for hour, value in each] for name, each in content["points"].items()
    }
    return Recorded(**{**content, "points": points})
