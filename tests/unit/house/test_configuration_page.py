"""docs/configuration.md says what a stage may say, and pages show settings as in gazette.toml."""

import json
import re
import tomllib
from collections.abc import Iterator

import pytest

from gazette_cdk.stages import read_stage
from tests.code_blocks import code_blocks
from tests.configuration_page import PAGE, groups, page, settings, toml

PAGES = sorted(each for each in PAGE.parent.rglob("*.md") if each.parent.name != "decisions")
REQUIRED = {"sender": "digest@shop.dev", "list_id": "digest.shop.dev"}


def test_configuration_page_is_up_to_date() -> None:
    assert PAGE.read_text() == page(), "run `make docs`"


def test_stage_has_at_most_99_settings() -> None:
    assert len(settings()) <= 99


def test_clocks_that_guarantees_depend_on_are_internals() -> None:
    assert groups()["Internals"] == (
        "settle_lag",
        "clock_skew",
        "check_after",
        "send_timeout",
        "smtp_reply_timeout",
    )


def test_every_setting_belongs_to_one_group() -> None:
    assert sorted(name for names in groups().values() for name in names) == sorted(settings())


def examples() -> Iterator[tuple[str, dict[str, object]]]:
    """Yield each example of settings, with the name of its page."""
    for each in PAGES:
        for block in code_blocks(each.read_text(), "toml"):
            tables = tomllib.loads(block)
            stages = [table for table in tables.values() if isinstance(table, dict)]
            is_file = block.startswith("[")
            yield from ((each.name, stage) for stage in (stages if is_file else [tables]))


@pytest.mark.parametrize(("name", "example"), [*examples()])
def test_settings_on_pages_are_toml_that_a_stage_accepts(
    name: str, example: dict[str, object]
) -> None:
    own_folder = {"templates": ""}  # which this checkout does not have
    read_stage("test", {"test": {**REQUIRED, **example, **own_folder}}, origin=name)


def keys_of(block: str) -> set[str]:
    """Return the keys of a JSON object that a page shows, with or without its braces."""
    text = block.strip().rstrip(",")
    try:
        value = json.loads(text if text.startswith(("{", "[")) else f"{{{text}}}")
    except json.JSONDecodeError:  # a page may leave out parts
        value = dict.fromkeys(re.findall(r'^[{\s]*"(\w+)":', text, re.MULTILINE))
    return set(value) if isinstance(value, dict) else set()


def test_pages_show_no_settings_as_json() -> None:
    """JSON in a gazette.toml is refused."""
    wrong = {
        page.name
        for page in PAGES
        for block in code_blocks(page.read_text(), "json")
        if (keys := keys_of(block)) and keys <= settings().keys()
    }
    assert wrong == set()


@pytest.mark.parametrize(
    ("block", "keys"),
    [
        ('{"a": 1, "b": {"c": 2}}', {"a", "b"}),
        ('"a": 1,\n"b": 2,', {"a", "b"}),
        ('{"a": 1,\n "b": …}', {"a", "b"}),
        ("[1]", set()),
    ],
)
def test_every_key_of_a_shown_object_is_seen(block: str, keys: set[str]) -> None:
    assert keys_of(block) == keys


def test_toml_of_nested_values_reads_back() -> None:
    value = {"a": {"b.c": ["d", 1, True], "e-f": "\u00fc\n"}, "g": 0.5}
    assert tomllib.loads(f"value = {toml(value)}") == {"value": value}
