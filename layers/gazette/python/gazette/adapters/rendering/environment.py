"""The Jinja2 environment: undefined names are errors, HTML is escaped, sentences are translated.

A variation has its own files, and may choose how groups are ranked.
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
"""The folder of the variations' own files, such as `variations/2/digest/subject.txt`."""

VARIATION_FILE = "variation.json"
"""The file in which a variation says how groups are ranked."""


def environment(templates: Path, variation: int = 1) -> Environment:
    """The templates in a folder. The variation's own files take precedence over shared ones."""
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
    # `trans` then calls the functions of the context, with values: see Language.values.
    made.newstyle_gettext = True  # type: ignore[attr-defined] # the extension adds it
    return made


def _say(context: Context, sentence: str) -> str:
    """`parts/<sentence>.txt` on one line, as plain text: templates escape it like any value."""
    template = context.environment.get_template(f"parts/{sentence}.txt")
    return " ".join(template.render(context.get_all()).split())


class VariationError(ValueError):
    """A variation that cannot be used. The text names the file and what to do."""


def read_rankings(templates: Path) -> dict[int, Ranking]:
    """The ranking of each variation that chooses one. Raises VariationError."""
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
