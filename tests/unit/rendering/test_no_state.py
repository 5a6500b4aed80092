"""Nothing of one rendering is left for the next: every reader's email is what a new process makes.

Each template is rendered for Ann and then for Bob, who follows only some of what Ann does.
"""

import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from gazette.adapters.rendering.environment import Press, environment
from gazette.adapters.rendering.pages import JinjaPages
from gazette.adapters.rendering.preference_page import PreferencePages
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.adapters.rendering.sheets import Sheets
from gazette.adapters.templates.sandbox import SandboxedTemplates
from gazette.domain.delivery.arrangement import Arrangement, Sections
from gazette.domain.delivery.compose import compose
from gazette.domain.errors import RenderingFailed
from gazette.domain.links import EVERYTHING, NEW_LINK
from gazette.domain.model import DAILY, Edition, Event, Importance
from gazette.domain.ports.rendering import Links
from gazette.domain.scheduling.kinds import critical_schedule, immediate_schedule
from gazette.domain.subscribers.leaving import Leaving
from gazette.domain.subscribers.overview import Overview
from jinja2 import Environment

from tests.builders import NOW, a_subscriber, an_event, an_update_list

SHARED = """
{% set memory = namespace(seen='', told='') %}
{% set wheel = cycler('one', 'two', 'three', 'four', 'five') %}
{% set glue = joiner('glued') %}
{% set heap = [] %}
{% set table = {} %}
{% macro remember(x) %}{{ memory.told }}{% set memory.told = memory.told ~ x %}{% endmacro %}
{% macro turn() %}{{ wheel.next() }}{% endmacro %}
{{ wheel.next() }}
"""

PUSHED = {
    "a namespace": "{% import 'parts/shared.txt' as s %}{% set m = s.memory %}{{ m.seen }}"
    "{% set m.seen = m.seen ~ WORDS %}",
    "a namespace by name": "{% from 'parts/shared.txt' import memory as m %}{{ m.seen }}"
    "{% set m.seen = m.seen ~ WORDS %}",
    "a cycler": "{% import 'parts/shared.txt' as s %}{{ s.wheel.next() }}",
    "a cycler's place": "{% import 'parts/shared.txt' as s %}{{ s.wheel.current }}"
    "{% set _ = s.wheel.next() %}",
    "a joiner": "{% from 'parts/shared.txt' import glue %}{{ glue() }}{{ glue() }}",
    "what a macro holds": "{% import 'parts/shared.txt' as s %}{{ s.remember(WORDS) }}",
    "a macro by name": "{% from 'parts/shared.txt' import turn %}{{ turn() }}",
    "a cycler with the context": "{% import 'parts/shared.txt' as s with context %}{{ s.turn() }}",
    "an import of an import": "{% import 'parts/between.txt' as b %}{{ b.remember(WORDS) }}"
    "{{ b.turned }}",
    "an included file": "{% include 'parts/shared.txt' %}{% include 'parts/between.txt' %}",
    "an included file without the context": "{% include 'parts/shared.txt' without context %}"
    "{% include 'parts/between.txt' without context %}",
    "what was set": "{{ mine|default('') }}{% set mine = WORDS %}",
    "a loop": "{% import 'parts/shared.txt' as s %}{% for each in 'ab' %}"
    "{% if loop.changed(each) %}{{ s.wheel.next() }}{% endif %}{% endfor %}",
    "other values": "{{ block|default('') }}{{ line|default('') }}{{ button|default('') }}"
    "{{ leave|default('') }}{{ people|default('') }}{{ thing|default('') }}"
    "{{ section|default('') }}{{ group|default('') }}{{ is_this|default('') }}",
    "what is escaped": "{% autoescape false %}{{ WORDS }}{% endautoescape %}{{ WORDS }}",
}
"""`WORDS` stands for what is the reader's own, as far as a template has it."""

DEPLOYED = {
    "a list": "{% import 'parts/shared.txt' as s %}{{ s.heap }}{% set _ = s.heap.append(WORDS) %}",
    "a table": "{% import 'parts/shared.txt' as s %}{{ s.table }}"
    "{% set _ = s.table.update(x=WORDS) %}",
}
"""In the sandbox, lists are never changed."""

IN_EMAILS = {
    "digest/subject.txt": "links.unsubscribe",
    "digest/body.html": "links.unsubscribe",
    "digest/body.txt": "links.unsubscribe",
    "digest/block.html": "group.title",
    "digest/block.txt": "group.title",
    "immediate/subject.txt": "links.unsubscribe",
    "immediate/body.html": "links.unsubscribe",
    "immediate/body.txt": "links.unsubscribe",
    "immediate/block.html": "group.title",
    "immediate/block.txt": "group.title",
    "digest/section.html": "section",
    "categories/comment/line.txt": "group.title",
    "categories/comment/headline.txt": "group.title",
    "categories/comment/button.txt": "group.title",
    "categories/comment/name.txt": "brand.name",
    "parts/people.txt": "group.title",
    "parts/leave.html": "categories",
    "parts/leave.txt": "categories",
    "parts/why.txt": "links.unsubscribe",
    "parts/follows.txt": "links.unsubscribe",
    "parts/masthead.html": "links.unsubscribe",
    "new-link/body.html": "links.preferences",
    "variations/2/digest/body.html": "links.unsubscribe",
}
"""Each file that an email is made of, and what it has there of one reader."""


def links(user_id: str) -> Links:
    return Links(
        unsubscribe=f"https://example.com/a/{user_id}",
        preferences=f"https://example.com/b/{user_id}",
        email=f"https://example.com/c/{user_id}",
        updates=f"https://example.com/d/{user_id}",
    )


POSTS = {"ann": ("secret", "shared", "other", "late"), "bob": ("shared", "other")}
"""What each reader follows: Ann sees one post before, and one behind those that both see."""


def events(user_id: str) -> list[Event]:
    return [
        replace(
            an_event(
                f"{post}.{number}",
                user_id=user_id,
                entity_id=post,
                category="comment",
                actor=f"Bo of {post}" if number else "Bo",
                occurred_at=NOW - timedelta(hours=POSTS["ann"].index(post)),
                via=(f"post#{post}",) if number else (),
            ),
            importance=Importance.HIGH,
        )
        for post in POSTS[user_id]
        for number in range(3)
    ]


def emails(renderer: JinjaRenderer, user_id: str) -> list[Edition | str]:
    """One of each kind; in the place of one that cannot be made, why."""
    reader = replace(a_subscriber(user_id), name=user_id)
    all_of_them = events(user_id)
    about = [event for event in all_of_them if event.entity.id == "shared"]
    told = [replace(event, category=NEW_LINK) for event in about[:1]]
    sections = Arrangement(sections=Sections.CATEGORY)
    made: list[Edition | str] = []
    for shown, schedule, variation, arranged in (
        (all_of_them, DAILY, 1, Arrangement()),
        (all_of_them, DAILY, 2, Arrangement()),
        (all_of_them, DAILY, 1, sections),
        (about[:1], DAILY, 1, Arrangement()),
        (about, immediate_schedule("post#shared"), 1, Arrangement()),
        (about, critical_schedule("post#shared"), 1, Arrangement()),
        (told, immediate_schedule("post#shared"), 1, Arrangement()),
    ):
        digest = compose(shown, max_blocks=20, arrangement=arranged)
        try:
            made.append(
                renderer.render(
                    digest, reader, links(user_id), schedule, variation=variation, due_at=NOW
                )
            )
            made.append(str(renderer.said(digest, reader, variation=variation)))
        except RenderingFailed as err:
            made.append(str(err))
    return made


Written = Callable[[str, str], Path]


@pytest.fixture
def written(built_templates: Path, tmp_path: Path) -> Written:
    """Adds text to one of the built templates; returns the folder."""
    folder = tmp_path / "templates"
    shutil.copytree(built_templates, folder)
    (folder / "parts/shared.txt").write_text(SHARED)
    (folder / "parts/between.txt").write_text(
        "{% import 'parts/shared.txt' as s %}{% set turned %}{{ s.turn() }}{% endset %}"
        "{% macro remember(x) %}{{ s.remember(x) }}{% endmacro %}{{ turned }}"
    )
    (folder / "categories/comment").mkdir(exist_ok=True)
    (folder / "variations/2/digest").mkdir(parents=True)

    def write(name: str, text: str) -> Path:
        file = folder / name
        before = folder / name.removeprefix("variations/2/")
        said = before.read_text() if before.exists() else ""
        start, end, rest = said.partition("{% block") if "{% extends" in said else ("", "", said)
        inside, brace, rest = rest.partition("%}") if end else ("", "", rest)
        file.write_text(start + end + inside + brace + text + rest)
        return folder

    return write


@pytest.mark.parametrize("name", IN_EMAILS)
@pytest.mark.parametrize(
    ("kind", "tricks"),
    [(SandboxedTemplates, PUSHED), (None, {**PUSHED, **DEPLOYED})],
    ids=["pushed", "deployed"],
)
def test_email_contains_no_values_of_the_previous_reader(
    written: Written, kind: type[Environment] | None, tricks: dict[str, str], name: str
) -> None:
    folder = written(name, "".join(tricks.values()).replace("WORDS", IN_EMAILS[name]))
    shared = JinjaRenderer(folder, kind=kind)
    for_ann = emails(shared, "ann")
    assert any(isinstance(each, Edition) for each in for_ann), for_ann
    assert emails(shared, "bob") == emails(JinjaRenderer(folder, kind=kind), "bob")
    assert emails(shared, "ann") == for_ann


@pytest.mark.parametrize("name", ["categories/comment/line.txt", "parts/people.txt"])
def test_cached_block_contains_no_values_of_the_previous_block(written: Written, name: str) -> None:
    """The block before may be one that the next reader does not follow."""
    folder = written(name, PUSHED["other values"])
    shared = JinjaRenderer(folder)
    emails(shared, "ann")
    for_bob = emails(shared, "bob")
    assert "secret" not in str(for_bob)
    assert for_bob == emails(JinjaRenderer(folder), "bob")


def test_rendering_does_not_modify_event_data(written: Written) -> None:
    """Blocks are cached for all readers, with the data of their events."""
    folder = written("digest/body.txt", "")
    told = [replace(event, data='{"build": {"tags": ["a"]}}') for event in events("bob")]
    digest = compose(told, max_blocks=20)
    for changed in (
        "groups[0].shown.data.update(x=1)",
        "groups[0].shown.data.build.pop('tags')",
        "groups[0].shown.data.build.tags.append(links.unsubscribe)",
        "groups[0].shown.data.build.setdefault('x', 1)",
        "groups[0].shown.data.build.tags.clear()",
    ):
        (folder / "digest/body.txt").write_text(f"{{% set _ = {changed} %}}")
        shared = JinjaRenderer(folder)
        with pytest.raises(RenderingFailed, match="cannot be changed"):
            shared.render(digest, a_subscriber(), links("ann"), DAILY, due_at=NOW)


IN_PAGES = {
    "settings.html": "reader.email",
    "leave.html": "address",
    "left.html": "address",
    "updates.html": "digest.blocks|length",
}
"""Each page, and what it has of one reader."""


@pytest.mark.parametrize("name", IN_PAGES)
def test_page_contains_no_values_of_the_previous_reader(written: Written, name: str) -> None:
    tricks = "".join({**PUSHED, **DEPLOYED}.values())
    folder = written(f"preferences/{name}", tricks.replace("WORDS", IN_PAGES[name]))
    shared = Sheets(folder)
    pages(shared, folder, "ann")
    assert pages(shared, folder, "bob") == pages(Sheets(folder), folder, "bob")


def pages(sheets: Sheets, folder: Path, user_id: str) -> list[str]:
    reader = replace(a_subscriber(user_id), email=f"{user_id}@example.com")
    leaving = Leaving(scope=EVERYTHING, reader=reader)
    others = JinjaPages(sheets)
    digest = compose(events(user_id), max_blocks=20)
    overview = Overview(subscriber=reader, now=NOW, defaults=())
    listed = an_update_list(digest, [["said"]] * len(digest.blocks))
    return [
        PreferencePages(sheets, folder).page(overview),
        others.confirm_leaving("en", leaving, settings=links(user_id).preferences),
        others.left("en", leaving, undo=user_id, settings=links(user_id).preferences),
        others.updates(listed, reader),
    ]


def test_failed_rendering_leaves_no_state_behind(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        "{{ mine|default('') }}{% set mine = 'mine' %}"
        "{% autoescape false %}{{ fails() }}{% endautoescape %}{{ text }}"
    )
    press = Press(environment(tmp_path), {"text": "<b>", "fails": lambda: 1 / 0})
    template = press.environment.get_template("a.html")
    with pytest.raises(ZeroDivisionError):
        press.render(template)
    press.values["fails"] = str
    assert press.render(template) == "&lt;b&gt;"
