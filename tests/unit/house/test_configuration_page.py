"""docs/configuration.md says what a stage may say, and pages show settings as in gazette.toml."""

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
        "commit_margin",
        "check_after",
        "send_timeout",
        "smtp_command_timeout",
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


def test_pages_show_no_settings_as_json() -> None:
    """JSON in a gazette.toml is refused."""
    known = "|".join(settings())
    wrong = re.compile(rf'^[{{\s]*"({known})":')
    blocks = (
        (each.name, block) for each in PAGES for block in code_blocks(each.read_text(), "json")
    )
    named = {(name, found[1]) for name, block in blocks if (found := wrong.match(block))}
    assert named == {("templates.md", "max_blocks")}, "settings.json of a pushed version"


def test_toml_of_nested_values_reads_back() -> None:
    value = {"a": {"b.c": ["d", 1, True], "e-f": "\u00fc\n"}, "g": 0.5}
    assert tomllib.loads(f"value = {toml(value)}") == {"value": value}
