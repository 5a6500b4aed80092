"""The command `make plots`, which draws the load on services during an hour that 100,000 readers
chose.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

from gazette.domain.scheduling.calendar import DigestTimes, next_occurrence
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.settings.ranges import SECOND

from gazette_cdk.stage import Stage

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "stagger.svg"
READERS = 100_000
SECONDS = 3600
_BEGIN = datetime(2026, 11, 22, tzinfo=UTC)
_POINT = 30
"""The seconds per point of the plot."""

_SPREAD = Stage(name="prod", sender="", list_id="").spread // SECOND

WAYS = {
    "all at the full hour": (0, 0),
    "a random delay": (0, _SPREAD),
    "a slot of their own, and a random delay": (None, _SPREAD),
}
"""The compared cases: the minute that readers chose (None if only the hour), and the maximum delay
in seconds.
"""


def requests(readers: int, minute: int | None, spread: int, *, seed: int = 1) -> list[int]:
    """Return the number of digests in each second of the chosen hour, in one zone."""
    random = Random(seed)
    begins = _BEGIN.replace(hour=8)
    at = Counter(
        int((due - begins).total_seconds() + random.random() * spread)
        for due in _due(readers, minute)
    )
    return [at[second] for second in range(SECONDS)]


def _due(readers: int, minute: int | None) -> Iterator[datetime]:
    for number in range(readers):
        reader = Subscriber(
            user_id=f"user{number}",
            email="",
            name="",
            locale="en",
            time_zone="UTC",
            changed_at=_BEGIN,
            times=DigestTimes(hour=8, minute=minute),
        )
        yield next_occurrence(reader.recurrence(Frequency.DAILY), after=_BEGIN)


def draw(found: dict[str, list[int]]) -> bytes:
    """Return an SVG plot of the busiest second of each half minute, on a logarithmic scale.

    Pygal is imported here, because it adds a finder to Python's import system.
    """
    import pygal
    from pygal.style import CleanStyle

    chart = pygal.XY(
        logarithmic=True,
        show_dots=False,
        style=CleanStyle,
        width=900,
        height=420,
        legend_at_bottom=True,
        legend_at_bottom_columns=1,
        title=f"{READERS:,} readers who chose eight o'clock: requests a second",
        x_title="minutes after eight",
        x_labels=range(0, 61, 10),
        js=(),
        pretty_print=True,
        no_prefix=True,
    )
    for name, seconds in found.items():
        chart.add(name, _points(seconds))
    chart.add_xml_filter(_without_scripts)
    return bytes(chart.render())


def _without_scripts(root: Any) -> Any:
    """Remove the scripts from the SVG, so that it is safe to open."""
    for parent in list(root.iter()):
        for child in list(parent):
            if str(child.tag).endswith("script"):
                parent.remove(child)
    return root


def _points(seconds: Sequence[int]) -> list[tuple[float, int]]:
    """Return the points of the plot. Zeros are omitted, because the scale is logarithmic."""
    spans = range(0, len(seconds), _POINT)
    peaks = [(start / 60, max(seconds[start : start + _POINT])) for start in spans]
    return [(minute, peak) for minute, peak in peaks if peak]


def main() -> None:
    """Draw the plot and print its figures."""
    found = {name: requests(READERS, *way) for name, way in WAYS.items()}
    for name, seconds in found.items():
        busy = sum(map(bool, seconds))
        print(f"{name}: peak {max(seconds)} a second, {busy} busy seconds")
    PICTURE.write_bytes(draw(found))


if __name__ == "__main__":
    main()
