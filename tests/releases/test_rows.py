"""Rows of every version are readable by this one, and rows of this one by the last release."""

import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from gazette.adapters.dynamodb import tables
from gazette.adapters.dynamodb.client import Row as Model
from gazette.domain.delivery.run import Reason, Status
from gazette.domain.model import ScheduleState
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.subscriber import SubscriberStatus
from gazette.domain.subscribers.suppression import Cause
from gazette.domain.templates.versions import Act

from gazette_cdk.stage import Stage
from release.building import CHECKSUMS
from release.changelog import sections
from release.checks import section_of
from tests.releases import reading
from tests.releases.comparing import differences, written
from tests.releases.reading import KINDS, UNREADABLE, read
from tests.releases.recorded import Recorded, in_site, last, recorded
from tests.releases.writing import Row, as_json, rows

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "compatibility.md").read_text()

CHANGED: dict[tuple[str, str], str] = {}
"""Differences between the readings of an earlier release and of this version, each with its reason.
The key is the table and the path."""


@pytest.fixture(scope="module")
def own() -> list[Row]:
    """The rows that this version writes."""
    return rows()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unpacked wheel of the last release."""
    return last().unpack(tmp_path_factory.mktemp("site"))


def unexplained(table: str, old: Any, new: Any) -> list[str]:
    return [each for each in differences(old, new) if (table, each.split()[0]) not in CHANGED]


def test_rows_have_every_attribute_of_every_table(own: list[Row]) -> None:
    found = written(own)
    models: list[type[Model]] = [kind for kind, _ in KINDS.values()]
    assert {each for each in vars(tables).values() if _is_table(each)} == set(models)
    attributes = {
        f"{table}.{each.attr_name}"
        for table, (model, _) in KINDS.items()
        for each in model.get_attributes().values()
    }
    assert attributes - found == set()


def _is_table(each: Any) -> bool:
    return isinstance(each, type) and issubclass(each, Model) and each is not Model


def test_rows_have_every_value_of_every_enumeration(own: list[Row]) -> None:
    found = written(own)
    expected = {
        *(f"runs.status={each}" for each in Status),
        *(f"runs.reason={each}" for each in Reason),
        *(f"schedules.state={each}" for each in ScheduleState),
        *(f"subscribers.status={each}" for each in SubscriberStatus),
        *(f"suppressions.reason={each}" for each in Cause),
        *(f"control.what={each}" for each in Act),
    }
    assert expected - found == set()
    follows = " ".join(item["changes"]["S"] for table, item in own if table == "follows")
    assert [each for each in Frequency if f'"{each}"' not in follows] == []
    kinds = re.findall(r"^    - `(\w+)`: ", tables.ControlRow.__doc__ or "", re.MULTILINE)
    assert {f"control.kind={each}" for each in kinds} == {
        each for each in found if each.startswith("control.kind=")
    }


def test_rows_do_not_depend_on_the_time(own: list[Row]) -> None:
    assert [as_json(row) for row in rows()] == [as_json(row) for row in own]


@pytest.mark.parametrize("release", recorded(), ids=lambda release: release.version)
def test_this_version_reads_the_rows_of_every_release(release: Recorded) -> None:
    found = {
        f"{row['table']} {row['item']}": wrong
        for row in release.rows()
        if (wrong := unexplained(row["table"], row["read"], read(row["table"], row["item"])))
    }
    assert found == {}


def test_the_last_release_reads_the_rows_of_this_version(own: list[Row], site: Path) -> None:
    """This is the state of a stage after an upgrade and a rollback."""
    old = last().read([as_json(row) for row in own], site)
    found = {}
    for (table, item), reading_of_old in zip(own, old, strict=True):
        if UNREADABLE in (reading_of_old or {}):
            found[f"{table} {item}"] = [reading_of_old[UNREADABLE]]
        elif wrong := unexplained(table, reading_of_old, read(table, item)):
            found[f"{table} {item}"] = wrong
    assert found == {}


def test_the_last_release_reads_with_its_own_code(site: Path) -> None:
    code = (
        "import gazette; from importlib.metadata import version; "
        "print(gazette.__file__, version('gazette-digest'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=in_site(site), capture_output=True, text=True, check=True
    )
    assert done.stdout == f"{site}/gazette/__init__.py {last().version}\n"


def test_release_reads_its_own_rows_as_recorded(site: Path) -> None:
    """A recording that was changed by hand would differ."""
    kept = list(last().rows())
    assert last().read([json.dumps(row) for row in kept], site) == [row["read"] for row in kept]
    assert [row for row in kept if UNREADABLE in (row["read"] or {})] == []


def a_sent_run() -> dict[str, Any]:
    """A recorded row, with its reading."""
    return next(
        each
        for each in last().rows()
        if each["table"] == "runs" and each["item"]["status"] == {"S": "sent"}
    )


def newer_status(item: dict[str, Any]) -> None:
    item["status"] = {"S": "parked"}


def damaged(item: dict[str, Any]) -> None:
    item["due_at"] = {"S": "soon"}


def newer_attribute(item: dict[str, Any]) -> None:
    item["newer"] = {"S": "unknown"}


@pytest.mark.parametrize(
    ("change", "path"),
    [(newer_status, "status: 'sent'"), (damaged, "key is missing"), (newer_attribute, "")],
)
def test_comparison_detects_a_row_that_reads_differently(
    change: Callable[[dict[str, Any]], None], path: str
) -> None:
    row = a_sent_run()
    item = dict(row["item"])
    change(item)
    found = list(differences(row["read"], read(row["table"], item)))
    assert bool(found) == bool(path)
    assert not path or any(each.startswith(path) for each in found), found


def test_last_release_keeps_a_status_that_it_does_not_know(site: Path) -> None:
    row = a_sent_run()
    newer_status(row["item"])
    (found,) = last().read([json.dumps(row)], site)
    assert found["status"] == "parked"


# The page, and the changelog.


def new_since_the_last_release(own: list[Row]) -> set[str]:
    return written(own) - written((row["table"], row["item"]) for row in last().rows())


def rows_of_page(page: str) -> dict[str, str]:
    """The cells of the table behind each version."""
    return dict(re.findall(r"^\| (\d+\.\d+\.\d+) \|(.+)\|$", page, re.MULTILINE))


def test_page_lists_every_release_and_what_is_new(own: list[Row]) -> None:
    listed = rows_of_page(PAGE)
    versions = [section_of(ROOT).version, *(each.version for each in recorded())]
    assert set(listed) == set(versions)
    text = listed[section_of(ROOT).version]
    assert [each for each in new_since_the_last_release(own) if f"`{each}`" not in text] == []


def test_new_attributes_and_values_are_found(own: list[Row]) -> None:
    table, item = next(each for each in own if each[0] == "runs")
    changed = [*own, (table, {**item, "newer": {"S": "x"}, "status": {"S": "parked"}})]
    assert new_since_the_last_release(changed) - new_since_the_last_release(own) == {
        "runs.newer",
        "runs.status=parked",
    }


def test_changelog_names_every_setting_that_is_new_or_gone() -> None:
    settings = {each.name for each in fields(Stage)} - {"name"}
    section = section_of(ROOT)
    new, gone = settings - last().settings, last().settings - settings
    assert [each for each in sorted(new) if f"`{each}`" not in section.text] == []
    assert [each for each in sorted(gone) if f"`{each}`" not in section.parts["You must"]] == []


def test_every_recorded_release_has_a_section() -> None:
    dated = {
        each.version
        for each in sections((ROOT / "CHANGELOG.md").read_text())
        if each.released_on is not None
    }
    assert {each.version for each in recorded()} == dated


def test_recorded_wheel_has_its_checksum() -> None:
    lines = (last().folder / CHECKSUMS).read_text().splitlines()
    by_name = {name: checksum for checksum, name in (line.split("  ") for line in lines)}
    content = last().wheel.read_bytes()
    assert by_name[last().wheel.name] == hashlib.sha256(content).hexdigest()
    assert len(content) < 2_000_000


def test_reader_of_a_release_imports_only_the_package() -> None:
    source = Path(reading.__file__).read_text()
    imported = set(re.findall(r"^(?:from|import) (\w+)", source, re.MULTILINE))
    assert imported - sys.stdlib_module_names == {"gazette"}
