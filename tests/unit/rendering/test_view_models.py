"""What templates are given of an event that says more."""

from dataclasses import fields, replace
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from gazette.adapters.rendering.language import Languages
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.adapters.rendering.texts import greeted
from gazette.adapters.rendering.view_models import COLOURS, Person, ShownGroup, show
from gazette.domain.delivery.compose import compose
from gazette.domain.errors import RenderingFailed
from gazette.domain.model import DAILY, Actor, Event, Image, Importance
from jinja2 import Environment

from gazette_cdk.assets.templates.build import build_templates
from tests.builders import LINKS, NOW, a_subscriber, an_event
from tests.every_field import EVENT

TEMPLATES = Path(__file__).parents[3] / "templates"
SHOWN = sorted({each.name for each in fields(Event)} & {*ShownGroup._fields})
"""The fields of events that templates get by the same name."""


def shown(*events: Event) -> ShownGroup:
    (group,) = compose(events, max_blocks=1).groups
    return show(group, Languages(TEMPLATES).of("en"), UTC)


def with_actor(actor: Actor | None, **more: Any) -> Event:
    return replace(an_event(), actor=actor, **more)


def test_avatar_shows_the_latest_actor() -> None:
    bo = Actor("bo", "Bo", "https://example.com/bo", "https://example.com/bo.png")
    later = NOW.replace(year=NOW.year + 1)
    found = shown(with_actor(Actor("cy", "Cy")), with_actor(bo, id="e2", occurred_at=later))
    assert found.actor == Person(
        "Bo", "https://example.com/bo", "https://example.com/bo.png", "B", COLOURS[3]
    )


@pytest.mark.parametrize("name", SHOWN)
def test_each_shown_field_reaches_templates(name: str) -> None:
    before = an_event(category="like")
    after = replace(before, **{name: getattr(EVENT, name)})
    assert getattr(shown(after), name) != getattr(shown(before), name)


def test_avatar_is_omitted_without_an_actor() -> None:
    found = shown(with_actor(None))
    assert (found.actor, found.people, found.others) == (None, (), 0)


def test_avatar_and_line_show_the_same_name() -> None:
    found = shown(with_actor(Actor("eve", "example.com\u202e")))
    assert found.actor is not None
    assert (found.actor.name,) == found.people


@pytest.mark.parametrize("url", ["javascript:alert(1)", "https://e.com/" + "a" * 3000])
def test_non_web_urls_are_omitted(url: str) -> None:
    image = Image(url, "One")
    event = replace(
        with_actor(Actor("eve", "Eve", url, url)), entity=replace(an_event().entity, image=image)
    )
    found = shown(event)
    assert found.actor == Person("Eve", "", "", "E", COLOURS[6])
    assert found.image is None


def test_image_alt_text_is_a_single_line() -> None:
    image = Image("https://example.com/1.png", "Two\u202e cats")
    found = shown(replace(an_event(), entity=replace(an_event().entity, image=image)))
    assert found.image == Image("https://example.com/1.png", "Two cats")


def test_template_data_is_from_the_latest_event_without_bidi_controls() -> None:
    later = NOW.replace(year=NOW.year + 1)
    old = replace(an_event("e1"), data='{"a":1}')
    new = replace(
        an_event("e2", occurred_at=later),
        data='{"b\u202e":["x\u202ey",{"c":null,"d":1.5,"e":true}]}',
        importance=Importance.LOW,
    )
    found = shown(old, new)
    assert found.data == {"b": ["xy", {"c": None, "d": 1.5, "e": True}]}
    assert found.importance is Importance.LOW


def test_template_data_is_empty_if_the_event_has_none() -> None:
    template = Environment(autoescape=True).from_string(
        "{{ 'yes' if group.data.build is defined else 'no' }} {{ group.data | length }}"
    )
    assert template.render(group=shown(an_event())) == "no 0"


def test_template_data_is_escaped(tmp_path: Path) -> None:
    ours = tmp_path / "ours"
    (ours / "digest").mkdir(parents=True)
    (ours / "digest" / "block.html").write_text("<p>{{ group.data.build.name }}</p>")
    build_templates(TEMPLATES, tmp_path / "built", overlay=ours)
    renderer = JinjaRenderer(tmp_path / "built")
    event = replace(an_event(), data='{"build":{"name":"<b>main</b>"}}')
    events = [event, replace(event, id="other")]
    made = renderer.render(compose(events, max_blocks=1), a_subscriber(), LINKS, DAILY)
    assert "<p>&lt;b&gt;main&lt;/b&gt;</p>" in made.html
    without = compose([an_event("a"), an_event("b")], max_blocks=1)
    with pytest.raises(RenderingFailed, match="build"):
        renderer.render(without, a_subscriber(), LINKS, DAILY)


def test_event_without_actor_is_rendered_in_each_language(
    renderer: JinjaRenderer,
) -> None:
    for locale in ("en", "de", "he"):
        reader = replace(a_subscriber(), locale=locale)
        made = renderer.render(compose([with_actor(None)], max_blocks=1), reader, LINKS, DAILY)
        assert made.subject


@pytest.mark.parametrize(
    ("name", "locale", "hello"),
    [
        ("Ann Weber", "en", "Ann"),
        ("Nagy Anna", "hu-HU", "Nagy Anna"),
        ("Nagy Anna", "de", "Nagy"),
        ("A. Weber", "en", "A. Weber"),
        ("J Weber", "en", "J Weber"),
        ("4711 Shop", "en", "4711 Shop"),
        ("\u200b", "en", ""),
    ],
)
def test_readers_are_greeted_by_first_name_only_if_unambiguous(
    name: str, locale: str, hello: str
) -> None:
    assert greeted(name, locale, 80) == hello
