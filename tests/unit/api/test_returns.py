"""The route that returns subscribers on a new consent, on fakes."""

from dataclasses import replace
from datetime import timedelta
from typing import Any, get_args

import pytest
from gazette.adapters.api.models import ReturnRefusal
from gazette.domain.commands import ChangeSubscriber
from gazette.domain.errors import NotYet, Unavailable
from gazette.domain.identity import address_hash
from gazette.domain.stored import as_stored
from gazette.domain.subscribers.consent import Refusal
from gazette.domain.subscribers.subscriber import Subscriber, SubscriberStatus
from gazette.domain.subscribers.suppression import Cause

from tests.builders import NOW, a_subscriber
from tests.services import DAY, Services, content, request
from tests.world import World

ANN = address_hash("ann@example.com")
MINUTE = timedelta(minutes=1)


@pytest.fixture
def world() -> World:
    """Ann unsubscribed a minute ago."""
    world = World()
    world.choose(at=NOW - DAY)
    world.unsubscribe()
    world.clock.now += MINUTE
    return world


def status(world: World) -> SubscriberStatus:
    reader = world.subscribers.get("ann")
    assert isinstance(reader, Subscriber)
    return reader.status


def refused(answer: dict[str, Any]) -> str:
    """Return the reason of a conflict."""
    assert answer["statusCode"] == 409, answer["body"]
    assert answer["headers"]["Content-Type"] == "application/problem+json"
    found = content(answer)
    assert (found["status"], found["type"]) == (409, "docs/api.md#return-refused")
    assert found["detail"]
    assert "@" not in answer["body"]
    return str(found["reason"])


def test_subscriber_returns_once(world: World) -> None:
    services = Services(world)
    at = world.clock().isoformat()
    answer = services.give_back(consented_at=at)
    assert answer["statusCode"] == 200
    assert content(answer) == {"user_id": "ann", "outcome": "returned"}
    assert status(world) is SubscriberStatus.ACTIVE
    assert content(services.give_back(consented_at=at))["outcome"] == "unchanged"


def test_consent_before_the_unsubscription_is_refused(world: World) -> None:
    earlier = (world.clock() - 2 * MINUTE).isoformat()
    answer = Services(world).give_back(consented_at=earlier)
    assert refused(answer) == "newer_unsubscription"
    assert status(world) is SubscriberStatus.UNSUBSCRIBED


def test_other_address_is_refused(world: World) -> None:
    assert refused(Services(world).give_back(email="bo@example.com")) == "other_address"


def test_address_is_compared_in_its_canonical_spelling(world: World) -> None:
    assert Services(world).give_back(email="ann@EXAMPLE.com")["statusCode"] == 200


@pytest.mark.parametrize("cause", [Cause.BOUNCED, Cause.COMPLAINED, Cause.MANUAL])
def test_suppression_is_never_lifted(world: World, cause: Cause) -> None:
    world.suppressions.add(ANN, cause)
    assert refused(Services(world).give_back()) == cause.value


def test_unsubscription_of_another_subscriber_is_not_lifted(world: World) -> None:
    world.say(ChangeSubscriber(a_subscriber("bo")))
    assert refused(Services(world).give_back("bo")) == "shared_address"
    assert status(world) is SubscriberStatus.UNSUBSCRIBED


def test_status_of_a_newer_version_is_refused(world: World) -> None:
    reader = world.subscribers.get("ann")
    assert isinstance(reader, Subscriber)
    world.subscribers.rows["ann"] = replace(reader, status=as_stored(SubscriberStatus, "frozen"))
    assert refused(Services(world).give_back()) == "unknown_status"


def test_unknown_and_erased_subscribers_are_not_found(world: World) -> None:
    services = Services(world)
    answer = services.give_back("nobody")
    assert answer["statusCode"] == 404
    assert content(answer)["type"] == "docs/api.md#unknown-subscriber"
    world.erase()
    assert services.give_back()["statusCode"] == 404


@pytest.mark.parametrize("ahead", [timedelta(hours=1, seconds=1), timedelta(days=4000)])
def test_consent_in_the_future_is_rejected(world: World, ahead: timedelta) -> None:
    services = Services(world)
    answer = services.give_back(consented_at=(world.clock() + ahead).isoformat())
    assert answer["statusCode"] == 422
    assert content(answer)["errors"][0]["pointer"] == "#/consented_at"
    assert status(world) is SubscriberStatus.UNSUBSCRIBED


@pytest.mark.parametrize(
    ("field", "value", "pointer"),
    [
        ("email", "ann", "#/email"),
        ("email", "Ann <ann@example.com>", "#/email"),
        ("email", None, "#/email"),
        ("consented_at", "today", "#/consented_at"),
        ("consented_at", "2026-11-21T09:00:00", "#/consented_at"),
        ("consented_at", 1, "#/consented_at"),
        ("name", "Ann", "#/name"),
    ],
)
def test_error_points_to_the_field(world: World, field: str, value: object, pointer: str) -> None:
    body = {"email": "ann@example.com", "consented_at": NOW.isoformat(), field: value}
    answer = Services(world).send(request("POST", "/v1/subscriber/return", body, user_id="ann"))
    assert answer["statusCode"] == 422
    assert "ann@" not in answer["body"]
    assert [error["pointer"] for error in content(answer)["errors"]] == [pointer]


@pytest.mark.parametrize("error", [Unavailable("no answer"), NotYet("it keeps changing")])
def test_return_that_breaks_off_has_an_unknown_outcome(
    world: World, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    services = Services(world)
    at = world.clock().isoformat()
    with monkeypatch.context() as patch:
        patch.setattr(world.subscribers, "put", raising(error))
        answer = services.give_back(consented_at=at)
    assert answer["statusCode"] == 504
    assert content(answer)["type"] == "docs/api.md#outcome-unknown"
    assert len(services.reports) == 1
    assert services.give_back(consented_at=at)["statusCode"] == 200
    assert status(world) is SubscriberStatus.ACTIVE


def test_nothing_changes_if_the_key_of_suppressions_cannot_be_read(world: World) -> None:
    services = Services(world, suppressions=raising(Unavailable("no answer")))
    answer = services.give_back()
    assert answer["statusCode"] == 503
    assert content(answer)["type"] == "docs/api.md#unavailable"
    assert status(world) is SubscriberStatus.UNSUBSCRIBED


def test_each_refusal_has_an_answer() -> None:
    others = {Refusal.UNKNOWN_READER, Refusal.ERASED, Refusal.AHEAD}
    assert {*get_args(ReturnRefusal)} == {*Refusal} - others


def raising(error: Exception) -> Any:
    def fail(*_: object, **__: object) -> None:
        raise error

    return fail
