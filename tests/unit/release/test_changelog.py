"""The changelog, and the version of the tree."""

import re
from datetime import date
from pathlib import Path

import pytest

from gazette_cdk.stacks.version import gazette_version
from release.changelog import HEADINGS, sections
from release.checks import Refused, section_of, version_of

ROOT = Path(__file__).parents[3]

WELL = """# Changelog

## 0.3.0, not yet released

### Added

- A setting, `spread`.

### You must

Nothing.

### Rows

No change.

## 0.2.0, 2026-11-27

### Added

Everything.

#### Delivery

- More.

### You must

Nothing.

### Rows

None.
"""


def tree(folder: Path, version: str, changelog: str = WELL) -> Path:
    """A folder with the two files that state a version."""
    (folder / "pyproject.toml").write_text(f'[project]\nname = "x"\nversion = "{version}"\n')
    (folder / "CHANGELOG.md").write_text(changelog)
    return folder


def test_sections_have_versions_dates_and_texts() -> None:
    developed, released = sections(WELL)
    assert (developed.version, developed.released_on) == ("0.3.0", None)
    assert (released.version, released.released_on) == ("0.2.0", date(2026, 11, 27))
    assert [*developed.parts] == ["Added", "You must", "Rows"]
    assert "`spread`" in developed.text
    assert "#### Delivery" in released.parts["Added"]
    assert developed.errors == released.errors == []


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("### You must", "### You should", "has the unknown heading 'You should'"),
        ("### Rows\n\nNo change.\n", "", "has no heading 'Rows'"),
        ("No change.", "", "has no text below 'Rows'"),
        ("### Added", "### Fixed\n\nA fault.\n\n### Added", "does not have its headings in the"),
    ],
)
def test_section_that_lacks_what_an_upgrade_needs_is_reported(
    old: str, new: str, error: str
) -> None:
    section, _ = sections(WELL.replace(old, new, 1))
    assert any(error in each for each in section.errors)


@pytest.mark.parametrize("version", ["0.3.0", "0.3.0.dev0"])
def test_first_section_is_that_of_the_version(version: str, tmp_path: Path) -> None:
    assert section_of(tree(tmp_path, version)).version == "0.3.0"


@pytest.mark.parametrize("version", ["0.2.0", "0.4.0.dev0"])
def test_version_without_its_section_is_refused(version: str, tmp_path: Path) -> None:
    with pytest.raises(Refused, match="but the first section"):
        section_of(tree(tmp_path, version))


def test_malformed_date_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="malformed date"):
        section_of(tree(tmp_path, "0.3.0", WELL.replace("not yet released", "soon")))


def test_changelog_of_this_tree_is_well_formed() -> None:
    """The version has its section, and only the first section may have no date."""
    known = sections((ROOT / "CHANGELOG.md").read_text())
    assert section_of(ROOT) == known[0]
    assert [error for each in known for error in each.errors] == []
    assert [each.version for each in known[1:] if each.released_on is None] == []
    assert set(HEADINGS) >= set(known[0].parts)


def test_developed_version_has_no_date_and_a_released_one_has() -> None:
    is_developed = version_of(ROOT).endswith(".dev0")
    assert is_developed or section_of(ROOT).released_on is not None
    assert not is_developed or section_of(ROOT).released_on is None


def test_installed_version_is_that_of_the_tree() -> None:
    """`make setup` installs the project again if its version changes."""
    assert gazette_version() == version_of(ROOT)


_UNTIL = re.compile(r"\b[Uu]ntil (?:version )?(\d+)\.(\d+)\.(\d+)\b")


def test_format_that_is_written_until_a_version_ends_with_that_version() -> None:
    """While 0.3.0 is developed, a format that is written until 0.3.0 may still exist."""
    files = [*(ROOT / "layers").rglob("*.py"), *(ROOT / "docs" / "events").glob("*.md")]
    found = {
        tuple(map(int, match.groups())): file
        for file in files
        for match in _UNTIL.finditer(file.read_text())
    }
    assert found, "whole_maps.py has such a format"
    own = tuple(map(int, section_of(ROOT).version.split(".")))
    is_developed = version_of(ROOT).endswith(".dev0")
    assert {
        file for until, file in found.items() if until < own or (until == own and not is_developed)
    } == set()
