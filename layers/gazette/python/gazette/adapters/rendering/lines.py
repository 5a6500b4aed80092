"""What the templates say by category: what happened in a group, in one sentence."""

from jinja2 import Environment, Template, TemplateNotFound

from gazette.adapters.rendering.language import Language
from gazette.adapters.rendering.view_models import Shown

OTHER = "other"
"""The folder for categories that have none of their own."""


def line_of(shown: Shown, environment: Environment, language: Language) -> str:
    """`3 new comments from Ann, Bo and 2 others`, as plain text on one line."""
    values = {**language.values(), "group": shown}
    people = environment.get_template("parts/people.txt").render(values)
    template = template_of(shown.category, "line.txt", environment)
    said = template.render(**values, people=" ".join(people.split()))
    return " ".join(said.split())


def template_of(category: str, name: str, environment: Environment) -> Template:
    """The file `name` of a category; of `other` where it has none of its own."""
    try:
        return environment.get_template(f"categories/{category}/{name}")
    except TemplateNotFound:
        return environment.get_template(f"categories/{OTHER}/{name}")
