"""The pages about events and templates name every field, also one that is added later."""

import re
from pathlib import Path

import pytest
from gazette.adapters.contract.details import ActivityCreated
from gazette.adapters.rendering.view_models import Person, ShownGroup

DOCS = Path(__file__).parents[3] / "docs"
EVENTS = (DOCS / "events" / "README.md").read_text(encoding="utf-8")
TEMPLATES = (DOCS / "templates.md").read_text(encoding="utf-8")
OPTIONAL = [name for name, each in ActivityCreated.model_fields.items() if not each.is_required()]
INTERNAL = {"language"}
"""The locale of a group's formats. Templates get their own `language`."""


def table(page: str, column: str) -> str:
    """The rows of the table whose first column has this heading."""
    _, _, rows = page.partition(f"\n| {column} |")
    return rows.partition("\n\n")[0]


@pytest.mark.parametrize("name", OPTIONAL)
def test_each_optional_field_of_an_event_is_described(name: str) -> None:
    assert re.search(rf"`{name}(?:\.\w+)?`", EVENTS)


@pytest.mark.parametrize("name", sorted({*ShownGroup._fields} - INTERNAL))
def test_each_variable_of_a_group_is_described(name: str) -> None:
    assert f"`{name}`" in table(TEMPLATES, "`group.`")


@pytest.mark.parametrize("name", Person._fields)
def test_each_variable_of_an_actor_is_described(name: str) -> None:
    assert f"`.{name}`" in table(TEMPLATES, "`group.`")
