"""An event and an activity in which every field has a value, made from the published examples.

Tests of single fields take the values from here, so that they cover a new field without a change.
"""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

from gazette.adapters.contract import decode
from gazette.domain.commands import CreateActivity
from gazette.domain.model import Event
from gazette.domain.subscribers.following import Activity

from gazette_support.adapters.published_contract import examples
from tests.functions.messages import envelope

DETAIL: dict[str, Any] = examples()["activity.created"][1]
"""The detail of an activity with every field of the contract."""

NOT_PUBLISHED: dict[str, Any] = {
    "source": "recommendations",
    "score": 0.5,
    "own_id": "mention-1",
}
"""The fields of an event that an activity does not have."""


def decoded(detail: dict[str, Any]) -> Activity:
    """The activity in a detail."""
    command = decode(envelope("activity.created", detail))
    assert isinstance(command, CreateActivity)
    return command.activity


PUBLISHED = decoded(DETAIL)
ACTIVITY = replace(
    PUBLISHED, retracted=True, former=frozenset({"blog#b0"}), walked=frozenset({"post#p1"})
)
EVENT: Event = replace(PUBLISHED.event_for("ann"), **NOT_PUBLISHED)


def unset(value: Any, path: str = "") -> Iterator[str]:
    """The paths of the fields of a dataclass that have no value of their own, such as
    `actor.url`."""
    for each in fields(value):
        inner, name = getattr(value, each.name), f"{path}{each.name}"
        if is_dataclass(inner):
            yield from unset(inner, f"{name}.")
        elif inner in (None, "", each.default):
            yield name
