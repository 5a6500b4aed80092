"""What rendering is measured against renders the same email."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.rendering import FLOOR, GROUPS, UnequalError, Way, compare, digest, ours_and_floor


@pytest.fixture
def ways(tmp_path: Path) -> dict[str, Way]:
    return ours_and_floor(tmp_path)


def test_all_renderers_match_the_baseline_email(ways: dict[str, Way]) -> None:
    compare(ways)


@pytest.mark.parametrize("part", ["subject", "html", "text"])
def test_comparison_rejects_a_different_email(ways: dict[str, Way], part: str) -> None:
    floor = ways[FLOOR]

    def other(*given: object) -> object:
        made = floor(*given)()  # type: ignore[arg-type] # as a way is called
        return lambda: replace(made, **{part: getattr(made, part).replace("Report", "old")})

    with pytest.raises(UnequalError, match=r"^plain Jinja2 "):
        compare({**ways, FLOOR: other})  # type: ignore[dict-item]


def test_benchmark_digests_have_distinct_groups() -> None:
    one, other = digest(1), digest(2)
    assert len(one.groups) == len(other.groups) == GROUPS
    assert one == digest(1)
    assert not {*map(str, one.groups)} & {*map(str, other.groups)}
