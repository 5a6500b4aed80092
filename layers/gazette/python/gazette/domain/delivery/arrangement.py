"""The arrangement of a digest: its order, the weights of its categories, and its sections."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType


class Ranking(StrEnum):
    """The order of a digest: by relevance to the reader, by number of updates, or by time."""

    RELEVANCE = "relevance"
    MOST_ACTIVE = "most_active"
    LATEST = "latest"


class Sections(StrEnum):
    """The headings of a digest, under which its blocks are grouped."""

    NONE = "none"
    CATEGORY = "category"
    PARENT = "parent"
    """The title of the followed entity that led to an event, if its service published one."""


OTHER_WEIGHT = "other"
"""The key of the weight for all categories without one."""

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
"""Default weights. Updates addressed to the reader weigh more than updates about others.

A mention at the beginning of a window (half its weight) ranks above forty new likes.
"""

MAX_WEIGHT = 1000
"""The highest weight. With it, one category ranks above all others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrangement:
    """The settings of a stage or a variation for the arrangement of its digests."""

    ranking: Ranking = Ranking.RELEVANCE
    weights: Mapping[str, float] = field(default_factory=lambda: WEIGHTS)
    """Category to a number from 0 to MAX_WEIGHT; used if `ranking` is `RELEVANCE`."""

    sections: Sections = Sections.NONE
    full_blocks: int = 8
    """The number of blocks shown in full. The blocks after them have no excerpts."""


DEFAULT = Arrangement()


def are_weights(given: object) -> bool:
    """Return True if `given` maps names to valid weights."""
    return isinstance(given, dict) and all(
        isinstance(name, str) and type(weight) in {int, float} and 0 <= weight <= MAX_WEIGHT
        for name, weight in given.items()
    )
