"""The arrangement of a digest: the ranking, the weights of categories, and the sections."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType


class Ranking(StrEnum):
    """The criterion by which a digest is ranked: relevance to the reader, number of updates, or
    time."""

    RELEVANCE = "relevance"
    MOST_ACTIVE = "most_active"
    LATEST = "latest"


class Sections(StrEnum):
    """The kinds of headings that can group the blocks of a digest."""

    NONE = "none"
    CATEGORY = "category"
    PARENT = "parent"
    """The title of the followed entity through which an event arrived, if the service published a
    title."""


OTHER_WEIGHT = "other"
"""The key in the weights that applies to all categories without a weight."""

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
"""The default weights. Categories that are addressed to the reader have higher weights.

A mention from the beginning of a window has half its weight, but still ranks above forty new likes.
"""

FOR_THE_READER = 6.0
"""The minimum of a category's weight multiplied by the importance, for an update that is addressed
to the reader to be in the first part of a digest. With the default weights, these are mentions,
messages and replies. An update of high importance is always in the first part.
"""

MAX_WEIGHT = 1000
"""The maximum weight. A category with this weight ranks above all others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrangement:
    """The settings for arranging the digests of a stage or a variation."""

    ranking: Ranking = Ranking.RELEVANCE
    weights: Mapping[str, float] = field(default_factory=lambda: WEIGHTS)
    """A weight from 0 to MAX_WEIGHT for each category. Used only if `ranking` is `RELEVANCE`."""

    sections: Sections = Sections.NONE
    full_blocks: int = 8
    """The number of blocks shown in full. Later blocks have no excerpts."""


DEFAULT = Arrangement()


def are_weights(given: object) -> bool:
    """Return True if `given` is a map of valid weights."""
    return isinstance(given, dict) and all(
        isinstance(name, str) and type(weight) in {int, float} and 0 <= weight <= MAX_WEIGHT
        for name, weight in given.items()
    )
