"""The settings of every function that arranges digests."""

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
    """The settings for the arrangement of digests."""

    max_blocks: int
    """The maximum number of blocks in an email."""

    full_blocks: int
    """The number of blocks that an email shows in full."""

    ranking: str
    """The order of a digest, as a value of Ranking."""

    category_weights: str
    """The weights that differ from WEIGHTS, by category, as JSON."""

    sections: str
    """The headings of a digest, as a value of Sections."""

    def __post_init__(self) -> None:
        """Raise InvalidSetting for values that are out of range, and for invalid weights."""
        super().__post_init__()
        _read_weights(self.category_weights)

    @property
    def arrangement(self) -> Arrangement:
        """The stage's arrangement of digests."""
        return Arrangement(
            ranking=Ranking(self.ranking),
            weights={**WEIGHTS, **_read_weights(self.category_weights)},
            sections=Sections(self.sections),
            full_blocks=self.full_blocks,
        )


def _read_weights(text: str) -> dict[str, float]:
    try:
        weights = json.loads(text)
    except ValueError:
        weights = None
    if not are_weights(weights) or not all(map(CATEGORY_NAME.fullmatch, weights)):
        raise InvalidSetting(
            f"GAZETTE_CATEGORY_WEIGHTS is {text!r}; it must give each category a number from 0 to "
            f"{MAX_WEIGHT}."
        )
    return {str(name): float(weight) for name, weight in weights.items()}
