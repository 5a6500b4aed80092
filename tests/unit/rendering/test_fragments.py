"""A group that many readers share is rendered once; what differs is never shared."""

import tracemalloc
from dataclasses import replace
from datetime import UTC
from pathlib import Path
from sys import getsizeof
from typing import Any

import pytest
from gazette.adapters.dynamodb.event_rows import as_json
from gazette.adapters.rendering import fragments
from gazette.adapters.rendering.language import Language, Languages
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.adapters.rendering.view_models import show
from gazette.domain.delivery.compose import compose
from gazette.domain.model import DAILY, Actor, Edition, Entity, Image, Importance
from gazette.domain.ports.rendering import CacheCount
from gazette.domain.scheduling.kinds import immediate_schedule
from jinja2 import Template
from jinja2.runtime import Context

from tests.builders import LINKS, a_subscriber, an_event
from tests.unit.rendering.test_view_models import SHOWN

SOURCE = Path(__file__).parents[3] / "templates"
ENGLISH = Languages(SOURCE).of("en")
TEXTS = [name for name in SHOWN if type(getattr(an_event(), name)) is str and name != "category"]


@pytest.fixture
def renderer(built_templates: Path) -> JinjaRenderer:
    """One that has made nothing yet."""
    return JinjaRenderer(built_templates)


def email(
    renderer: JinjaRenderer,
    user_id: str = "ann",
    *,
    locale: str = "en",
    zone: str = "UTC",
    schedule: str = DAILY,
    variation: int = 1,
    excerpt: str = "",
) -> Edition:
    """Five posts that everybody follows."""
    events = [
        an_event(f"{group}.{number}", user_id=user_id, entity_id=f"post{group}", excerpt=excerpt)
        for group in range(5)
        for number in range(group + 1)
    ]
    reader = replace(a_subscriber(user_id), locale=locale, time_zone=zone, name=user_id)
    digest = compose(events, max_blocks=20)
    return renderer.render(digest, reader, LINKS, schedule, variation=variation)


def test_hundred_readers_of_the_same_posts_render_five_groups(renderer: JinjaRenderer) -> None:
    made = {email(renderer, f"reader{number}").text for number in range(100)}
    assert len(made) == 100
    assert renderer.take_count() == CacheCount(hits=495, misses=5)
    assert renderer.take_count() == CacheCount(hits=0, misses=0)


def test_identical_groups_of_an_email_are_rendered_once(renderer: JinjaRenderer) -> None:
    same = Entity("post", "1", "A title", "https://example.com/")
    events = [
        replace(an_event(f"e{number}"), entity=replace(same, id=f"{number}")) for number in range(4)
    ]
    made = renderer.render(compose(events, max_blocks=4), a_subscriber(), LINKS, DAILY)
    assert made.text.count('"A title"') == 3
    assert renderer.take_count() == CacheCount(hits=2, misses=2), "the first block leads"


def test_cached_digest_renders_only_headline_and_page_templates(
    renderer: JinjaRenderer, monkeypatch: pytest.MonkeyPatch
) -> None:
    email(renderer)
    rendered: list[str] = []
    real = Template.new_context

    def counted(template: Template, *args: Any, **kwargs: Any) -> Context:
        rendered.append(str(template.name))
        return real(template, *args, **kwargs)

    monkeypatch.setattr(Template, "new_context", counted)
    email(renderer, "bo")
    assert sorted(rendered) == [
        "categories/comment/count.txt",
        "categories/comment/headline.txt",
        "digest/body.html",
        "digest/body.txt",
        "digest/subject.txt",
        "parts/less.html",
        "parts/logo.html",
        "parts/masthead.html",
        "parts/more.html",
        "parts/people.txt",
        "parts/preview.txt",
        "parts/title.txt",
        "parts/why.txt",
    ]


def test_new_groups_share_a_context_for_each_template(
    renderer: JinjaRenderer, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    real = Template.new_context

    def counted(template: Template, *args: Any, **kwargs: Any) -> Context:
        made.append(str(template.name))
        return real(template, *args, **kwargs)

    monkeypatch.setattr(Template, "new_context", counted)
    email(renderer)
    of_groups = ("parts/people.txt", "categories/comment/line.txt", "digest/block.html")
    assert [made.count(name) for name in (*of_groups, "digest/block.txt")] == [2, 1, 1, 1]


@pytest.mark.parametrize(
    "other",
    [
        {"locale": "de"},
        {"locale": "en-US"},
        {"zone": "Asia/Kathmandu"},
        {"schedule": immediate_schedule("post#post1")},
        {"variation": 2},
        {"excerpt": "Hello"},
    ],
)
def test_fragment_with_different_input_is_rendered_again(
    renderer: JinjaRenderer, other: dict[str, str | int]
) -> None:
    email(renderer)
    renderer.take_count()
    email(renderer, **other)  # type: ignore[arg-type] # one of them each
    assert renderer.take_count() == CacheCount(hits=0, misses=5)


def test_languages_with_equal_time_formats_share_no_fragments(
    renderer: JinjaRenderer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Language, "moment", lambda *_: "8:30")
    english, german = email(renderer), email(renderer, locale="de")
    assert "new comments" in english.text
    assert "new comments" not in german.text
    assert renderer.take_count() == CacheCount(hits=0, misses=10)


def colour(actor: str) -> str:
    event = replace(an_event(), actor=Actor(actor, "Bo"))
    group = compose([event], max_blocks=1).blocks[0].groups[0]
    found = show(group, Languages(SOURCE).of("en"), UTC).actor
    assert found
    return found.colour


@pytest.mark.parametrize(
    "other",
    [
        {"data": '{"a":1}'},
        {"importance": Importance.HIGH},
        {"actor": None},
        {"actor": Actor("bo", "Bo", url="https://example.com/bo")},
        {"actor": Actor("bo", "Bo", avatar="https://example.com/bo.png")},
        {"entity": replace(an_event().entity, image=Image("https://example.com/1.png", "One"))},
    ],
)
def test_fragment_is_rendered_again_if_any_visible_value_changes(
    renderer: JinjaRenderer, other: dict[str, Any]
) -> None:
    for event in (an_event(), replace(an_event(), **other), replace(an_event(), **other)):
        renderer.render(compose([event], max_blocks=1), a_subscriber(), LINKS, DAILY)
    assert renderer.take_count() == CacheCount(hits=1, misses=2)


def test_actor_id_affects_the_cache_only_through_the_colour(renderer: JinjaRenderer) -> None:
    same = [f"bo{number}" for number in range(100) if colour(f"bo{number}") == colour("bo")]
    for actor in (Actor("bo", "Bo"), Actor(same[0], "Bo")):
        event = replace(an_event(), actor=actor)
        renderer.render(compose([event], max_blocks=1), a_subscriber(), LINKS, DAILY)
    assert renderer.take_count() == CacheCount(hits=1, misses=1)


def test_cached_data_stays_within_the_counted_memory(
    renderer: JinjaRenderer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fragments, "CACHED_BYTES", 4_000_000)
    email(renderer)
    tracemalloc.start()
    try:
        for number in range(500):
            data = {f"name{each}": [number, {"a": 1.5}] for each in range(60)}
            event = replace(an_event(f"e{number}"), data=as_json(data))
            renderer.render(compose([event], max_blocks=1), a_subscriber(), LINKS, DAILY)
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 1.5 * fragments.CACHED_BYTES


@pytest.mark.parametrize("name", TEXTS)
def test_each_shown_text_and_its_cleaned_copy_are_counted(
    name: str, renderer: JinjaRenderer
) -> None:
    def size(text: str) -> int:
        before = renderer._fragments._bytes
        given: dict[str, Any] = {name: text, "actor": None}
        event = replace(an_event(), **given)
        renderer.render(compose([event], max_blocks=1), a_subscriber(), LINKS, DAILY)
        return renderer._fragments._bytes - before

    short, long = (f'{{"a":"\u202e{"x" * length}"}}' for length in (1, 150))
    assert size(long) - size(short) > getsizeof(long) - getsizeof(short) + 100


def test_fragment_cache_size_is_bounded(
    renderer: JinjaRenderer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fragments, "CACHED_BYTES", 8_000)
    email(renderer)
    email(renderer, excerpt="Hello")
    email(renderer)
    assert renderer.take_count() == CacheCount(hits=0, misses=15)


def test_least_recently_used_fragment_is_evicted_first(
    renderer: JinjaRenderer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fragments, "CACHED_BYTES", 50_000)
    for number in range(20):
        email(renderer, excerpt=f"{number}")
        email(renderer, excerpt="Hello")
    assert renderer.take_count() == CacheCount(hits=95, misses=105)


def test_longest_groups_stay_within_the_memory_limit(renderer: JinjaRenderer) -> None:
    """Four bytes a character, where one of them is beyond the basic plane."""
    tracemalloc.start()
    try:
        for number in range(600):
            event = replace(
                an_event(f"e{number}", excerpt="'" * 299 + "\N{GRINNING FACE}"),
                entity=Entity("post", f"{number}", "&" * 200, "https://e.com/" + "&" * 1900),
            )
            renderer.render(compose([event], max_blocks=1), a_subscriber(), LINKS, DAILY)
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 1.5 * fragments.CACHED_BYTES
