"""What every function needs that arranges digests."""

import json
from dataclasses import dataclass

from gazette.domain.delivery.arrangement import (
    MAX_WEIGHT,
    WEIGHTS,
    Arrangement,
    Ranking,
    Sections,
    are_weights,
)
from gazette.domain.identity import CATEGORY_NAME
from gazette.settings.environment import InvalidSetting, Settings


@dataclass(frozen=True, kw_only=True)
class ArrangementSettings(Settings):
    """How digests are arranged.

    `max_blocks`: how many blocks an email shows; `full_blocks`: how many of them in full.
    `category_weights` is JSON: category to a number, where it differs from WEIGHTS.
    """

    max_blocks: int
    full_blocks: int
    ranking: str
    category_weights: str
    sections: str

    def __post_init__(self) -> None:
        """Raises InvalidSetting for values out of range, and for wrong weights."""
        super().__post_init__()
        _read_weights(self.category_weights)

    @property
    def arrangement(self) -> Arrangement:
        """What the stage says of its digests."""
        return Arrangement(
            ranking=Ranking(self.ranking),
            weights={**WEIGHTS, **_read_weights(self.category_weights)},
            sections=Sections(self.sections),
            full_blocks=self.full_blocks,
        )


def _read_weights(given: str) -> dict[str, float]:
    try:
        weights = json.loads(given)
    except ValueError:
        weights = None
    if not are_weights(weights) or not all(map(CATEGORY_NAME.fullmatch, weights)):
        raise InvalidSetting(
            f"GAZETTE_CATEGORY_WEIGHTS is {given!r}; it must give each category a number from 0 to "
            f"{MAX_WEIGHT}."
        )
    return {str(name): float(weight) for name, weight in weights.items()}
