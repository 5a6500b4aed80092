"""Reads templates: undefined names are errors, HTML is escaped, sentences are translated.

A variation has files of its own, and may choose a ranking.
"""

import json
from pathlib import Path

from jinja2 import (
    ChoiceLoader,
    Environment,
    FileSystemLoader,
    StrictUndefined,
    pass_context,
    select_autoescape,
)
from jinja2.runtime import Context

from gazette.domain.delivery.compose import Ranking
from gazette.domain.feedback import experiment

VARIATIONS = "variations"
"""The folder of what a variation has files of its own for: `variations/2/digest/subject.txt`."""

VARIATION_FILE = "variation.json"
"""What a variation says beside its templates: how groups are ranked."""


def environment(templates: Path, variation: int = 1) -> Environment:
    """The templates in a folder; files of the variation go before those that all share."""
    made = Environment(
        loader=ChoiceLoader(
            [
                FileSystemLoader(templates / VARIATIONS / str(variation)),
                FileSystemLoader(templates),
            ]
        ),
        autoescape=select_autoescape(enabled_extensions=("html",), default=False),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
        extensions=["jinja2.ext.i18n"],
    )
    made.globals["say"] = pass_context(_say)
    made.policies["ext.i18n.trimmed"] = True
    # So that `trans` calls what the context has, with values: see Language.values.
    made.newstyle_gettext = True  # type: ignore[attr-defined] # the extension adds it
    return made


def _say(context: Context, sentence: str) -> str:
    """`parts/<sentence>.txt` on one line, as text: a template escapes it like any other value."""
    template = context.environment.get_template(f"parts/{sentence}.txt")
    return " ".join(template.render(context.get_all()).split())


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
        if (folder / VARIATION_FILE).exists():
            rankings[int(folder.name)] = _ranking(folder / VARIATION_FILE)
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
