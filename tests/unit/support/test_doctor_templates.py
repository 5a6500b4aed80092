"""`gazette doctor` reads the versions of the templates in force as the functions do."""

from dataclasses import replace

import pytest
from gazette.adapters.templates.bundle import checksum_of
from gazette.domain.console.levels import Level
from gazette.domain.templates.versions import Candidate, InForce, Version

from gazette_cli.doctor.data_checks import check_templates
from tests.fake_templates import FakeBundles, FakeTemplateVersions
from tests.unit.templates.test_bundle import with_file

CONTENT = with_file("digest/subject.txt")
SEVEN = Version(7, checksum_of(CONTENT))
EIGHT = replace(SEVEN, number=8)


def found(in_force: InForce, bundles: FakeBundles) -> list[tuple[str, Level, str]]:
    checks = check_templates(FakeTemplateVersions(in_force), bundles)
    return [(each.check, each.level, each.seen) for each in checks]


def test_no_bundle_is_fetched_if_no_version_was_pushed() -> None:
    bundles = FakeBundles()
    expected = ("templates in force", Level.OK, "the deployed templates")
    assert found(InForce(), bundles) == [expected]
    assert bundles.reads == 0


def test_each_version_in_force_is_read() -> None:
    bundles = FakeBundles({SEVEN: CONTENT, EIGHT: CONTENT})
    size = f"{len(CONTENT)} bytes"
    assert found(InForce(SEVEN, Candidate(EIGHT, 5)), bundles) == [
        ("templates version 7", Level.OK, f"for all readers, {size}"),
        ("templates version 8", Level.OK, f"for 5 % of the readers, {size}"),
    ]


@pytest.mark.parametrize(
    ("stored", "seen"),
    [
        ({}, "the bundle does not exist"),
        ({SEVEN: b"other"}, "the stored bundle differs from the pushed bundle"),
    ],
)
def test_unusable_template_version_is_a_problem(stored: dict[Version, bytes], seen: str) -> None:
    assert found(InForce(SEVEN), FakeBundles(stored)) == [
        ("templates version 7", Level.PROBLEM, seen)
    ]


def test_unavailable_bundle_store_is_unseen() -> None:
    ((_, level, _),) = found(InForce(SEVEN), FakeBundles(working=False))
    assert level is Level.UNSEEN
