"""How templates are read: what is undefined is an error, HTML is escaped, sentences translated."""

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

VARIATIONS = "variations"
"""The folder of what a variation has files of its own for: `variations/2/digest/subject.txt`."""


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
