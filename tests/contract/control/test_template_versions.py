"""The versions of the templates: our fake, and rows of DynamoDB on moto."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from gazette.adapters.cached import READ_INTERVAL, Cached
from gazette.adapters.dynamodb.control.template_versions import DynamoTemplateVersions
from gazette.adapters.dynamodb.tables import ControlRow
from gazette.domain.delivery.arrangement import Ranking
from gazette.domain.errors import UnreadableRow
from gazette.domain.templates.ports import TemplateVersions
from gazette.domain.templates.settings import SourcePolicy, VersionSettings
from gazette.domain.templates.versions import (
    DEPLOYED,
    NOTHING_PUSHED,
    Act,
    InForce,
    PushedVersion,
    Version,
)
from gazette.settings.ranges import RANGES

from gazette_support.domain.templates.changes import (
    Changed,
    pushed,
    rolled_back,
    rolled_out,
    taken_back,
)
from tests.builders import NOW, SettableClock
from tests.fake_templates import FakeTemplateVersions

SETTINGS = VersionSettings(
    ranking=Ranking.LATEST,
    weights={"mention": 2.5},
    max_blocks=5,
    full_blocks=0,
    collapse=timedelta(seconds=90),
    source_policy=SourcePolicy.WITHOUT,
)
SEVEN = Version(7, "7" * 64, SETTINGS)
EIGHT = Version(8, "8" * 64)


@pytest.fixture
def versions(engine: str) -> TemplateVersions:
    if engine != "moto":
        return FakeTemplateVersions()
    return DynamoTemplateVersions("control", ranges=RANGES)


def test_deployed_templates_are_initially_in_force(versions: TemplateVersions) -> None:
    assert versions.in_force() == NOTHING_PUSHED
    assert versions.in_force().current == DEPLOYED
    assert versions.changes() == []
    assert versions.history() == []


def test_each_version_change_takes_effect_and_is_audited(
    versions: TemplateVersions,
) -> None:
    wanted = []
    acts: list[Callable[[InForce, datetime], Changed]] = [
        lambda before, at: pushed(before, SEVEN, 100, at=at, by="ann"),
        lambda before, at: pushed(before, EIGHT, 5, at=at, by="bo"),
        lambda before, at: rolled_out(before, 50, at=at, by="bo"),
        lambda before, at: taken_back(before, at=at, by="ann"),
        lambda before, at: pushed(before, replace(SEVEN, number=9), 1, at=at, by="ann"),
        lambda before, at: rolled_out(before, 100, at=at, by="bo"),
        lambda before, at: rolled_back(before, DEPLOYED, at=at, by="bo"),
    ]
    for number, make in enumerate(acts):
        before = versions.in_force()
        after, entry = make(before, NOW + timedelta(days=number))
        assert versions.change(before, after, entry)
        assert versions.in_force() == after
        wanted.append(entry)
    assert list(versions.changes()) == wanted[::-1]
    assert [entry.act for entry in wanted] == [
        Act.PUSHED,
        Act.PUSHED,
        Act.ROLLED_OUT,
        Act.TAKEN_BACK,
        Act.PUSHED,
        Act.PROMOTED,
        Act.ROLLED_BACK,
    ]
    assert [(entry.current, entry.candidate, entry.percent) for entry in wanted] == [
        (7, 0, 0),
        (7, 8, 5),
        (7, 8, 50),
        (7, 0, 0),
        (7, 9, 1),
        (9, 0, 0),
        (0, 0, 0),
    ]


def test_concurrent_version_change_is_rejected_and_not_audited(
    versions: TemplateVersions,
) -> None:
    before = versions.in_force()
    first = pushed(before, SEVEN, 100, at=NOW, by="ann")
    second = pushed(before, EIGHT, 100, at=NOW, by="bo")
    assert versions.change(before, *first)
    assert not versions.change(before, *second)
    assert versions.in_force() == first[0]
    assert versions.changes() == [first[1]]


def test_version_number_is_never_reused(versions: TemplateVersions) -> None:
    seven = PushedVersion(SEVEN, 120_000, NOW, "ann", "bigger buttons", "a" * 64, "arn:layer:1")
    assert versions.add(seven)
    assert not versions.add(PushedVersion(Version(7, "0" * 64), 1, NOW, "bo"))
    assert versions.find(7) == seven
    assert versions.find(8) is None


def test_version_history_lists_the_highest_number_first(versions: TemplateVersions) -> None:
    added = [PushedVersion(Version(each, "a" * 64), each, NOW, "ann") for each in (9, 10, 2)]
    for each in added:
        assert versions.add(each)
    assert [each.version.number for each in versions.history()] == [10, 9, 2]
    assert set(map(repr, versions.history())) == set(map(repr, added))


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
@pytest.mark.parametrize(
    "broken",
    [
        {"checksum": None},
        {"checksum": "x"},
        {"settings": "{"},
        {"settings": '{"collapse": 900}'},
        {"candidate": 8},
        {"candidate": 8, "candidate_checksum": "8" * 64, "percent": 100},
        {"revision": None},
        {"since": None},
        {"version": None},
    ],
)
def test_corrupt_template_version_row_is_ignored(
    versions: TemplateVersions, clock: SettableClock, broken: dict[str, object]
) -> None:
    assert versions.change(NOTHING_PUSHED, *pushed(NOTHING_PUSHED, SEVEN, 100, at=NOW, by="ann"))
    cached = Cached(versions.in_force, default=NOTHING_PUSHED, clock=clock)
    row = ControlRow.get("templates", "in_force")
    for name, value in broken.items():
        setattr(row, name, value)
    row.save()
    with pytest.raises(UnreadableRow):
        versions.in_force()
    clock.now += READ_INTERVAL + timedelta(seconds=1)
    assert cached.get().current == SEVEN
    assert Cached(versions.in_force, default=NOTHING_PUSHED, clock=clock).get() == NOTHING_PUSHED
