"""The variations of an experiment that change the arrangement of digests."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from gazette.adapters.rendering.environment import VARIATIONS
from gazette.domain.delivery.arrangement import (
    MAX_WEIGHT,
    Arrangement,
    Ranking,
    are_weights,
)
from gazette.domain.feedback import experiment

VARIATION_FILE = "variation.json"
"""The file of a variation's ranking of blocks and weights of categories."""


class VariationError(ValueError):
    """An invalid variation. The text names the file and the remedy."""


Change = Callable[[Arrangement], Arrangement]
"""A function from the arrangement of the stage to that of a variation."""


def read_changes(templates: Path) -> dict[int, Change]:
    """Return the change of each variation to the arrangement. Raise VariationError."""
    changes: dict[int, Change] = {}
    for folder in sorted((templates / VARIATIONS).glob("[!.]*")):
        if folder.name not in map(str, experiment.VARIATIONS):
            raise VariationError(
                f"{folder}: the name of a variation must be 1 to {experiment.VARIATIONS[-1]}."
            )
        if (folder / VARIATION_FILE).exists():
            changes[int(folder.name)] = _change(folder / VARIATION_FILE)
    return changes


def _change(file: Path) -> Change:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as err:
        raise VariationError(f"{file} is not JSON: {err}") from err
    rankings = [ranking.value for ranking in Ranking]
    if (
        not isinstance(content, dict)
        or not content
        or not content.keys() <= {"ranking", "weights"}
        or content.get("ranking", Ranking.RELEVANCE) not in rankings
        or not are_weights(content.get("weights", {}))
    ):
        raise VariationError(
            f'{file} must rank blocks: {{"ranking": "{Ranking.LATEST}"}}, one of '
            f'{", ".join(rankings)}, or {{"weights": {{"mention": 10}}}}, numbers from 0 to '
            f"{MAX_WEIGHT}, or both."
        )

    def change(of_stage: Arrangement) -> Arrangement:
        weights = {**of_stage.weights, **content.get("weights", {})}
        ranking = Ranking(content.get("ranking", of_stage.ranking))
        return replace(of_stage, ranking=ranking, weights=weights)

    return change
