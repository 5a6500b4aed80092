"""The template files of web pages, which a push may not change."""

from pathlib import Path

from jinja2 import Environment, meta

from gazette_cli.templates.pages import _is_of_pages

TEMPLATES = Path(__file__).parents[3] / "templates"


def test_each_file_that_a_page_includes_is_a_file_of_pages() -> None:
    """A push that changes one would change emails only."""
    environment = Environment(extensions=["jinja2.ext.i18n"], autoescape=True)
    waiting = [f"preferences/{path.name}" for path in (TEMPLATES / "preferences").glob("*.html")]
    seen = set[str]()
    while waiting:
        name = waiting.pop()
        assert _is_of_pages(name), name
        seen.add(name)
        parsed = environment.parse((TEMPLATES / name).read_text())
        included = {each for each in meta.find_referenced_templates(parsed) if each}
        waiting += [each for each in included - seen if (TEMPLATES / each).is_file()]
    assert {"parts/clock.txt", "parts/part.txt"} <= seen
