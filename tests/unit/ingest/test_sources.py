"""Who may put what: a source is kept to its own detail types where the stage says so."""

import json
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from gazette.adapters.aws.bus import encode
from gazette.adapters.contract import DETAIL_MODELS, decode
from gazette.domain.commands import ChangeFollow, ChoosePreferences, MarkActive
from gazette.domain.outcome import Outcome
from gazette.domain.sources import DETAIL_TYPES, FEEDBACK, PREFERENCES, Sources
from gazette.domain.subscribers.choices import Choice
from gazette.domain.subscribers.following import FollowState
from gazette.domain.subscribers.frequency import Frequency

from tests.builders import NOW, SettableClock
from tests.unit.ingest.test_contract import DETAILS, envelope
from tests.world import World

ACCOUNTS = Sources(
    {
        "subscriber.changed": frozenset({"shop.accounts", "shop.import"}),
        "subscriber.deleted": frozenset({"shop.accounts"}),
    }
)
CLOSED = Sources(dict.fromkeys(DETAIL_TYPES, frozenset({"shop.accounts"})))
"""Every detail type is kept to one service."""


@pytest.fixture
def world() -> World:
    """A day later than what is put."""
    return World(SettableClock(NOW + timedelta(days=1)))


def put(
    world: World, detail_type: str, *, source: str, sources: Sources | None, detail: Any = None
) -> list[Outcome]:
    """What becomes of a message that is valid but for its source."""
    body = envelope(detail_type, DETAILS[detail_type] if detail is None else detail, source=source)
    return world.ingest(body, partial(decode, sources=sources))


def test_attack_a_source_cannot_put_events_that_are_not_its_own(world: World) -> None:
    """A service that may report comments gives every reader another address, then erases them."""
    for detail_type in ("subscriber.changed", "subscriber.deleted"):
        assert put(world, detail_type, source="shop.comments", sources=ACCOUNTS) == [
            Outcome.FOREIGN
        ]
    assert not world.subscribers.rows
    (changed, _), (deleted, reason) = world.quarantine.kept
    assert json.loads(changed)["detail-type"] == "subscriber.changed"
    assert json.loads(deleted)["source"] == "shop.comments"
    for word in ("subscriber.deleted", "'shop.comments'", "shop.accounts", "setting sources"):
        assert word in reason


@pytest.mark.parametrize("source", ["Shop.accounts", "shop.accounts ", "shop.account", "", "*"])
def test_attack_a_source_that_looks_like_another_is_another(world: World, source: str) -> None:
    assert put(world, "subscriber.deleted", source=source, sources=ACCOUNTS) == [Outcome.FOREIGN]


@pytest.mark.parametrize("detail_type", sorted(set(DETAIL_MODELS) - {"subscriber.active"}))
def test_attack_a_service_that_names_itself_feedback_puts_no_more_than_feedback_does(
    world: World, detail_type: str
) -> None:
    assert put(world, detail_type, source=FEEDBACK, sources=CLOSED) == [Outcome.FOREIGN]


@pytest.mark.parametrize("detail_type", ["subscriber.changed", "subscriber.deleted"])
def test_attack_a_service_that_names_itself_the_preference_page_changes_no_profile(
    world: World, detail_type: str
) -> None:
    assert put(world, detail_type, source=PREFERENCES, sources=CLOSED) == [Outcome.FOREIGN]


def test_attack_a_list_does_not_carry_what_an_event_alone_may_not(world: World) -> None:
    """Neither does a list in which an event does not fit."""
    events = {"events": [DETAILS["event.created"], {}]}
    sources = Sources({"event.created": frozenset({"shop.comments"})})
    said = put(world, "event.created", source="shop.likes", sources=sources, detail=events)
    assert said == [Outcome.FOREIGN]
    assert not world.events.rows


def test_attack_the_name_of_a_source_reaches_no_terminal_as_it_is(world: World) -> None:
    source = "\x1b[2Jshop" + "x" * 300
    put(world, "subscriber.deleted", source=source, sources=ACCOUNTS)
    [(_, reason)] = world.quarantine.kept
    assert reason.isprintable()
    assert len(reason) < 400


@pytest.mark.parametrize("source", ["shop.accounts", "shop.import"])
def test_each_source_on_the_list_puts_it(world: World, source: str) -> None:
    assert put(world, "subscriber.changed", source=source, sources=ACCOUNTS) == [Outcome.CHANGED]
    assert not world.quarantine.kept


@pytest.mark.parametrize("detail_type", sorted(DETAIL_MODELS))
def test_a_type_without_a_list_accepts_every_source(world: World, detail_type: str) -> None:
    for sources in (None, Sources({"no.such": frozenset({"shop.accounts"})})):
        assert Outcome.FOREIGN not in put(
            world, detail_type, source="shop.comments", sources=sources
        )


@pytest.mark.parametrize(
    ("source", "command"),
    [
        (PREFERENCES, ChoosePreferences("ann", Choice(frequency=Frequency.WEEKLY), NOW)),
        (PREFERENCES, ChangeFollow("ann", "post#p1", FollowState(following=True), NOW)),
        (PREFERENCES, ChangeFollow("ann", "post#p1", FollowState(following=False), NOW)),
        (FEEDBACK, MarkActive("ann", NOW)),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_gazettes_own_events_are_accepted_with_any_list(
    world: World, source: str, command: ChoosePreferences | ChangeFollow | MarkActive
) -> None:
    detail_type, detail = encode(command)
    said = put(world, detail_type, source=source, sources=CLOSED, detail=detail)
    assert Outcome.FOREIGN not in said
    assert not world.quarantine.kept


def test_what_fits_no_schema_is_no_matter_of_its_source(world: World) -> None:
    said = put(world, "subscriber.changed", source="shop.accounts", sources=ACCOUNTS, detail={})
    assert said == [Outcome.QUARANTINED]
    (body,) = (envelope(name, {}, source="shop.comments") for name in ("subscriber.renamed",))
    assert world.ingest(body, partial(decode, sources=CLOSED)) == [Outcome.QUARANTINED]


def test_lists_can_name_every_detail_type_of_the_contract_and_no_other() -> None:
    assert set(DETAIL_TYPES) == set(DETAIL_MODELS)
