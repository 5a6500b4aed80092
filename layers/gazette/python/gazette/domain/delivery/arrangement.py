"""How a digest is arranged: what comes first, what a category weighs, and its sections."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType


class Ranking(StrEnum):
    """What comes first: what matters most to the reader, what happened most, or what was last."""

    RELEVANCE = "relevance"
    MOST_ACTIVE = "most_active"
    LATEST = "latest"


class Sections(StrEnum):
    """Under which headings the blocks of a digest stand.

    `PARENT`: the title of the followed entity through which an event came, where its service gave
    one.
    """

    NONE = "none"
    CATEGORY = "category"
    PARENT = "parent"


OTHER_WEIGHT = "other"
"""The name under which categories without a weight of their own find theirs."""

WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "mention": 10,
        "message": 10,
        "reply": 6,
        "comment": 4,
        "article": 3,
        "follow": 3,
        OTHER_WEIGHT: 3,
        "like": 1,
    }
)
"""What speaks to the reader weighs more than what nobody waits for.

A mention at the beginning of a window (half its weight) comes before forty new likes."""

MAX_WEIGHT = 1000
"""More would say nothing: with it, one category comes before all others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrangement:
    """What a stage or a variation says of its digests.

    `weights`: category to a number from 0 to MAX_WEIGHT; used where `ranking` is `RELEVANCE`.
    `full_blocks`: how many blocks are shown in full; those behind them without excerpts.
    """

    ranking: Ranking = Ranking.RELEVANCE
    weights: Mapping[str, float] = field(default_factory=lambda: WEIGHTS)
    sections: Sections = Sections.NONE
    full_blocks: int = 8


DEFAULT = Arrangement()


def are_weights(given: object) -> bool:
    """Whether `given` maps names to numbers that a category may weigh."""
    return isinstance(given, dict) and all(
        isinstance(name, str) and type(weight) in {int, float} and 0 <= weight <= MAX_WEIGHT
        for name, weight in given.items()
    )
