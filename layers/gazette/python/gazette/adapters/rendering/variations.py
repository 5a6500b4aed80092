"""What the variations of an experiment say otherwise of how digests are arranged."""

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
"""The file in which a variation says how blocks are ranked, and what categories weigh."""


class VariationError(ValueError):
    """A variation that cannot be used. The text names the file and what to do."""


Change = Callable[[Arrangement], Arrangement]
"""What a variation makes of the arrangement of its stage."""


def read_changes(templates: Path) -> dict[int, Change]:
    """What each variation says otherwise of the arrangement. Raises VariationError."""
    changes: dict[int, Change] = {}
    for folder in sorted((templates / VARIATIONS).glob("[!.]*")):
        if folder.name not in map(str, experiment.VARIATIONS):
            raise VariationError(
                f"{folder}: a variation is named 1 to {experiment.VARIATIONS[-1]}."
            )
        if (folder / VARIATION_FILE).exists():
            changes[int(folder.name)] = _change(folder / VARIATION_FILE)
    return changes


def _change(file: Path) -> Change:
    try:
        given = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as err:
        raise VariationError(f"{file} is not JSON: {err}") from err
    rankings = [ranking.value for ranking in Ranking]
    if (
        not isinstance(given, dict)
        or not given
        or not given.keys() <= {"ranking", "weights"}
        or given.get("ranking", Ranking.RELEVANCE) not in rankings
        or not are_weights(given.get("weights", {}))
    ):
        raise VariationError(
            f'{file} must say how blocks are ranked: {{"ranking": "{Ranking.LATEST}"}}, one of '
            f'{", ".join(rankings)}, or {{"weights": {{"mention": 10}}}}, numbers from 0 to '
            f"{MAX_WEIGHT}, or both."
        )

    def change(of_stage: Arrangement) -> Arrangement:
        weights = {**of_stage.weights, **given.get("weights", {})}
        ranking = Ranking(given.get("ranking", of_stage.ranking))
        return replace(of_stage, ranking=ranking, weights=weights)

    return change
