"""Who may put what: a source is kept to its own detail types where the stage says so."""

import json
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from gazette.adapters.aws.bus import encode
from gazette.adapters.contract import DETAIL_MODELS, decode
from gazette.adapters.contract.deliveries import DeliveryReported
from gazette.adapters.contract.reports import message_of
from gazette.domain.commands import ChangeFollow, ChoosePreferences, MarkActive
from gazette.domain.outcome import Outcome
from gazette.domain.sources import DELIVERY_REPORTED, DETAIL_TYPES, FEEDBACK, PREFERENCES, Sources
from gazette.domain.subscribers.choices import Choice
from gazette.domain.subscribers.following import FollowState
from gazette.domain.subscribers.frequency import Frequency

from tests.builders import NOW, SettableClock
from tests.unit.feedback.test_reports import detail
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


def test_attack_source_cannot_publish_disallowed_event_types(world: World) -> None:
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
def test_attack_lookalike_source_is_rejected(world: World, source: str) -> None:
    assert put(world, "subscriber.deleted", source=source, sources=ACCOUNTS) == [Outcome.FOREIGN]


@pytest.mark.parametrize(
    "detail_type", sorted(set(DETAIL_MODELS) - {"subscriber.active", DELIVERY_REPORTED})
)
def test_attack_fake_feedback_source_cannot_publish_service_events(
    world: World, detail_type: str
) -> None:
    assert put(world, detail_type, source=FEEDBACK, sources=CLOSED) == [Outcome.FOREIGN]


@pytest.mark.parametrize("detail_type", ["subscriber.changed", "subscriber.deleted"])
def test_attack_fake_preference_page_source_cannot_change_profile(
    world: World, detail_type: str
) -> None:
    assert put(world, detail_type, source=PREFERENCES, sources=CLOSED) == [Outcome.FOREIGN]


def test_attack_source_restriction_applies_to_lists(world: World) -> None:
    """Neither does a list in which an event does not fit."""
    events = {"events": [DETAILS["event.created"], {}]}
    sources = Sources({"event.created": frozenset({"shop.comments"})})
    said = put(world, "event.created", source="shop.likes", sources=sources, detail=events)
    assert said == [Outcome.FOREIGN]
    assert not world.events.rows


def test_attack_control_characters_in_source_name_are_escaped(world: World) -> None:
    source = "\x1b[2Jshop" + "x" * 300
    put(world, "subscriber.deleted", source=source, sources=ACCOUNTS)
    [(_, reason)] = world.quarantine.kept
    assert reason.isprintable()
    assert len(reason) < 400


@pytest.mark.parametrize("source", ["shop.accounts", "shop.import"])
def test_every_allowed_source_can_publish(world: World, source: str) -> None:
    assert put(world, "subscriber.changed", source=source, sources=ACCOUNTS) == [Outcome.CHANGED]
    assert not world.quarantine.kept


@pytest.mark.parametrize("detail_type", sorted(set(DETAIL_MODELS) - {DELIVERY_REPORTED}))
def test_detail_type_without_list_accepts_every_source(world: World, detail_type: str) -> None:
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
def test_gazette_events_are_accepted_with_any_source_list(
    world: World, source: str, command: ChoosePreferences | ChangeFollow | MarkActive
) -> None:
    detail_type, detail = encode(command)
    said = put(world, detail_type, source=source, sources=CLOSED, detail=detail)
    assert Outcome.FOREIGN not in said
    assert not world.quarantine.kept


def test_invalid_detail_is_quarantined_from_any_source(world: World) -> None:
    said = put(world, "subscriber.changed", source="shop.accounts", sources=ACCOUNTS, detail={})
    assert said == [Outcome.QUARANTINED]
    (body,) = (envelope(name, {}, source="shop.comments") for name in ("subscriber.renamed",))
    assert world.ingest(body, partial(decode, sources=CLOSED)) == [Outcome.QUARANTINED]


def test_source_lists_accept_exactly_the_contract_detail_types() -> None:
    assert set(DETAIL_TYPES) == set(DETAIL_MODELS)


@pytest.mark.parametrize(
    ("sources", "words"),
    [
        (None, "lists no source for delivery.reported"),
        (ACCOUNTS, "lists no source for delivery.reported"),
        (Sources({DELIVERY_REPORTED: frozenset({"shop.other"})}), "Allowed sources: shop.other."),
        (Sources({DELIVERY_REPORTED: frozenset({"shop.mailgun"})}), "gazette quarantine redrive"),
    ],
)
def test_attack_ingest_never_processes_a_delivery_report(
    world: World, sources: Sources | None, words: str
) -> None:
    """Unlike the other types, this one has no source unless the stage lists one."""
    said = put(world, DELIVERY_REPORTED, source="shop.mailgun", sources=sources, detail={})
    assert said == [Outcome.FOREIGN]
    ((_, reason),) = world.quarantine.kept
    assert words in reason


@pytest.mark.parametrize("sources", [None, CLOSED])
def test_delivery_event_of_the_api_that_was_redriven_to_ingest_belongs_to_feedback(
    world: World, sources: Sources | None
) -> None:
    message = message_of(DeliveryReported.model_validate(detail()))
    assert world.ingest(message, partial(decode, sources=sources)) == [Outcome.FOREIGN]
    ((kept, reason),) = world.quarantine.kept
    assert kept == message
    assert "gazette quarantine redrive" in reason
