"""A digest in two parts: what is for the reader, and everything else."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import lxml.html
import pytest
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.adapters.web.links import SignedLinks, links_of_view
from gazette.domain.delivery.arrangement import Arrangement, Sections
from gazette.domain.delivery.compose import compose
from gazette.domain.links import LinkKeys
from gazette.domain.model import DAILY, Actor, Edition, Event, Image, Importance
from gazette.domain.ports.rendering import Links
from gazette.domain.scheduling.calendar import Days, DigestTimes
from gazette.domain.subscribers.subscriber import Subscriber

from gazette_cdk.assets.templates.build import build_templates
from tests.builders import NOW, a_link, a_subscriber, an_event
from tests.leaving import scope_of

SOURCE = Path(__file__).parents[3] / "templates"
KEYS = LinkKeys({"k1": b"1" * 32})
LINKS = SignedLinks(base_url="https://links.example.com", keys=lambda: KEYS).links(a_link())

MIXED = (
    an_event("l", category="like", entity_id="liked"),
    an_event("c", category="comment", entity_id="post", excerpt="How do you keep them?"),
    an_event("r", category="reply", entity_id="thread", excerpt="That is what I meant."),
    an_event("m", category="message", entity_id="chat", excerpt="Lunch?"),
)


def edition(
    renderer: JinjaRenderer,
    events: Sequence[Event],
    *,
    reader: Subscriber | None = None,
    schedule: str = DAILY,
    links: Links = LINKS,
    arrangement: Arrangement | None = None,
    is_first: bool = False,
) -> Edition:
    """Return the email of `events`, due on Sunday, 22 November."""
    digest = compose(events, max_blocks=20, arrangement=arrangement or Arrangement())
    reader = reader or a_subscriber()
    return renderer.render(digest, reader, links, schedule, due_at=NOW, is_first=is_first)


def root(made: Edition) -> Any:
    """Return the root element of the HTML."""
    return lxml.html.document_fromstring(made.html)


def texts(made: Edition, path: str) -> list[str]:
    """Return the texts of the elements at a path."""
    return [" ".join(each.text_content().split()) for each in root(made).xpath(path)]


def headings(made: Edition) -> list[str]:
    """Return the headings of parts and blocks."""
    return texts(made, "//h2")


def test_updates_for_the_reader_are_in_the_first_part(renderer: JinjaRenderer) -> None:
    made = edition(renderer, MIXED)
    assert headings(made) == [
        "For you",
        "New message from Bo: Title of chat",
        "Bo replied: Title of thread",
        "Also on Gazette",
        "Title of post",
        "Title of liked",
    ]
    order = ["— For you —", "Title of chat", "— Also on Gazette —", "Title of post"]
    places = [made.text.index(each) for each in order]
    assert places == sorted(places)


def test_headline_counts_updates_by_category(renderer: JinjaRenderer) -> None:
    made = edition(renderer, (*MIXED, an_event("l2", category="like", entity_id="x")))
    assert texts(made, "//h1") == ["1 message and 1 reply"]
    assert texts(made, "//p[@class='counts']") == ["and 1 comment and 2 likes"]
    assert "\n1 message and 1 reply\nand 1 comment and 2 likes\n" in made.text


def test_headline_without_updates_for_the_reader_counts_all(renderer: JinjaRenderer) -> None:
    made = edition(renderer, MIXED[:2])
    assert texts(made, "//h1") == ["1 comment and 1 like"]
    assert not texts(made, "//p[@class='counts']")


def test_headline_counts_unknown_and_further_categories_together(renderer: JinjaRenderer) -> None:
    names = ("comment", "article", "follow", "like", "build_failed", "order_shipped", "reply")
    made = edition(renderer, [an_event(name, category=name, entity_id=name) for name in names])
    assert texts(made, "//h1") == ["1 reply"]
    assert texts(made, "//p[@class='counts']") == [
        "and 1 comment, 1 article, 1 new follower, 1 like and 2 other updates"
    ]
    only = [an_event(name, category=name, entity_id=name) for name in names[4:6]]
    assert texts(edition(renderer, only), "//h1") == ["2 updates"]


def test_digest_of_one_part_has_no_headings_of_parts(renderer: JinjaRenderer) -> None:
    assert headings(edition(renderer, MIXED[:2])) == [
        "Bo commented: Title of post",
        "Title of liked",
    ]
    mine = edition(renderer, MIXED[2:])
    assert "For you" not in headings(mine)
    assert len(headings(mine)) == 2


def test_recommendations_share_one_heading(renderer: JinjaRenderer) -> None:
    picks = [
        an_event(
            name, category="recommendation", entity_id=name, excerpt="Worth reading", source="picks"
        )
        for name in ("a", "b")
    ]
    made = edition(renderer, [*MIXED, *picks])
    assert headings(made)[-3:] == ["Recommended for you", "Title of a", "Title of b"]
    assert made.html.count("Recommended for you") == made.text.count("Recommended for you") == 1
    alone = edition(renderer, picks)
    assert headings(alone)[0] == "Recommended for you"


def test_digest_with_one_recommendation_has_no_heading_of_a_part(renderer: JinjaRenderer) -> None:
    """Its headline says that it is recommended."""
    made = edition(renderer, [an_event("a", category="recommendation", source="picks")])
    assert texts(made, "//h1") == ["Recommended for you: Title of post1"]
    assert not headings(made)
    assert "— " not in made.text


def test_important_update_leads_and_is_marked(renderer: JinjaRenderer) -> None:
    important = replace(MIXED[0], importance=Importance.HIGH)
    made = edition(renderer, (important, *MIXED[1:]))
    assert headings(made)[:2] == ["For you", "Important Bo liked this: Title of liked"]
    assert made.html.count(">Important</span>") == made.text.count("Important: Bo liked") == 1
    assert "Important" not in edition(renderer, MIXED).html


@pytest.mark.parametrize(
    ("messages", "quoted", "more"), [(1, 1, []), (3, 3, []), (23, 3, ["20 more"])]
)
def test_first_line_quotes_up_to_three(
    renderer: JinjaRenderer, messages: int, quoted: int, more: list[str]
) -> None:
    events = [
        an_event(
            f"m{number:02}",
            category="message",
            actor="Bo" if number % 2 else "Cy",
            excerpt=f"Message {number}",
            occurred_at=NOW + timedelta(minutes=number),
        )
        for number in range(messages)
    ]
    made = edition(renderer, [*events, MIXED[0]])
    latest = range(messages - 1, messages - 1 - quoted, -1)
    names = {0: "Cy", 1: "Bo"}
    quotes = [
        f"{names[each % 2]}: Message {each}" if messages > 1 else "Message 0" for each in latest
    ]
    assert texts(made, "//blockquote") == quotes
    assert [each for each in texts(made, "//p[@class='time']/a") if "more" in each] == more
    assert made.text.count('"Message ') == quoted
    assert ("\n  20 more\n" in made.text) == bool(more)


def test_later_blocks_for_the_reader_quote_one_event_beside_the_link(
    renderer: JinjaRenderer,
) -> None:
    """The first block has three quotes. The others have the beginning of the latest excerpt."""
    events = [
        an_event(
            f"{place}{number}",
            category="message",
            entity_id=place,
            actor="Bo" if number % 2 else "Cy",
            excerpt=f"Message {number} in {place}" + ", and so on" * 20 * (place == "b"),
            occurred_at=NOW + timedelta(minutes=number - 60 * (place == "b")),
        )
        for place in ("a", "b")
        for number in range(5)
    ]
    made = edition(renderer, [*events, MIXED[0]])
    assert [each[:16] for each in texts(made, "//blockquote")] == [
        "Cy: Message 4 in",
        "Bo: Message 3 in",
        "Cy: Message 2 in",
    ]
    assert texts(made, "//p[@class='time']") == ["Reply · 2 more · Today, 08:07"]
    later, _ = texts(made, "//p[@class='row']")
    assert later.startswith("Cy: “Message 4 in b, and so on, and")
    assert later.endswith("…” Reply · Today, 07:07")
    assert len(later) < 160
    assert made.text.count("Message ") == 4
    assert '\n  Cy: "Message 4 in b, and' in made.text


@pytest.mark.parametrize(
    ("arrangement", "sources"),
    [
        (Arrangement(), ("picks", "events")),
        (Arrangement(sections=Sections.CATEGORY), ()),
        (Arrangement(sections=Sections.PARENT), ()),
    ],
)
def test_most_relevant_block_that_leads_has_several_quotes(
    renderer: JinjaRenderer, arrangement: Arrangement, sources: tuple[str, ...]
) -> None:
    """It need not be the first of the email."""
    events = [
        *(an_event(f"c{n}", entity_id="busy", excerpt=f"Comment {n}") for n in range(300)),
        *(an_event(f"m{n}", category="message", excerpt=f"Message {n}") for n in range(4)),
        an_event("r", category="recommendation", entity_id="other", source="picks", score=1.0),
    ]
    digest = compose(events, max_blocks=20, arrangement=arrangement, sources=sources)
    made = renderer.render(digest, a_subscriber(), LINKS, DAILY, due_at=NOW)
    assert texts(made, "//blockquote") == ["Message 3", "Message 2", "Message 1"]
    assert made.text.count('"Message ') == 3


def test_later_block_quotes_the_latest_event_with_an_excerpt(renderer: JinjaRenderer) -> None:
    first = an_event("first", category="mention", entity_id="thing", excerpt="@ann")
    events = [
        replace(first, importance=Importance.HIGH),
        an_event("old", category="message", actor="Cy", excerpt="Call me back please"),
        an_event("new", category="message", occurred_at=NOW + timedelta(minutes=1)),
    ]
    made = edition(renderer, events)
    [row] = texts(made, "//p[@class='row']")
    assert row.startswith("Cy: “Call me back please” Reply")
    assert '\n  Cy: "Call me back please"\n' in made.text


def test_recommended_line_without_an_excerpt_is_omitted(renderer: JinjaRenderer) -> None:
    named = an_event("a", category="recommendation", excerpt="Worth reading")
    other = replace(an_event("b", category="recommendation"), actor=None)
    made = edition(renderer, [named, other, MIXED[0]])
    assert all(texts(made, "//p[@class='row']"))


def test_brand_is_at_the_end_of_a_hebrew_heading_in_the_text(renderer: JinjaRenderer) -> None:
    made = edition(renderer, MIXED, reader=replace(a_subscriber(), locale="he"))
    [line] = [each for each in made.text.splitlines() if each.startswith("— ") and "Gaz" in each]
    assert line[2] != "\u2066"


def test_footer_names_categories_in_the_language_of_each_reader(renderer: JinjaRenderer) -> None:
    for locale, kind in (("en", "likes"), ("de", "Gefällt-mir-Angaben"), ("en", "likes")):
        made = edition(renderer, MIXED, reader=replace(a_subscriber(), locale=locale))
        assert texts(made, "//p[@class='less']/a")[0] == kind


def test_quotes_of_one_person_are_not_signed(renderer: JinjaRenderer) -> None:
    events = [
        an_event(f"m{number}", category="message", excerpt=f"Message {number}")
        for number in range(2)
    ]
    made = edition(renderer, [*events, MIXED[0]])
    assert sorted(texts(made, "//blockquote")) == ["Message 0", "Message 1"]


def test_row_shows_the_beginning_of_its_excerpt(renderer: JinjaRenderer) -> None:
    long = replace(MIXED[1], excerpt="word " * 60)
    [row, _] = texts(edition(renderer, (long, *MIXED[::2])), "//p[@class='row']")
    assert row.startswith("Bo commented: “word word")
    assert row.endswith("…” · Today, 08:03")
    assert len(row) < 160


def test_followers_are_the_title_of_their_row(renderer: JinjaRenderer) -> None:
    follows = [
        an_event(name, category="follow", entity_id="ann", actor=name) for name in ("Cy", "Di")
    ]
    made = edition(renderer, [*MIXED[2:], *follows])
    assert headings(made)[-1] == "2 new followers"
    assert "\n2 new followers\n" in made.text
    assert "Title of ann" not in made.html + made.text


def test_pictures_and_faces_are_links(renderer: JinjaRenderer) -> None:
    picture = Image("https://example.com/boat.jpg", "A boat")
    page = "https://example.com/bo"
    events = [
        replace(
            MIXED[3],
            actor=Actor("bo", "Bo", url=page, avatar="https://example.com/bo.jpg"),
            entity=replace(MIXED[3].entity, image=picture),
        ),
        replace(MIXED[2], actor=Actor("cy", "Cy", url=f"{page}/cy")),
        replace(MIXED[1], entity=replace(MIXED[1].entity, image=picture)),
    ]
    made = root(edition(renderer, events))
    faces = made.xpath("//td[contains(@class, 'face')]/a")
    assert [(each.get("href"), each.get("aria-label")) for each in faces] == [
        (page, "Bo"),
        (f"{page}/cy", "Cy"),
    ]
    pictures = made.xpath("//td[@class='thumb']/a")
    assert [each.get("href") for each in pictures] == [events[0].entity.url, events[2].entity.url]
    assert {each.get("aria-label") for each in pictures} == {"A boat"}
    assert set(made.xpath("//td[@class='thumb']//img/@width")) == {"64"}


@pytest.mark.parametrize("help_url", ["", "https://example.com/help"])
def test_controls_are_in_the_footer_and_at_most_seven(
    renderer: JinjaRenderer, tmp_path: Path, help_url: str
) -> None:
    if help_url:
        own = tmp_path / "own"
        own.mkdir()
        brand = json.loads((SOURCE / "brand.json").read_text())
        (own / "brand.json").write_text(json.dumps({**brand, "help": help_url}))
        build_templates(SOURCE, tmp_path / "built", overlay=own)
        renderer = JinjaRenderer(tmp_path / "built")
    followed = replace(MIXED[1], via=("post#post",))
    made = edition(renderer, (*MIXED, replace(followed, id="f")))
    blocks = root(made).xpath("//td[@class='cell']//a/@href")
    assert blocks
    assert not [href for href in blocks if href.startswith("https://links.example.com")]
    footer = root(made).xpath("//td[@class='footer']//a")
    assert len(footer) == 7
    assert any(each.get("href") == help_url for each in footer) == bool(help_url)
    scopes = [scope_of(each.get("href")) for each in footer if "/unsubscribe/" in each.get("href")]
    assert scopes == ["all", "c:like"] if help_url else ["all", "c:like", "c:comment"]
    assert "Turn off likes" in {each.get("aria-label") for each in footer}


def test_browser_view_has_no_controls_of_the_reader(renderer: JinjaRenderer) -> None:
    view = links_of_view("token", base_url="https://links.example.com")
    made = edition(renderer, MIXED, links=view)
    assert "/unsubscribe/" not in made.html
    assert "Less of" not in made.html


def test_sections_of_a_stage_replace_the_parts(renderer: JinjaRenderer) -> None:
    made = edition(renderer, MIXED, arrangement=Arrangement(sections=Sections.CATEGORY))
    assert headings(made)[0] == "Messages"
    assert "For you" not in headings(made)


MONTHLY = DigestTimes(custom_on=Days(month_day=22))


@pytest.mark.parametrize(
    ("schedule", "times", "locale", "text"),
    [
        ("weekly", DigestTimes(), "en", "Your week, 15–22 November"),
        ("weekly", DigestTimes(), "de", "Deine Woche, 15.–22. November"),
        ("custom", MONTHLY, "en", "Your month, 22 October – 22 November"),
        ("custom", DigestTimes(), "en", ""),
        ("daily", MONTHLY, "en", ""),
    ],
)
def test_weekly_and_monthly_digests_say_their_dates(
    renderer: JinjaRenderer, schedule: str, times: DigestTimes, locale: str, text: str
) -> None:
    reader = replace(a_subscriber(), times=times, locale=locale)
    made = edition(renderer, MIXED, reader=reader, schedule=schedule)
    plain = " ".join(made.subject.split())
    if text:
        assert plain.startswith(f"{text}: ")
        assert texts(made, "//h1") == [text]
        assert f"\n{text}: " in made.text
    else:
        assert ", 22" not in plain
        assert texts(made, "//h1") == ["1 message and 1 reply"]
        assert plain.endswith("22 Nov")


@pytest.mark.parametrize(
    ("schedule", "text"),
    [
        ("daily", "Your first digest. It comes at 08:00, only on days with news."),
        (
            "weekly",
            "Your first weekly digest. It comes every Monday at 08:00, only if there is news.",
        ),
        (
            "custom",
            "Your first digest on the days you chose. It comes at 08:00, only if there is news.",
        ),
    ],
)
def test_first_digest_says_when_digests_come(
    renderer: JinjaRenderer, schedule: str, text: str
) -> None:
    reader = replace(a_subscriber(), times=DigestTimes(8, 0))
    made = edition(renderer, MIXED, reader=reader, schedule=schedule, is_first=True)
    assert text in " ".join(texts(made, "//td[@class='more']"))
    assert f"\n{text}\n" in made.text
    later = edition(renderer, MIXED, reader=reader, schedule=schedule)
    assert text not in later.html + later.text


def test_preheader_does_not_repeat_the_title_of_the_subject(renderer: JinjaRenderer) -> None:
    """The first block has two lines, and its excerpt contains its title."""
    told = replace(MIXED[3], excerpt="About Title of chat: lunch?")
    like = an_event("k", category="like", entity_id="chat")
    [preheader] = texts(edition(renderer, (told, like)), "//div[@class='preheader']")
    assert "Title of chat" not in preheader
    assert preheader.startswith("Bo liked this")


def test_templates_without_parts_still_render(tmp_path: Path) -> None:
    """A version that was pushed by the release before has neither parts nor numbers."""
    copy = tmp_path / "templates"
    copy.mkdir()
    for file in SOURCE.rglob("*"):
        if file.is_file() and file.name not in {"part.txt", "count.txt"}:
            target = copy / file.relative_to(SOURCE)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file.read_bytes())
    (copy / "digest" / "block.html").write_text("<h2>{{ block.title }}</h2>{{ leave }}")
    (copy / "digest" / "block.txt").write_text("{{ block.title }}{{ leave }}\n")
    built = tmp_path / "built"
    build_templates(copy, built)
    made = edition(JinjaRenderer(built), MIXED)
    assert headings(made) == [f"Title of {name}" for name in ("chat", "thread", "post", "liked")]
