"""The changes that an experiment's variations make to the arrangement of digests."""

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
"""The file with a variation's block ranking and category weights."""


class VariationError(ValueError):
    """Invalid variations. `problems` has the file and the text of each problem, with the remedy."""

    def __init__(self, *problems: tuple[Path, str]) -> None:
        super().__init__("\n".join(f"{file}: {text}" for file, text in problems))
        self.problems = problems


Change = Callable[[Arrangement], Arrangement]
"""A function that converts the stage's arrangement into a variation's arrangement."""


def read_changes(templates: Path) -> dict[int, Change]:
    """Return the function with which each variation changes the arrangement. Raises
    VariationError with all problems.
    """
    changes: dict[int, Change] = {}
    problems: list[tuple[Path, str]] = []
    for folder in sorted((templates / VARIATIONS).glob("[!.]*")):
        if folder.name not in map(str, experiment.VARIATIONS):
            text = f"the name of a variation must be 1 to {experiment.VARIATIONS[-1]}."
            problems.append((folder, text))
        elif (folder / VARIATION_FILE).exists():
            try:
                changes[int(folder.name)] = _change(folder / VARIATION_FILE)
            except VariationError as err:
                problems += err.problems
    if problems:
        raise VariationError(*problems)
    return changes


def _change(file: Path) -> Change:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as err:
        raise VariationError((file, f"not JSON: {err}.")) from err
    rankings = [ranking.value for ranking in Ranking]
    if (
        not isinstance(content, dict)
        or not content
        or not content.keys() <= {"ranking", "weights"}
        or content.get("ranking", Ranking.RELEVANCE) not in rankings
        or not are_weights(content.get("weights", {}))
    ):
        raise VariationError(
            (
                file,
                (
                    f'the file must contain a ranking, weights or both: {{"ranking": '
                    f'"{Ranking.LATEST}"}}, one of {", ".join(rankings)}; {{"weights": {{'
                    f'"mention": 10}}}}, numbers from 0 to {MAX_WEIGHT}.'
                ),
            )
        )

    def change(of_stage: Arrangement) -> Arrangement:
        weights = {**of_stage.weights, **content.get("weights", {})}
        ranking = Ranking(content.get("ranking", of_stage.ranking))
        return replace(of_stage, ranking=ranking, weights=weights)

    return change
