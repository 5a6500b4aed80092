"""The program of docs/sync-your-crm.md, with the API on fakes and the examples of events out."""

import itertools
import json
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from gazette.domain.subscribers.choices import Choice
from gazette.domain.subscribers.frequency import Frequency

from tests.builders import NOW
from tests.code_blocks import code_blocks
from tests.services import DAY, Services, content, request
from tests.world import World

DOCS = Path(__file__).parents[3] / "docs"


def program() -> Any:
    """The program of the page, as it stands there."""
    (text,) = code_blocks((DOCS / "sync-your-crm.md").read_text(), "python")
    module = ModuleType("crm")
    exec(text, module.__dict__)  # noqa: S102 -- our own page
    return module


CRM_SYNC = program()


class Crm:
    """The client of a CRM that has a contact."""

    def __init__(self) -> None:
        self.contacts: dict[str, dict[str, Any]] = {"ann": {"gazette_opted_out": False}}

    def read(self, user_id: str) -> dict[str, Any] | None:
        return self.contacts.get(user_id)

    def update(self, user_id: str, fields: Mapping[str, Any]) -> None:
        # A CRM stores JSON.
        self.contacts[user_id] |= json.loads(json.dumps(fields))


def told(kind: str, revision: int, **detail: str) -> dict[str, Any]:
    """An event out, as the bus delivers it."""
    envelope = json.loads((DOCS / "events" / f"{kind}.v1.event.json").read_text())
    envelope["detail"] |= {"revision": revision, **detail}
    return dict(envelope)


@pytest.mark.parametrize(
    ("kind", "opted_out"),
    [("subscriber.left", True), ("subscriber.suppressed", True), ("subscriber.returned", False)],
)
def test_each_state_reaches_the_crm(kind: str, opted_out: bool) -> None:
    crm = Crm()
    crm.contacts["ann"]["gazette_opted_out"] = not opted_out
    CRM_SYNC.to_crm(told(kind, 3), crm)
    assert crm.contacts["ann"]["gazette_opted_out"] is opted_out


def test_crm_has_the_newest_state_in_any_order_with_repetitions() -> None:
    history = [
        told("subscriber.left", 7),
        told("subscriber.returned", 9),
        told("subscriber.suppressed", 2, erased_at="2026-11-22T00:00:00.000Z"),
    ]
    for order in itertools.permutations([*history, history[0]]):
        crm = Crm()
        for envelope in order:
            CRM_SYNC.to_crm(envelope, crm)
        assert crm.contacts["ann"]["gazette_opted_out"] is True, "the erasure began revisions again"


@pytest.mark.parametrize("kind", ["preferences.changed", "email.sent"])
def test_other_events_and_unknown_contacts_change_nothing(kind: str) -> None:
    crm = Crm()
    CRM_SYNC.to_crm(told(kind, 3), crm)
    CRM_SYNC.to_crm(told("subscriber.left", 3, user_id="bo"), crm)
    assert crm.contacts == {"ann": {"gazette_opted_out": False}}


class Backend:
    """The function `call` of the page, connected to the API on fakes."""

    def __init__(self, world: World) -> None:
        self.services = Services(world)

    def __call__(self, method: str, path: str, body: Any = None, **query: str) -> Any:
        answer = self.services.send(request(method, path, body, **query))
        assert answer["statusCode"] == 200, answer["body"]
        return content(answer)


def frequencies(backend: Backend) -> dict[str, str]:
    state = backend("GET", "/v1/subscriber", user_id="ann")
    return {each["category"]: each["frequency"] for each in state["categories"]}


@pytest.fixture
def backend() -> Backend:
    world = World(critical=frozenset({"security"}))
    world.choose(at=NOW - DAY, like=Frequency.WEEKLY)
    return Backend(world)


def test_opt_out_stops_every_category_that_is_not_critical(backend: Backend) -> None:
    for _ in range(2):
        CRM_SYNC.to_gazette("ann", backend.services.world.clock(), backend)
    found = frequencies(backend)
    assert {name for name, often in found.items() if often != "never"} <= {"security"}
    assert len(found) > 1


def test_later_choice_of_the_reader_counts(backend: Backend) -> None:
    world = backend.services.world
    opted_out_at = world.clock()
    world.clock.now += timedelta(minutes=5)
    world.save(Choice(frequencies=(("like", Frequency.DAILY),)))
    CRM_SYNC.to_gazette("ann", opted_out_at, backend)
    assert frequencies(backend)["like"] == "daily"
