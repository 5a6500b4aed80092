"""The rows of a report for the terminal, CSV and the HTML page. No I/O."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gazette_cli.shared.console import printable
from gazette_cli.statistics.comparisons import Findings, Verdict
from gazette_support.domain.experiment_readers import Arm, Compared
from gazette_support.domain.statistics import Counts, Dimension, Measure, is_tracked, rate, values

UNTRACKED = "–"
_RATES = [measure for measure in Measure if measure is not Measure.SENT]


@dataclass(frozen=True, slots=True)
class Cell:
    """The number and the share of emails in a row. The number is None for an untracked measure."""

    measure: Measure
    number: int | None
    rate: float | None

    def __str__(self) -> str:
        """Format the cell for people."""
        if self.number is None:
            return UNTRACKED
        if self.measure is Measure.SENT or self.rate is None:
            return f"{self.number:,}"
        return f"{self.number:,} {percent(self.rate)}"


@dataclass(frozen=True, slots=True)
class Row:
    """A row for all emails, or for the emails with one value of a dimension."""

    dimension: Dimension
    value: str
    cells: tuple[Cell, ...]


def rows(counts: Counts, dimension: Dimension) -> list[Row]:
    """Return the rows of a dimension. The row with the most emails is first."""
    return [
        Row(dimension, printable(value), tuple(_cells(counts, dimension, value)))
        for value in values(counts, dimension)
    ]


def percent(share: float) -> str:
    """Format a share in percent. Shares below one percent, such as complaints, have two
    decimals.
    """
    return f"{share:.2%}" if 0 < share < 0.01 else f"{share:.1%}"


def table(counts: Counts) -> Iterator[tuple[str, ...]]:
    """Yield a header, and then a row with numbers and shares for each value of the dimension.

    A cell is empty if the measure is untracked or the share is undefined.
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
    """Yield a header, and then a row for each outcome and arm. The deciding outcome is first.

    `low` and `high` are the bounds of the difference from the first variation or version. In the
    rows of the first variation or version, both cells are empty.
    """
    of = arms[0].of.value if arms else Compared.VARIATION.value
    yield ("outcome", of, "readers", "did", "share", "low", "high", "verdict")
    for outcome, verdicts in findings.items():
        by_arm = {each.arm.number: each for each in verdicts}
        for arm in arms:
            did = arm.did[outcome]
            numbers = (arm.number, arm.readers, did)
            share = f"{did / arm.readers:.6f}"
            yield (outcome.value, *map(str, numbers), share, *_bounds(by_arm.get(arm.number)))


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


def _bounds(verdict: Verdict | None) -> tuple[str, str, str]:
    if verdict is None:
        return "", "", ""
    return f"{verdict.low:.6f}", f"{verdict.high:.6f}", verdict.words


def column(measure: Measure) -> str:
    """Return the column name of a measure."""
    return measure.value.replace(" ", "_")
