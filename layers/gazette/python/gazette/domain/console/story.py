"""The story of a stage: what is on time, what is stuck, and what readers do. Pure.

A story has sentences, and lines about what needs attention. Its verdict names the worst line first.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain

from gazette.domain.console.levels import Level, Line

DAY = timedelta(days=1)
"""The period that the counts of a story cover."""

PERIOD = timedelta(minutes=5)
"""The period of each point of a metric. The sweep reports once in each."""

SILENT = timedelta(minutes=25)
"""The time without a tick or a sweep after which the clock counts as stopped. A tick occurs every
ten minutes, and its metric reaches CloudWatch a few minutes later.
"""

COUNTS = (
    *("due", "run_sent", "run_skipped", "run_failed", "run_unknown"),
    *("mail_sent", "mail_delivered", "mail_bounced", "mail_complained", "unsubscribed"),
)
OLDEST, HELD, TICKS = "oldest_due_age", "held_by_day", "ticks_done"
METRICS: Mapping[str, str] = {
    **dict.fromkeys((*COUNTS, HELD, TICKS), "Sum"),
    OLDEST: "Maximum",
}
"""The statistic of each metric that a story reads. docs/metrics.md describes the metrics."""

_NAMED = 3
"""The number of lines that a verdict names."""

Points = Sequence[tuple[datetime, float]]
"""The values of a metric, each with the beginning of its period."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """The measurements of a stage during the last day."""

    counts: Mapping[str, int]
    """The sum of each metric in COUNTS."""

    oldest: timedelta | None
    """The age of the oldest email that is due; None if no sweep has reported."""

    held_by_day: int
    """The number of emails that wait for the next day."""

    is_ticking: bool
    """True if a tick was counted recently."""

    @classmethod
    def of(cls, points: Mapping[str, Points], *, now: datetime) -> "Measures":
        """Return the measurements in the points of each metric. A missing count is 0."""
        recent = {
            name: [value for at, value in each if now - at <= SILENT]
            for name, each in points.items()
        }
        ages = recent.get(OLDEST, [])
        return cls(
            counts={
                name: round(sum(value for _, value in points.get(name, ()))) for name in COUNTS
            },
            oldest=timedelta(seconds=max(_latest(ages))) if ages else None,
            held_by_day=round(max(_latest(recent.get(HELD, [])), default=0)),
            is_ticking=bool(recent.get(TICKS)),
        )


def _latest(values: Sequence[float]) -> Sequence[float]:
    """Return the values of the last two periods, because the last one may be incomplete."""
    return values[-2:]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a story."""

    title: str
    sentences: Sequence[str] = ()

    # The lines that need attention.
    lines: Sequence[Line] = ()

    # A sentence for each thing that cannot be read.
    unread: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Story:
    """The parts of a story, read at the same time."""

    stage: str
    at: datetime
    parts: Sequence[Part]

    @property
    def lines(self) -> list[Line]:
        """The lines of all parts, with the worst first."""
        every = chain.from_iterable(part.lines for part in self.parts)
        return sorted(every, key=lambda line: line.level.rank)

    @property
    def worst(self) -> Level:
        """The level of the worst line, or OK if no line needs attention."""
        return min(
            (line.level for line in self.lines), key=lambda each: each.rank, default=Level.OK
        )

    @property
    def is_complete(self) -> bool:
        """True if everything could be read."""
        return not any(part.unread for part in self.parts)


def verdict(story: Story) -> str:
    """Return one sentence about the whole story."""
    lines = story.lines
    if not lines:
        if story.is_complete:
            return "Everything is on time."
        return "Not everything can be read. No problem is known."
    numbers = [
        f"{number} {level.value}{'s' * (number > 1)}"
        for level in Level
        if (number := sum(line.level is level for line in lines))
    ]
    named = [f"{line.area}: {line.text}" for line in lines[:_NAMED]]
    more = [f"and {len(lines) - _NAMED} more"] if len(lines) > _NAMED else []
    ending = "." if story.is_complete else ". Not everything can be read."
    return f"{' and '.join(numbers)}: {'; '.join([*named, *more])}{ending}"
