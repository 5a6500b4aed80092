"""What happened in a group, in one sentence: that of its category."""

from jinja2 import Environment, TemplateNotFound

from gazette.adapters.rendering.language import Language
from gazette.adapters.rendering.showing import Shown

_OTHER = "other"
"""The folder for categories that have none of their own."""


def line_of(shown: Shown, environment: Environment, language: Language) -> str:
    """`3 new comments from Ann, Bo and 2 others`, as plain text on one line."""
    values = {**language.values(), "group": shown}
    people = environment.get_template("parts/people.txt").render(values)
    try:
        template = environment.get_template(f"categories/{shown.category}/line.txt")
    except TemplateNotFound:
        template = environment.get_template(f"categories/{_OTHER}/line.txt")
    said = template.render(**values, people=" ".join(people.split()))
    return " ".join(said.split())
