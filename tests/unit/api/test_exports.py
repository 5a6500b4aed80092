"""The route that exports everything that is stored on a person, on fakes."""

import base64
import json
from typing import Any

import pytest
from gazette.adapters.api.cursors import cursor_of, place_in
from gazette.adapters.api.parameters import MOST_OF_A_CURSOR
from gazette.domain.export import Cursor, NotIncluded, Part, read_cursor

from tests.builders import NOW, a_follow, an_event
from tests.services import Services, content
from tests.world import World

EXPORT = "/v1/subscriber/export"


@pytest.fixture
def world() -> World:
    """Ann got a digest and unsubscribed. Two events and a follow are stored."""
    world = World()
    world.choose(at=NOW)
    world.create(an_event("e1"), an_event("e2"))
    world.arm()
    world.send_digest()
    world.follows.rows["post#p1", "ann"] = a_follow()
    world.unsubscribe()
    return world


def pages(services: Services, user_id: str = "ann") -> list[dict[str, Any]]:
    """Return all pages of an export."""
    found, cursor = list[dict[str, Any]](), ""
    while cursor is not None:
        answer = services.get(EXPORT, user_id=user_id, cursor=cursor)
        assert answer["statusCode"] == 200, answer["body"]
        found.append(content(answer))
        cursor = found[-1]["next"]
    return found


def test_pages_contain_the_rows_of_each_table(world: World) -> None:
    found = pages(Services(world))
    rows = [each for page in found for each in page["rows"]]
    assert {each["table"] for each in rows} == {*Part, "suppressions", "engagement"}
    (profile,) = [each["row"] for each in rows if each["table"] == "subscribers"]
    assert profile["email"] == "ann@example.com"
    assert {page["user_id"] for page in found} == {"ann"}


def test_each_page_names_what_is_not_included(world: World) -> None:
    for page in pages(Services(world)):
        assert [each["what"] for each in page["not_included"]] == [*NotIncluded]
        assert all(each["meaning"].endswith(".") for each in page["not_included"])


@pytest.mark.parametrize("user_id", ["nobody", "ann"])
def test_unknown_and_erased_subscribers_have_no_rows(world: World, user_id: str) -> None:
    world.erase()
    (page,) = pages(Services(world), user_id)
    assert (page["user_id"], page["rows"], page["next"]) == (user_id, [], None)
    assert page["not_included"]


def test_export_ends_if_the_subscriber_is_erased_meanwhile(world: World) -> None:
    services = Services(world)
    first = content(services.get(EXPORT, user_id="ann"))
    world.erase()
    second = content(services.get(EXPORT, user_id="ann", cursor=first["next"]))
    assert (second["rows"], second["next"]) == ([], None)


def encoded(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "cursor",
    [
        "x",
        "====",
        "ä",
        "a" * 1_001,
        encoded(["bo", "events", ""]),
        encoded(["ann", "control", ""]),
        encoded(["ann", "events", "\ud800"]),
        encoded(["ann", "events", "\x00"]),
        encoded(["ann", "events", "e" * 201]),
        encoded(["ann", "events"]),
        encoded({"user_id": "ann"}),
    ],
)
def test_invalid_cursor_is_rejected(world: World, cursor: str) -> None:
    answer = Services(world).get(EXPORT, user_id="ann", cursor=cursor)
    assert answer["statusCode"] == 422
    assert [each["parameter"] for each in content(answer)["errors"]] == ["cursor"]


@pytest.mark.parametrize("character", ["a", '"', "\\", "ä", "漢", "🙂"])
def test_cursor_with_the_longest_ids_is_accepted(world: World, character: str) -> None:
    user_id, entity = '"' * 64, f"{'t' * 32}#{character * 128}"
    exporting = Cursor(user_id, Part.FOLLOWS, entity)
    assert read_cursor(exporting.text(), user_id) == exporting
    follows = cursor_of(user_id, entity)
    assert follows
    assert place_in(follows, user_id, parameter="cursor") == entity
    assert max(len(exporting.text()), len(follows)) <= MOST_OF_A_CURSOR
    services = Services(world)
    answer = services.get("/v1/subscriber", user_id=user_id, follows_cursor=follows)
    assert answer["statusCode"] == 404
    assert services.get(EXPORT, user_id=user_id, cursor=exporting.text())["statusCode"] == 200
