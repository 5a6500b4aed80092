"""The growth of a use case's cost with a past, and whether it is allowed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from proofs.history.counting import HOPELESS
from proofs.history.measure import Measured
from proofs.history.uses import Use

MORE = 2
"""The number of calls by which a constant cost may exceed the cost with the fewest rows."""

ITEMS_A_PAGE = 25
"""The minimum number of rows per call of a paged read."""

WRITES_AN_ITEM = 1 + 1 / ITEMS_A_PAGE
"""The maximum writes per row of paged work: a conditional write and a share of a batch."""

MEGABYTES = 200
"""The maximum memory use in megabytes."""

MOST_SECONDS = 60
"""The maximum CPU time in seconds, several times the time of one pass over 10,000 rows. Comparing
every row with every other row takes minutes.
"""

Case = tuple[str, str]
"""A use case and a kind of past."""


class Growth(StrEnum):
    """The growth of a case. Every value except `WORSE` is allowed."""

    CONSTANT = "constant"
    PAGED = "paged"
    BOUNDED = "bounded"
    WORSE = "worse"


@dataclass(frozen=True)
class Verdict:
    """The growth of a case, with the reason if it is worse than allowed."""

    growth: Growth
    why: str = ""


def judge(use: Use, kind: str, found: Sequence[Measured], bounds: Mapping[Case, int]) -> Verdict:
    """Return the verdict on a case. The measurements are in order of rows; `bounds` has the maximum
    calls.
    """
    if why := _unfinished(use, found):
        return Verdict(Growth.WORSE, why)
    first, rest = found[0], found[1:]
    if all(each.calls <= first.calls + MORE for each in rest):
        return Verdict(Growth.CONSTANT)
    bound = bounds.get((use.name, kind))
    if bound is not None:
        within = all(each.calls <= bound for each in found)
        why = "" if within else f"more than {bound} calls"
        return Verdict(Growth.BOUNDED if within else Growth.WORSE, why)
    if kind not in use.paged_in:
        return Verdict(Growth.WORSE, "grows")
    why = next(filter(None, (_unpaged(first, each) for each in rest)), "")
    return Verdict(Growth.WORSE if why else Growth.PAGED, why)


def _unfinished(use: Use, found: Sequence[Measured]) -> str:
    """Return the faults that are not allowed with any growth."""
    for each in found:
        if each.calls > HOPELESS:
            return f"given up with {each.size} after {HOPELESS} calls"
        if not each.is_done:
            return f"not done with {each.size} after {each.receives} receives"
        if each.longest > use.longest:
            return f"a receive of {each.longest.total_seconds():.0f} s with {each.size}"
        if each.megabytes > MEGABYTES:
            return f"{each.megabytes:.0f} MB with {each.size}"
        if each.seconds > MOST_SECONDS:
            return f"{each.seconds:.0f} s of CPU with {each.size}"
    return ""


def _unpaged(first: Measured, more: Measured) -> str:
    """Return the faults of paging. A partial page may add up to `MORE` calls."""
    items = more.size - first.size
    reads = more.reads - first.reads - MORE
    writes = more.writes - first.writes - MORE
    if reads * ITEMS_A_PAGE > items:
        return f"{items / reads:.1f} items a reading call"
    if writes > items * WRITES_AN_ITEM:
        return f"{writes / items:.1f} writes an item"
    return ""
