"""The list of a run's updates: its pages, and the reader's own buttons."""

import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from gazette.adapters.rendering.pages import JinjaPages
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.adapters.rendering.sheets import Sheets
from gazette.domain.delivery.arrangement import DEFAULT
from gazette.domain.links import Scope, ScopeKind, entity_mark, thing_in
from gazette.domain.ports.rendering import VersionTemplates
from gazette.steps.delivery.versions import Chosen
from gazette.steps.preferences.view import ViewContext, view_updates

from tests.builders import a_link, an_event
from tests.world import World

POST = "post#post1"
FOLLOW = Scope(ScopeKind.ENTITY, (entity_mark(POST),))


@pytest.fixture
def world() -> World:
    """Ann follows a post."""
    world = World()
    world.choose()
    world.follow(entity=POST)
    return world


@pytest.fixture
def viewing(world: World, built_templates: Path) -> ViewContext:
    return ViewContext(
        runs=world.runs,
        subscribers=world.subscribers,
        events=world.events,
        follows=world.follows,
        withdrawals=world.withdrawals.current,
        templates=lambda _: Chosen(VersionTemplates(0, JinjaRenderer(built_templates))),
        pages=JinjaPages(Sheets(built_templates)),
        clock=world.clock,
        max_blocks=1,
        arrangement=DEFAULT,
    )


def send(world: World, *posts: str, via: tuple[str, ...] = ()) -> None:
    """Send a digest with an event on each post."""
    world.create(*(replace(an_event(each, entity_id=each), via=via) for each in posts))
    world.send_digest()


def opened(context: ViewContext, *, is_own: bool = True, start: int = 0) -> tuple[str, list[Scope]]:
    """Return the list, and the scopes of its buttons."""
    made: dict[str, Scope] = {}

    def leave(scope: Scope) -> str:
        link = f"../unsubscribe/t{len(made)}"
        made[link] = scope
        return link

    html = view_updates(a_link(), leave=leave if is_own else None, start=start, context=context)
    assert html is not None
    return html, [made[action] for action in re.findall(r'action="([^"]+)"', html)]


def test_own_list_mutes_each_thing_and_unfollows_followed_ones(
    world: World, viewing: ViewContext
) -> None:
    send(world, "post2")
    world.create(replace(an_event("e1"), via=(POST,)))
    world.send_digest()
    _, scopes = opened(viewing)
    assert [scope.kind for scope in scopes] == [ScopeKind.THING]
    assert thing_in(scopes[0]) == ("post#post2", "Title of post2")
    html = view_updates(
        a_link(replace(a_link().run, sequence=2)), leave=lambda scope: scope.kind, context=viewing
    )
    assert html is not None
    assert re.findall(r'action="([^"]+)"', html) == [ScopeKind.THING, ScopeKind.ENTITY]


def test_attack_shared_list_has_no_buttons(world: World, viewing: ViewContext) -> None:
    send(world, "post1", via=(POST,))
    html, scopes = opened(viewing, is_own=False)
    assert scopes == []
    assert not re.search("<form|<button|unsubscribe|preferences", html)


def test_list_offers_to_unfollow_only_what_the_reader_still_follows(
    world: World, viewing: ViewContext
) -> None:
    send(world, "post1", via=(POST,))
    _, scopes = opened(viewing)
    assert FOLLOW in scopes
    world.follow(entity=POST, at=world.clock(), following=False)
    _, scopes = opened(viewing)
    assert [scope.kind for scope in scopes] == [ScopeKind.THING]


def test_unfollow_button_names_another_entity_that_is_followed(
    world: World, viewing: ViewContext
) -> None:
    send(world, "post7", via=(POST,))
    html, scopes = opened(viewing)
    assert FOLLOW in scopes
    assert f"Unfollow {POST}" in re.sub("[\u2066-\u2069]", "", html)


def test_list_says_what_is_muted_already(world: World, viewing: ViewContext) -> None:
    send(world, "post1", "post2")
    world.clock.now += timedelta(minutes=1)
    world.mute("post#post2")
    html, scopes = opened(viewing)
    assert [thing_in(scope)[0] for scope in scopes] == ["post#post1"]
    assert html.count("Muted") == 1


def test_unsubscribed_reader_gets_the_list_without_buttons(
    world: World, viewing: ViewContext
) -> None:
    send(world, "post1")
    world.unsubscribe()
    html, scopes = opened(viewing)
    assert scopes == []
    assert "Title of post1" in html


def test_long_list_has_pages_that_show_each_thing_once(world: World, viewing: ViewContext) -> None:
    send(world, *(f"post{number}" for number in range(230)))
    found: list[str] = []
    start = 0
    for _ in range(3):
        html, _ = opened(viewing, start=start)
        assert "All 230 updates" in html
        found += re.findall(r">Title of (post\d+)</a>", html)
        start = int(
            re.findall(r'rel="next" href="[?]after=(\d+)"', html + ' rel="next" href="?after=0"')[0]
        )
    assert start == 0
    assert len(found) == len({*found}) == 230
    for beyond in (230, 9999):
        assert opened(viewing, start=beyond)[0] == opened(viewing)[0]
