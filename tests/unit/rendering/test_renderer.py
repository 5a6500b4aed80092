"""An email: the same text in both parts, escaped, in the reader's time zone."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import lxml.html
import pytest
from gazette.adapters.rendering.environment import environment
from gazette.adapters.rendering.pages import JinjaPages
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.adapters.rendering.sheets import Sheets
from gazette.domain.delivery.compose import Digest, compose
from gazette.domain.errors import RenderingFailed
from gazette.domain.links import EVERYTHING
from gazette.domain.model import DAILY, Actor, Edition, Entity, Event
from gazette.domain.scheduling.kinds import immediate_schedule
from gazette.domain.subscribers.leaving import LeaveAct, Leaving
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jinja2 import UndefinedError

from tests.builders import LINKS, NOW, a_subscriber, an_event

LINES = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1, max_size=30)


def edition(
    renderer: JinjaRenderer,
    *events: Event,
    cap: int = 20,
    zone: str = "UTC",
    schedule: str = DAILY,
) -> Edition:
    """The email of `events` for Ann."""
    subscriber = replace(a_subscriber(), time_zone=zone)
    return renderer.render(compose(events, max_blocks=cap), subscriber, LINKS, schedule)


def parsed(page: str) -> Any:
    """The root element of an HTML page."""
    return lxml.html.document_fromstring(page)


def words(html: str) -> str:
    """What an HTML page says, without its layout."""
    page = parsed(html)
    return " ".join(page.body.text_content().split())


def several(counts: list[int]) -> list[Event]:
    """One group for each of `counts`, with so many events of so many actors."""
    return [
        an_event(f"{group}.{number}", entity_id=f"post{group}", actor=f"Actor{number}")
        for group, count in enumerate(counts)
        for number in range(count)
    ]


def test_subject_names_the_first_group(renderer: JinjaRenderer) -> None:
    assert edition(renderer, an_event()).subject == "Bo commented on “Title of post1”"


def test_subject_counts_groups_not_named(renderer: JinjaRenderer) -> None:
    events = several([3, 1, 1])
    assert edition(renderer, *events).subject == ("3 new comments on “Title of post0” + 2 more")
    assert edition(renderer, *events[:4], cap=1).subject.endswith(" + 1 more")


@given(LINES)
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_subject_is_a_single_line_for_any_actor_name(renderer: JinjaRenderer, name: str) -> None:
    subject = edition(renderer, replace(an_event(), actor=Actor("bo", name))).subject
    assert subject.endswith(" commented on “Title of post1”")
    assert len(subject.splitlines()) == 1


def test_subject_is_plain_text_not_html(renderer: JinjaRenderer) -> None:
    event = replace(an_event(), actor=Actor("bo", "Bo & <Co>"))
    assert edition(renderer, event).subject == "“Bo & <Co>” commented on “Title of post1”"


@pytest.mark.parametrize(
    ("actors", "line"),
    [
        (1, "Actor0 commented"),
        (2, "2 new comments from Actor1 and Actor0"),
        (3, "3 new comments from Actor2, Actor1 and Actor0"),
        (4, "4 new comments from Actor3, Actor2 and 2 others"),
        (30, "30 new comments from Actor9, Actor8 and 28 others"),
    ],
)
def test_group_names_some_people_and_counts_the_rest(
    renderer: JinjaRenderer, actors: int, line: str
) -> None:
    made = edition(renderer, *several([actors]), an_event(category="like", actor="Cy"))
    assert f"\n{line}: “Title of post0”\n" in made.text
    assert f"{line}: Title of post0" in words(made.html)


def test_actor_of_many_events_is_named_once(renderer: JinjaRenderer) -> None:
    made = edition(renderer, an_event("a"), an_event("b"))
    assert "\n2 new comments from Bo: “Title of post1”\n" in made.text


def test_category_without_translation_is_shown_by_name(renderer: JinjaRenderer) -> None:
    made = edition(renderer, an_event(category="build_failed"))
    assert made.subject == "Build failed by Bo: “Title of post1”"


HOSTILE = "<script>alert(1)</script><img src=x onerror=x>\"'&amp;{{ 7*7 }}{% x %}</td><!--"


def skeleton(made: Edition) -> list[tuple[str, list[str]]]:
    """The elements and attribute names of the HTML part."""
    page = parsed(made.html)
    return [(str(element.tag), sorted(map(str, element.keys()))) for element in page.iter()]


@pytest.mark.parametrize("field", ["title", "excerpt", "reader", "actor"])
def test_input_never_becomes_markup(renderer: JinjaRenderer, field: str) -> None:
    def made(text: str) -> Edition:
        given = {"title": "Title", "excerpt": "Hello", "reader": "Ann", "actor": "Bo"}
        given[field] = text
        entity = Entity("post", "1", given["title"], "https://example.com/")
        actor = Actor("bo", given["actor"])
        event = replace(an_event(), entity=entity, actor=actor, excerpt=given["excerpt"])
        events = [event, replace(event, id="other")]
        subscriber = replace(a_subscriber(), name=given["reader"])
        return renderer.render(compose(events, max_blocks=1), subscriber, LINKS, DAILY)

    assert HOSTILE in made(HOSTILE).text
    assert HOSTILE in words(made(HOSTILE).html)
    assert skeleton(made(HOSTILE)) == skeleton(made("harmless"))


def test_input_is_displayed_verbatim(renderer: JinjaRenderer) -> None:
    title = "<b>Ärger</b> & {{ 7*7 }} \"x\" 'y'"
    entity = Entity("post", "1", title, "https://example.com/?a=1&b='2'&copy=3")
    made = edition(renderer, *[replace(an_event(each), entity=entity) for each in "ab"])
    assert title in words(made.html)
    assert title in made.text
    (link,) = parsed(made.html).xpath("//a[@class='title']")
    assert link.get("href") == entity.url
    assert f"  {entity.url}\n" in made.text


@pytest.mark.parametrize(
    ("counts", "cap", "more"),
    [
        ([3, 2, 1], 2, "And 1 more update"),
        ([4, 3, 2, 1], 2, "And 3 more updates"),
        ([1] * 30, 20, "And 10 more updates"),
    ],
)
def test_omitted_groups_are_counted_exactly(
    renderer: JinjaRenderer, counts: list[int], cap: int, more: str
) -> None:
    made = edition(renderer, *several(counts), cap=cap)
    assert f"\n{more}.\n" in made.text
    page = parsed(made.html)
    assert [
        " ".join(cell.text_content().split()) for cell in page.xpath("//td[@class='more']")
    ] == [f"{more}. See all {sum(counts)}"]
    assert page.xpath("//td[@class='more']/a/@href") == [LINKS.updates]
    assert f"See all {sum(counts)}: {LINKS.updates}\n" in made.text


def test_more_updates_line_is_omitted_if_all_updates_are_shown(renderer: JinjaRenderer) -> None:
    made = edition(renderer, *several([3, 2]), cap=2)
    assert "more update" not in made.text + made.html


@given(st.lists(st.integers(1, 6), min_size=2, max_size=8), st.integers(1, 8))
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_text_and_html_show_the_same_groups_and_counts(
    renderer: JinjaRenderer, counts: list[int], cap: int
) -> None:
    events = several(counts)
    digest = compose(events, max_blocks=cap)
    made = edition(renderer, *events, cap=cap)
    page = parsed(made.html)
    links = [(link.get("href"), link.text_content()) for link in page.xpath("//a[@class='title']")]
    assert links == [
        (group.latest.entity.url, group.latest.entity.title) for group in digest.groups
    ]
    leads = page.xpath("//h2[@class='heading']/text()")
    assert len(leads) == 1
    said = [" ".join(each.split()) for each in leads + page.xpath("//p[@class='row']/text()")]
    lines = [each.removesuffix(":") for each in said]
    texts = [f"\n{lines[0]}: “{links[0][1]}”\n"]
    texts += [
        f'\n"{title}"\n  {line}\n' for (_, title), line in zip(links[1:], lines[1:], strict=True)
    ]
    for (url, _), line, text, group in zip(links, lines, texts, digest.groups, strict=True):
        assert line.startswith(f"{group.count} new comments" if group.count > 1 else "Actor0")
        assert text in made.text
        assert f"  {url}\n" in made.text
    assert made.text.count("https://example.com/post") == len(links)
    total = f"{len(events)} comments"
    assert f"\n{total}\n" in made.text
    assert page.xpath("string(//h1)") == total


@pytest.mark.parametrize(
    ("zone", "shown"),
    [
        ("UTC", "1 March, 00:30"),
        ("America/New_York", "28 February, 19:30"),
        ("Asia/Kathmandu", "1 March, 06:15"),
        ("Pacific/Kiritimati", "1 March, 14:30"),
    ],
)
def test_times_use_the_readers_time_zone(renderer: JinjaRenderer, zone: str, shown: str) -> None:
    event = an_event(occurred_at=datetime(2026, 3, 1, 0, 30, tzinfo=UTC))
    made = edition(renderer, event, zone=zone)
    assert f"  {shown}\n" in made.text
    assert shown in words(made.html)


def test_excerpt_is_a_single_line_and_omitted_if_empty(
    renderer: JinjaRenderer,
) -> None:
    made = edition(renderer, an_event(excerpt="first\nsecond"))
    assert '\n  "first second"\n' in made.text
    assert "first\nsecond" in made.html
    several = edition(renderer, an_event("a", actor="Cy"), an_event("b", excerpt="Yes"))
    assert '\n  Bo: "Yes"\n' in several.text
    assert "Bo: Yes" in words(several.html)
    without = edition(renderer, an_event())
    assert '"' not in without.text
    assert not parsed(without.html).xpath("//p[@class='excerpt']")


def test_both_parts_contain_the_unsubscribe_link(renderer: JinjaRenderer) -> None:
    made = edition(renderer, an_event())
    page = parsed(made.html)
    (link,) = page.xpath("//a[.='Unsubscribe']")
    assert link.get("href") == LINKS.unsubscribe
    assert f"\nChange what or when, or unsubscribe: {LINKS.unsubscribe}\n" in made.text


def test_full_digest_stays_below_the_gmail_clipping_limit(renderer: JinjaRenderer) -> None:
    """90 KB with every field as long as the contract allows."""
    events = [
        Event(
            user_id="ann",
            id=f"{group}.{number}",
            category="comment",
            entity=Entity("post", str(group), "T" * 200, "https://example.com/" + "u" * 980),
            actor=Actor(f"a{number}", "N" * 200),
            occurred_at=NOW,
            excerpt="e" * 500,
        )
        for group in range(21)
        for number in range(3)
    ]
    assert len(edition(renderer, *events).html.encode()) < 90_000


def test_rendering_is_deterministic(built_templates: Path) -> None:
    events = several([3, 2])
    one, other = (
        edition(JinjaRenderer(built_templates), *order) for order in (events, events[::-1])
    )
    assert one == other


def test_html_has_a_language_and_presentational_tables_only(renderer: JinjaRenderer) -> None:
    page = parsed(edition(renderer, an_event()).html)
    assert page.get("lang") == "en"
    assert page.xpath("//title")[0].text == "1 update from Gazette"
    assert {table.get("role") for table in page.xpath("//table")} == {"presentation"}


@pytest.mark.parametrize(
    ("schedule", "why"),
    [
        ("daily", "You get this at 08:00 on days when something happened to you"),
        ("weekly", "You get this every Monday at 08:00, if something happened to you"),
        ("custom", "You get this on the days you chose at 08:00, if something happened to you"),
        (
            immediate_schedule("post#post1"),
            "You get this right away because your settings say so for comments.",
        ),
    ],
)
def test_email_states_the_chosen_frequency(
    renderer: JinjaRenderer, schedule: str, why: str
) -> None:
    mail = edition(renderer, an_event(), schedule=schedule)
    assert " ".join(mail.text.split()).count(why) == words(mail.html).count(why) == 1


def test_digest_without_groups_is_rejected(renderer: JinjaRenderer) -> None:
    with pytest.raises(RenderingFailed, match="UndefinedError"):
        renderer.render(Digest((), 0, 0, 0), a_subscriber(), LINKS, DAILY)


def test_undefined_template_name_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "typo.txt").write_text("Hello {{ subscriber.nmae }}")
    template = environment(tmp_path).get_template("typo.txt")
    with pytest.raises(UndefinedError, match="nmae"):
        template.render(subscriber=a_subscriber())


def test_unsubscribe_page_requires_a_post_button(built_templates: Path) -> None:
    pages = JinjaPages(Sheets(built_templates))
    nobody = Leaving(scope=EVERYTHING, reader=None)
    page = parsed(pages.confirm_leaving("", nobody, settings=""))
    assert [form.get("method").lower() for form in page.xpath("//form")] == ["post"]
    left = replace(nobody, act=LeaveAct.EVERYTHING)
    assert not parsed(pages.left("", left, undo="", settings="")).xpath("//form")


@pytest.mark.parametrize(
    ("locale", "line"),
    [
        ("en", "User 3 and 3 others started following you"),
        ("de", "User 3 und noch 3 Personen folgen dir jetzt"),
    ],
)
def test_german_others_phrase_uses_the_correct_case(
    renderer: JinjaRenderer, locale: str, line: str
) -> None:
    """German: `folgen` has a nominative, `von` a dative. `noch 3 Personen` is the same in both."""
    events = [
        replace(
            an_event(f"e{number}", category="follow", entity_id="ann"),
            actor=Actor(f"{number}", f"User {number}"),
            occurred_at=NOW + timedelta(minutes=number),
        )
        for number in range(4)
    ]
    reader = replace(a_subscriber(), locale=locale)
    made = renderer.render(compose(events, max_blocks=1), reader, LINKS, DAILY)
    assert made.subject == line


def test_reader_without_a_visible_name_is_greeted_without_a_name(renderer: JinjaRenderer) -> None:
    nameless = replace(a_subscriber(), name="\u200b")
    made = renderer.render(compose([an_event()], max_blocks=1), nameless, LINKS, DAILY)
    named = edition(renderer, an_event())
    for each, greeting in ((made, "Hi"), (named, "Hi Ann")):
        assert each.text.startswith(f"{greeting}\n\nBo commented on “Title of post1”\n")
        assert parsed(each.html).xpath("string(//p[@class='hello'])") == greeting


def test_greeting_has_the_date_on_which_the_email_is_due(renderer: JinjaRenderer) -> None:
    digest = compose([an_event()], max_blocks=1)
    made = renderer.render(digest, a_subscriber(), LINKS, DAILY, due_at=NOW)
    greeting = "Hi Ann · Sunday, 22 November"
    assert made.text.startswith(f"{greeting}\n")
    assert parsed(made.html).xpath("string(//p[@class='hello'])") == greeting


@pytest.mark.parametrize(
    ("category", "via", "why"),
    [
        ("mention", (), "email because Bo mentioned you on Gazette."),
        ("comment", (), "right away because your settings say so for comments."),
        ("comment", ("post#post1",), "because you follow “Title of post1” on Gazette."),
        ("mention", ("post#post1",), "because you follow “Title of post1” on Gazette."),
        ("comment", ("blog#b1",), "because of what you follow on Gazette."),
        ("comment", ("post#post1", "blog#b1"), "because of what you follow on Gazette."),
    ],
)
def test_immediate_email_gives_the_correct_reason(
    renderer: JinjaRenderer, category: str, via: tuple[str, ...], why: str
) -> None:
    """It never says that the reader follows what only may be followed."""
    event = replace(an_event(category=category), via=via)
    made = edition(renderer, event, schedule=immediate_schedule("post#post1"))
    assert " ".join(made.text.split()).count(why) == words(made.html).count(why) == 1
