"""The settings that belong to a version."""

from datetime import timedelta
from typing import Any

import pytest
from gazette.domain.delivery.arrangement import DEFAULT, Ranking, Sections
from gazette.domain.templates.settings import (
    NO_SETTINGS,
    InvalidVersionSettings,
    SourcePolicy,
    VersionSettings,
    version_settings,
)
from gazette.settings.ranges import RANGES
from hypothesis import given
from hypothesis import strategies as st

ALL: dict[str, Any] = {
    "ranking": "latest",
    "weights": {"mention": 2.5},
    "max_blocks": 5,
    "full_blocks": 0,
    "collapse": 90,
    "source_policy": "without",
}


def read(given: object) -> VersionSettings:
    return version_settings(given, ranges=RANGES)


def test_all_version_settings_are_read() -> None:
    assert read(ALL) == VersionSettings(
        ranking=Ranking.LATEST,
        weights={"mention": 2.5},
        max_blocks=5,
        full_blocks=0,
        collapse=timedelta(seconds=90),
        source_policy=SourcePolicy.WITHOUT,
    )
    assert read({}) == NO_SETTINGS


@given(st.sets(st.sampled_from(sorted(ALL))))
def test_version_settings_are_read_as_written(names: set[str]) -> None:
    given = {name: ALL[name] for name in names}
    assert read(given).as_written() == given


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "must be an object"),
        ({"colour": 1}, "'colour' is not a template setting"),
        ({"ranking": "best"}, "ranking is 'best'; it must be one of relevance"),
        ({"ranking": []}, "ranking is"),
        ({"weights": {"mention": -1}}, "weights is"),
        ({"weights": {"Mention": 1}}, "weights is"),
        ({"weights": 5}, "weights is"),
        ({"max_blocks": 0}, "max_blocks is 0; it must be 1 or more"),
        ({"max_blocks": True}, "max_blocks is True"),
        ({"max_blocks": "5"}, "max_blocks is '5'"),
        ({"full_blocks": -1}, "full_blocks is -1; it must be 0 or more"),
        ({"collapse": 301}, "collapse is 301; it must be 1 to 300"),
        ({"collapse": 1.5}, "collapse is 1.5"),
        ({"source_policy": "retry"}, "source_policy is 'retry'; it must be one of wait, without"),
    ],
)
def test_invalid_version_setting_is_named_in_the_error(given: object, said: str) -> None:
    with pytest.raises(InvalidVersionSettings, match=said):
        read(given)


def test_settings_missing_in_a_version_come_from_the_stage() -> None:
    stage = DEFAULT.__class__(sections=Sections.CATEGORY, full_blocks=3)
    assert NO_SETTINGS.arranged(stage) == stage
    arranged = read({"weights": {"like": 9}, "full_blocks": 0}).arranged(stage)
    assert arranged.weights == {**stage.weights, "like": 9.0}
    assert (arranged.full_blocks, arranged.sections, arranged.ranking) == (
        0,
        Sections.CATEGORY,
        Ranking.RELEVANCE,
    )
