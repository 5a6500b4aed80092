"""A group that many readers share is made once; what differs for a reader is never shared."""

from dataclasses import replace
from pathlib import Path

import pytest
from gazette.adapters.rendering import fragments
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.domain.compose import compose
from gazette.domain.identity import immediate_schedule
from gazette.domain.model import DAILY, Edition
from gazette.domain.ports import CacheCount
from jinja2 import Template

from tests.builders import LINKS, a_subscriber, an_event


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
    digest = compose(events, max_groups=20)
    return renderer.render(digest, reader, LINKS, schedule, variation=variation)


def test_a_hundred_readers_of_the_same_posts_cost_five_groups(renderer: JinjaRenderer) -> None:
    made = {email(renderer, f"reader{number}").text for number in range(100)}
    assert len(made) == 100
    assert renderer.take_count() == CacheCount(found=495, made=5)
    assert renderer.take_count() == CacheCount(found=0, made=0)


def test_a_digest_of_known_groups_renders_three_templates_and_its_sentences(
    renderer: JinjaRenderer, monkeypatch: pytest.MonkeyPatch
) -> None:
    email(renderer)
    rendered: list[str] = []
    real = Template.render

    def counted(template: Template, *args: object, **kwargs: object) -> str:
        rendered.append(str(template.name))
        return real(template, *args, **kwargs)

    monkeypatch.setattr(Template, "render", counted)
    email(renderer, "bo")
    assert sorted(rendered) == [
        "digest/body.html",
        "digest/body.txt",
        "digest/subject.txt",
        *["parts/title.txt"],
        *["parts/updates.txt"] * 2,
        *["parts/why.txt"] * 2,
    ]


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
def test_what_reads_otherwise_is_made_anew(
    renderer: JinjaRenderer, other: dict[str, str | int]
) -> None:
    email(renderer)
    renderer.take_count()
    email(renderer, **other)  # type: ignore[arg-type] # one of them each
    assert renderer.take_count() == CacheCount(found=0, made=5)


def test_only_so_many_are_remembered(
    built_templates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fragments, "KEPT", 5)
    renderer = JinjaRenderer(built_templates)
    email(renderer)
    email(renderer, excerpt="Hello")
    email(renderer)
    assert renderer.take_count() == CacheCount(found=0, made=15)
