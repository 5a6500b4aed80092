"""The pages that commands write and the pages of the console have one look."""

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest
from gazette.adapters.console.palette import PALETTE
from gazette.adapters.console.story import story_page

import gazette_cli
from gazette_cli.shared.pages.look import page_templates
from tests.unit.console.pages import BUTTONS
from tests.unit.console.test_story import story

CLI = Path(gazette_cli.__file__).parent
COLOUR = re.compile(r"#[0-9a-fA-F]{3,8}\b")


def own_colours(path: Path) -> Iterator[str]:
    """Colours that a template names itself. A fragment of a link is not a colour."""
    styles = re.findall(
        r"<style>.*?</style>|{% block style %}.*?{% endblock %}", path.read_text(), re.DOTALL
    )
    yield from chain.from_iterable(map(COLOUR.findall, styles))


def test_pages_of_commands_take_the_common_colours_from_the_palette() -> None:
    """A page may have further colours for its own graphs. An email in a page is on white."""
    base = CLI / "shared/pages/base.html"
    pages = [path for path in CLI.rglob("*.html") if "extends" in path.read_text()]
    assert {path.parent.name for path in pages} == {"replay", "simulate", "statistics"}
    assert [*own_colours(base)] == []
    common = {colour for theme in PALETTE.values() for colour in theme.values()} - {"#ffffff"}
    assert common.isdisjoint(chain.from_iterable(map(own_colours, pages)))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_both_looks_have_the_same_colours_and_the_verdict_first(theme: str) -> None:
    templates = page_templates(CLI / "shared/pages")
    base = templates.get_template("base.html").render(
        title="A page", conclusion=None, made_at="today", tiles=()
    )
    console = story_page(story(), BUTTONS, theme=theme)
    colours = PALETTE[theme]
    for name, colour in colours.items():
        assert f"--{name}: {colour};" in base
    used = {*COLOUR.findall(console)}
    assert {colours["sheet"], colours["text"], colours["good"], colours["bad"]} <= used
    assert used <= {*colours.values()}
    assert PALETTE["light"].keys() == PALETTE["dark"].keys()
