"""How the cost of a use case grows with a past, and whether that is allowed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from proofs.history.counting import HOPELESS
from proofs.history.measure import Measured
from proofs.history.uses import Use

MORE = 2
"""Calls that what is constant may take more than with the fewest rows."""

ITEMS_A_PAGE = 25
"""Rows that a call of what is read in pages brings at least."""

WRITES_AN_ITEM = 1 + 1 / ITEMS_A_PAGE
"""Writes that each row of what is done in pages may take: one under a condition of its own, and its
share of those that need none."""

MEGABYTES = 200
"""The most that may be held at once."""

MOST_SECONDS = 60
"""The most CPU time, several times what a case takes with 10,000 rows that are looked at once: one
in which each row is compared with each takes minutes."""

Case = tuple[str, str]
"""A use case and a kind of past."""


class Growth(StrEnum):
    """How a case grows. All but `WORSE` are allowed."""

    CONSTANT = "constant"
    PAGED = "paged"
    BOUNDED = "bounded"
    WORSE = "worse"


@dataclass(frozen=True)
class Verdict:
    """How a case grows; `why`: what is wrong with one that is worse."""

    growth: Growth
    why: str = ""


def judge(use: Use, kind: str, found: Sequence[Measured], bounds: Mapping[Case, int]) -> Verdict:
    """Judge a case by its measures, the fewest rows first. `bounds`: the most calls of a case."""
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
    """What is wrong however it grows."""
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
    """What is wrong with pages. A page may be begun: `MORE` calls do not count."""
    items = more.size - first.size
    reads = more.reads - first.reads - MORE
    writes = more.writes - first.writes - MORE
    if reads * ITEMS_A_PAGE > items:
        return f"{items / reads:.1f} items a reading call"
    if writes > items * WRITES_AN_ITEM:
        return f"{writes / items:.1f} writes an item"
    return ""
