"""What a variation says beside its templates: `variations/2/variation.json`."""

import json
from pathlib import Path

from gazette.adapters.rendering.environment import VARIATIONS
from gazette.domain.delivery.compose import Ranking
from gazette.domain.feedback import experiment

FILE = "variation.json"


class VariationError(ValueError):
    """A variation that cannot be used. The text names the file and what to do."""


def read_rankings(templates: Path) -> dict[int, Ranking]:
    """The rankings by variation, of those that choose one. Raises VariationError."""
    rankings: dict[int, Ranking] = {}
    for folder in sorted((templates / VARIATIONS).glob("[!.]*")):
        if folder.name not in map(str, experiment.VARIATIONS):
            raise VariationError(
                f"{folder}: a variation is named 1 to {experiment.VARIATIONS[-1]}."
            )
        if (folder / FILE).exists():
            rankings[int(folder.name)] = _ranking(folder / FILE)
    return rankings


def _ranking(file: Path) -> Ranking:
    try:
        given = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as err:
        raise VariationError(f"{file} is not JSON: {err}") from err
    rankings = {ranking.value: ranking for ranking in Ranking}
    wanted = given.get("ranking") if isinstance(given, dict) and len(given) == 1 else None
    if not isinstance(wanted, str) or wanted not in rankings:
        raise VariationError(
            f'{file} must say how groups are ranked: {{"ranking": "{Ranking.LATEST}"}} or '
            f'{{"ranking": "{Ranking.MOST_ACTIVE}"}}.'
        )
    return rankings[wanted]
