"""Inlining the template once gives what inlining every email would give."""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import lxml.html
import pytest
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.domain.delivery.compose import compose
from gazette.domain.model import DAILY, Event
from gazette.domain.scheduling.kinds import immediate_schedule
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from premailer import Premailer

from gazette_cdk.assets.templates.build import build_templates
from gazette_cdk.assets.templates.faults import TemplateError
from gazette_cdk.assets.templates.inline import inline
from tests import builders
from tests.builders import a_subscriber, an_event

LINK = '<link rel="stylesheet" href="email.css">'
SOURCE = Path(__file__).parents[3] / "templates"
JINJA = re.compile(r"\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}", re.DOTALL)
LINKS = replace(
    builders.LINKS, unsubscribe="https://mail.example.com/unsubscribe/k1.YW5u.abc_-d?a=1&b=2"
)


def page(css: str, body: str) -> str:
    """A small email."""
    return f"<!DOCTYPE html>\n<html><head><style>{css}</style></head><body>{body}</body></html>"


def inlined_late(html: str) -> str:
    """What premailer makes of a rendered email, with the options of `inline`."""
    return str(
        Premailer(
            html,
            allow_network=False,
            cssutils_logging_level="CRITICAL",
            disable_validation=True,
            keep_style_tags=False,
            remove_classes=False,
            remove_unset_properties=False,
            strip_important=False,
            disable_leftover_css=False,
        ).transform()
    )


def tree(html: str) -> list[tuple[Any, ...]]:
    """What a mail program reads: elements in order, with depth, attributes and texts."""
    return list(_walk(lxml.html.document_fromstring(html), 0))


def _walk(element: Any, depth: int) -> Iterator[tuple[Any, ...]]:
    attributes = dict(element.attrib)
    if "style" in attributes:
        attributes["style"] = _declarations(attributes["style"])
    texts = ("".join((element.text or "").split()), "".join((element.tail or "").split()))
    yield (depth, str(element.tag), attributes, *texts)
    for child in element:
        yield from _walk(child, depth + 1)


def _declarations(style: str) -> list[tuple[str, str]]:
    pairs = (declaration.partition(":") for declaration in style.split(";") if declaration.strip())
    return [(name.strip(), " ".join(value.split())) for name, _, value in pairs]


def digest_events(groups: list[tuple[int, int, str]]) -> list[Event]:
    """For each (events, actors, excerpt) one group."""
    return [
        an_event(
            f"{group}.{number}",
            entity_id=f"post{group}",
            actor=f"Actor{number % actors}",
            excerpt=excerpt,
        )
        for group, (count, actors, excerpt) in enumerate(groups)
        for number in range(count)
    ]


renderer = cache(JinjaRenderer)
"""One for each folder: it compiles what it renders."""


@pytest.fixture(scope="session")
def not_inlined(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The templates with their style sheet still in one piece."""
    target = tmp_path_factory.mktemp("not") / "inlined"
    build_templates(SOURCE, target, inlined=False)
    return target


@pytest.mark.parametrize("schedule", [DAILY, immediate_schedule("post#p1")])
@given(
    st.lists(
        st.tuples(
            st.integers(1, 5),
            st.integers(1, 5),
            st.sampled_from(["", "Hello", "a < b & c", "two\nlines", "<b>\"x\"</b> 'y'"]),
        ),
        min_size=1,
        max_size=5,
    ),
    st.integers(1, 5),
)
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_css_inlining_before_or_after_rendering_is_equivalent(
    built_templates: Path,
    not_inlined: Path,
    schedule: str,
    groups: list[tuple[int, int, str]],
    cap: int,
) -> None:
    digest = compose(digest_events(groups), max_blocks=cap)
    subscriber = replace(a_subscriber(), name="Zoë <O'Neill>")
    early, late = (
        renderer(folder).render(digest, subscriber, LINKS, schedule)
        for folder in (built_templates, not_inlined)
    )
    assert tree(early.html) == tree(inlined_late(late.html))
    assert (early.text, early.subject) == (late.text, late.subject)


def test_css_inlining_comparison_detects_differences(built_templates: Path) -> None:
    digest = compose([an_event()], max_blocks=1)
    html = JinjaRenderer(built_templates).render(digest, a_subscriber(), LINKS, DAILY).html
    for there, other in (("#ffffff", "#fffffe"), ("Gazette", "Gazelle"), ("<h1", "<h2")):
        assert tree(html.replace(there, other)) != tree(html)


def test_inlining_restores_every_jinja_tag() -> None:
    css = (SOURCE / "email.css").read_text()
    template = (SOURCE / "parts" / "layout.html").read_text().replace(LINK, f"<style>{css}</style>")
    built = inline(template, name="parts/layout.html")
    masthead = built.index("masthead", built.index("<body"))
    assert "{{ brand.accent }}" in built[masthead : built.index(">", masthead)]
    structure = [tag for tag in JINJA.findall(template) if tag.startswith("{%")]
    assert [tag for tag in JINJA.findall(built) if tag.startswith("{%")] == structure
    assert set(JINJA.findall(built)) == set(JINJA.findall(template)) - {"{{ language.start }}"}
    assert not re.search(r"jinja\d+mask", built)


def test_email_keeps_only_css_that_cannot_be_inlined(built_templates: Path) -> None:
    built = (built_templates / "parts" / "layout.html").read_text()
    for_all = re.sub(r"<!--.*?-->", "", built, flags=re.DOTALL)
    style, outlook = re.findall(r"<style[^>]*>(.*?)</style>", for_all, re.DOTALL)
    style = JINJA.sub("x", style)
    assert outlook.strip() == (SOURCE / "outlook.css").read_text().strip()
    assert re.sub(r"@media[^{]+\{(?:[^{}]+\{[^{}]*\})*\s*\}", "", style).strip() == ""
    assert style.count("@media") == 2
    for part in ("digest/body.html", "digest/block.html", "immediate/block.html"):
        assert "<style" not in (built_templates / part).read_text()


@pytest.mark.parametrize(
    ("css", "body", "inside"),
    [
        (
            ".a { color: red }",
            '{% if x < y %}<p class="a">{{ x }}</p>{% endif %}',
            "{% if x < y %}",
        ),
        (".a { color: red }", '<a class="a" href="{{ link }}">x</a>', 'href="{{ link }}"'),
        (".a { color: {{ c }} }", '<p class="a">x</p>', 'style="color:{{ c }}"'),
        (
            "",
            "<table>{% for x in y %}<tr><td>x</td></tr>{% endfor %}</table>",
            "<table>{% for x in y %}<tr>",
        ),
        ("", "{# a > b #}<p>{{ '<' }}</p>", "{# a > b #}"),
        ("", "<p>" + "{{ x }}" * 12 + "</p>", "<p>" + "{{ x }}" * 12 + "</p>"),
    ],
)
def test_jinja_tags_are_allowed_anywhere_in_text_and_css(css: str, body: str, inside: str) -> None:
    built = inline(page(css, body), name="x")
    assert inside in built.replace("\n", "")


@pytest.mark.parametrize(
    "selector",
    [
        ".a:first-child",
        "tr:last-child td",
        ".a:nth-child(2n)",
        ".a:nth-of-type(1)",
        "p:only-child",
        ".a + .b",
        ".a ~ .b",
        ".a+.b",
        ".a~.b",
        "@media print { .a+.b { color: blue } } .a",
    ],
)
def test_css_sibling_selectors_are_rejected(selector: str) -> None:
    with pytest.raises(TemplateError, match=r"^digest/body.html:2: the selector .+ Use a c"):
        inline(page(f"{selector} {{ color: red }}", "<p>x</p>"), name="digest/body.html")


@pytest.mark.parametrize(
    "attribute",
    [
        'class="{{ kind }}"',
        "class='{{ kind }}'",
        'class="a {% if x %}b{% endif %}"',
        'id="{{ kind }}"',
        'CLASS = "{{ kind }}"',
    ],
)
def test_computed_class_is_rejected(attribute: str) -> None:
    with pytest.raises(TemplateError, match=r"^digest/body.html:\d: .+ is computed"):
        inline(page(".a { color: red }", f"<p {attribute}>x</p>"), name="digest/body.html")


@pytest.mark.parametrize(
    "element",
    [
        "<p class={{ kind }}>x</p>",
        '<p {% if x %}class="a"{% endif %}>x</p>',
        '<p{% if x %} title="t"{% endif %}>x</p>',
    ],
)
def test_jinja_tag_among_element_attributes_is_rejected(element: str) -> None:
    with pytest.raises(TemplateError, match=r"^digest/body.html:\d: .+ among the attributes of <p"):
        inline(page(".a { color: red }", element), name="digest/body.html")


def test_computed_class_with_quotes_is_rejected() -> None:
    element = """<p class="{{ 'a' if x else "b" }}">x</p>"""
    with pytest.raises(TemplateError, match="is computed"):
        inline(page(".a { color: red }", element), name="digest/body.html")
