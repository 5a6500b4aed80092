"""Where clicks are tracked, SES leaves the reader's own links as they are."""

from contextlib import nullcontext
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any

import lxml.html
import pytest
from gazette.adapters.rendering.renderer import LONGEST_HTML, JinjaRenderer, without_tracking
from gazette.domain.delivery.compose import compose
from gazette.domain.model import DAILY, Entity
from gazette.domain.ports.rendering import Links
from gazette.domain.scheduling.kinds import immediate_schedule
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import LINKS, a_subscriber, an_event

OWN = Links(
    unsubscribe="https://x.example/unsubscribe/a.b",
    preferences="https://x.example/preferences/a.b?x=1&y=2",
    email="https://x.example/email/a.b",
    updates="https://x.example/updates/a.b",
)
SCHEDULES = [DAILY, immediate_schedule("post#p1")]
MARK = " ses:no-track"


def rendered(renderer: JinjaRenderer, schedule: str, *, groups: int = 30) -> str:
    events = [an_event(f"{number}", entity_id=f"p{number}") for number in range(groups)]
    digest = compose(events, max_blocks=20)
    return renderer.render(digest, a_subscriber(), LINKS, schedule).html


def links(html: str) -> list[Any]:
    return list(lxml.html.document_fromstring(html).iter("a"))


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_only_the_readers_own_links_are_excluded_from_tracking(
    built_templates: Path, schedule: str
) -> None:
    html = rendered(
        JinjaRenderer(built_templates).for_sending(tracks_clicks=True, measured=nullcontext),
        schedule,
    )
    own = [link for link in links(html) if link.get("href").partition("#")[0] in astuple(LINKS)]
    marked = [link for link in links(html) if "ses:no-track" in link.attrib]
    assert [link.get("href") for link in marked] == [link.get("href") for link in own]
    assert LINKS.unsubscribe in {link.get("href") for link in marked}
    assert len(marked) < len(links(html))


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_tracking_mark_is_the_only_html_difference(built_templates: Path, schedule: str) -> None:
    plain = rendered(JinjaRenderer(built_templates), schedule)
    tracked = rendered(
        JinjaRenderer(built_templates).for_sending(tracks_clicks=True, measured=nullcontext),
        schedule,
    )
    assert MARK not in plain
    assert plain != tracked
    assert tracked.replace(MARK, "") == plain


def test_tracked_and_untracked_emails_share_the_cache_count(built_templates: Path) -> None:
    renderer = JinjaRenderer(built_templates)
    rendered(renderer.for_sending(tracks_clicks=True, measured=nullcontext), DAILY)
    rendered(renderer, DAILY)
    count = renderer.take_count()
    assert (count.misses, count.hits) == (20, 20)


def test_tracking_marks_count_toward_the_html_size_limit(built_templates: Path) -> None:
    long = Entity("post", "p", "x" * 180, "https://example.com/" + "y" * 1500)
    events = [
        replace(an_event(f"{number}", entity_id=f"p{number}"), entity=replace(long, id=f"{number}"))
        for number in range(300)
    ]
    digest = compose(events, max_blocks=300)
    renderer = JinjaRenderer(built_templates).for_sending(tracks_clicks=True, measured=nullcontext)
    html = renderer.render(digest, a_subscriber(), LINKS, DAILY).html
    assert 80_000 < len(html.encode()) <= LONGEST_HTML


@pytest.mark.parametrize(
    "attributes",
    [
        'href="{}"',
        "href='{}'",
        'HREF = "{}"',
        'class="a>b" href="{}#often"',
        'title="it\'s" href="{}?x=1" style="color: red"',
        'class="quiet"\n   href="{}"',
    ],
)
@pytest.mark.parametrize("link", astuple(OWN)[:4])
def test_template_may_write_links_in_any_html_form(attributes: str, link: str) -> None:
    given = attributes.format(link.replace("&", "&amp;"))
    html = f"<p><a {given}>here</a></p>"
    assert without_tracking(html, OWN) == f"<p><a{MARK} {given}>here</a></p>"


@pytest.mark.parametrize(
    "html",
    [
        '<a href="https://example.com/p">x</a>',
        f'<a href="{OWN.email}2">x</a>',
        f'<a href="https://example.com/?to={OWN.email}">x</a>',
        f'<a href="https://example.com/p">{OWN.email}</a>',
        f'<a title="href={OWN.email}" href="https://example.com">x</a>',
        f'<abbr href="{OWN.email}">x</abbr>',
        f'<a href="https://example.com"><img src="{OWN.email}"></a>',
    ],
)
def test_link_resembling_an_own_link_is_unchanged(html: str) -> None:
    assert without_tracking(html, OWN) == html


@given(st.text("<a> hrefx='\"=/#?" + OWN.email[:9], max_size=60))
def test_marking_changes_no_html_except_for_the_mark(html: str) -> None:
    assert without_tracking(html, OWN).replace("<a ses:no-track", "<a") == html
