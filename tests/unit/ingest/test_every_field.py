"""No field gets lost between the detail that a service publishes and the events of followers."""

from collections.abc import Iterator
from typing import Any

import pytest
from gazette.adapters.contract import read_detail

from tests.every_field import ACTIVITY, DETAIL, EVENT, NOT_PUBLISHED, PUBLISHED, decoded, unset


def without_each_field(detail: dict[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """Each field's path, such as `actor.url`, with a copy of the detail that lacks the field."""
    for name, value in detail.items():
        yield f"{path}{name}", {other: detail[other] for other in detail if other != name}
        if isinstance(value, dict):
            for inner, rest in without_each_field(value, f"{path}{name}."):
                yield inner, detail | {name: rest}


LESS = dict(without_each_field(DETAIL))


def test_every_field_is_published_or_listed() -> None:
    assert {*unset(PUBLISHED.event_for("ann"))} == NOT_PUBLISHED.keys()
    assert [*unset(EVENT)] == []
    assert [*unset(ACTIVITY)] == []


@pytest.mark.parametrize("path", LESS)
def test_every_field_of_the_contract_is_decoded(path: str) -> None:
    if problems := read_detail("activity.created", LESS[path]).problems:
        assert problems == (f"detail.{path}: Field required",)
    else:
        assert decoded(LESS[path]).event_for("ann") != PUBLISHED.event_for("ann")
