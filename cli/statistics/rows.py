"""A report as rows: the same ones for the terminal, for CSV, and for the page. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gazette.domain.feedback.experiment_readers import Arm, Compared
from gazette.domain.feedback.statistics import Counts, Dimension, Measure, is_tracked, rate, values

from cli.shared.console import printable
from cli.statistics.comparisons import Findings, Verdict

UNTRACKED = "–"
_RATES = [measure for measure in Measure if measure is not Measure.SENT]


@dataclass(frozen=True, slots=True)
class Cell:
    """How many emails of a row, and what share they are; both None where nothing was tracked."""

    measure: Measure
    number: int | None
    rate: float | None

    def __str__(self) -> str:
        """For people."""
        if self.number is None:
            return UNTRACKED
        if self.measure is Measure.SENT or self.rate is None:
            return f"{self.number:,}"
        return f"{self.number:,} {percent(self.rate)}"


@dataclass(frozen=True, slots=True)
class Row:
    """All emails, or those of one value of a dimension."""

    dimension: Dimension
    value: str
    cells: tuple[Cell, ...]


def rows(counts: Counts, dimension: Dimension) -> list[Row]:
    """Those of the most emails first."""
    return [
        Row(dimension, printable(value), tuple(_cells(counts, dimension, value)))
        for value in values(counts, dimension)
    ]


def percent(share: float) -> str:
    """Two digits after the point below one percent, where complaints are."""
    return f"{share:.2%}" if 0 < share < 0.01 else f"{share:.1%}"


def table(counts: Counts) -> Iterator[tuple[str, ...]]:
    """The header, and a row for each value: numbers, then shares.

    Empty: not tracked, or of none.
    """
    yield (
        "group",
        "value",
        *(column(measure) for measure in Measure),
        *(f"{column(measure)}_rate" for measure in _RATES),
    )
    for dimension in Dimension:
        for row in rows(counts, dimension):
            numbers = ["" if cell.number is None else str(cell.number) for cell in row.cells]
            rates = ["" if cell.rate is None else f"{cell.rate:.6f}" for cell in row.cells[1:]]
            yield (dimension.value, row.value, *numbers, *rates)


def readers_table(arms: Sequence[Arm], findings: Findings) -> Iterator[tuple[str, ...]]:
    """The header, and a row for each outcome and variation, the outcome that decides first.

    `low` and `high` bound the difference to the first variation or version, whose own are empty.
    """
    of = arms[0].of.value if arms else Compared.VARIATION.value
    yield ("outcome", of, "readers", "did", "share", "low", "high", "verdict")
    for outcome, verdicts in findings.items():
        found = {each.arm.number: each for each in verdicts}
        for arm in arms:
            did = arm.did[outcome]
            numbers = (arm.number, arm.readers, did)
            share = f"{did / arm.readers:.6f}"
            yield (outcome.value, *map(str, numbers), share, *_told(found.get(arm.number)))


def _cells(counts: Counts, dimension: Dimension, value: str) -> Iterator[Cell]:
    for measure in Measure:
        if is_tracked(counts, measure):
            yield Cell(
                measure,
                counts[dimension, value, measure],
                rate(counts, dimension, value, measure),
            )
        else:
            yield Cell(measure, None, None)


def _told(verdict: Verdict | None) -> tuple[str, str, str]:
    if verdict is None:
        return "", "", ""
    return f"{verdict.low:.6f}", f"{verdict.high:.6f}", verdict.words


def column(measure: Measure) -> str:
    """The name of a measure as a column."""
    return measure.value.replace(" ", "_")
