"""What a replay says in sentences."""

from dataclasses import replace

import pytest
from gazette.domain.delivery.arrangement import DEFAULT, Sections
from gazette.domain.templates.versions import DEPLOYED, Version

from gazette_cli.replay import summary
from gazette_cli.replay.comparison import Comparison, Problem
from gazette_cli.replay.settings import settings_changed
from gazette_support.domain.replay import Change, Rendition
from gazette_support.steps.replay import Sample
from tests.unit.support.test_replay_page import A_VERSION, SIDE, a_rendition, a_sent_run, add

FAILS = frozenset({Change.FAILS})
FAILED = Rendition(None, failed="why")


def test_median_size_is_of_emails_rendered_on_both_sides() -> None:
    found = add(Comparison(), a_rendition(), a_rendition())
    size = a_rendition().html_bytes
    add(found, a_rendition(text="long " * 1000), FAILED, FAILS, user_id="bo")
    add(found, FAILED, a_rendition(text="long " * 1000), frozenset({Change.MENDED}), user_id="cy")
    assert summary.medians(found) == {"before": size, "after": size}
    assert summary.medians(Comparison()) == {"before": 0, "after": 0}


def test_each_error_is_listed_once_up_to_twenty() -> None:
    found = Comparison()
    for number in range(50):
        why = Problem(None, f"mistake {number // 2:02}")
        add(found, a_rendition(), FAILED, FAILS, why, user_id=f"u{number:02}")
    said = summary.problems(found)
    assert said[0] == "u00-daily-1: mistake 00"
    assert (len(said), said[-1]) == (21, "5 more mistakes. --json lists all of them.")


@pytest.mark.parametrize(
    ("found", "said"), [(1, []), (2, ["Rendered 1 of 2 sent emails of 7 days"])]
)
def test_reader_emails_beyond_the_sample_are_reported(found: int, said: list[str]) -> None:
    sample = Sample([a_sent_run()], found, 0, 0, 0.0, 0)
    assert [each.partition(".")[0] for each in summary.reading(sample, 7)] == said


def test_only_differing_settings_are_listed() -> None:
    assert settings_changed({DEPLOYED: SIDE}, SIDE) == []
    arrangement = replace(
        DEFAULT, sections=Sections.CATEGORY, weights={**DEFAULT.weights, "sale": 2.5}
    )
    other = replace(SIDE, max_blocks=1, arrangement=arrangement, variation=2)
    assert settings_changed({DEPLOYED: SIDE}, other) == [
        ("sections", DEFAULT.sections.value, "category"),
        ("max_blocks", "20", "1"),
        ("variation", "the run's own", "2"),
        ("category_weights, sale", "not set", "2.5"),
    ]


def test_replay_lists_differing_settings_by_previous_version() -> None:
    """Also where only one of them differs from what is after."""
    weights = {**DEFAULT.weights, "sale": 2.5}
    shorter = replace(SIDE, max_blocks=5, arrangement=replace(DEFAULT, weights=weights))
    before = {A_VERSION: shorter, DEPLOYED: SIDE, Version(8, "8" * 64): shorter}
    assert settings_changed(before, SIDE) == [
        ("max_blocks", "by version: 20 (the deployed templates), 5 (version 7, version 8)", "20"),
        (
            "category_weights, sale",
            "by version: not set (the deployed templates), 2.5 (version 7, version 8)",
            "not set",
        ),
    ]
    assert settings_changed({A_VERSION: shorter}, replace(shorter, max_blocks=9)) == [
        ("max_blocks", "5", "9")
    ]
    assert settings_changed({}, shorter) == []
