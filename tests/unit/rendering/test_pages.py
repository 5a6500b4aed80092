"""The pages that readers see: what they say, and what they let a browser do."""

import json
import re
from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import lxml.html
import pytest
from gazette.adapters.rendering.pages import JinjaPages
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.adapters.rendering.sheets import Sheets
from gazette.domain.delivery.arrangement import Arrangement, Sections
from gazette.domain.delivery.compose import Digest, compose
from gazette.domain.links import DIGESTS, EVERYTHING, Scope, ScopeKind, entity_mark
from gazette.domain.model import Actor, Entity, Event, Image
from gazette.domain.ports.rendering import BlockControls
from gazette.domain.subscribers.leaving import KeepAct, Keeping, LeaveAct, Leaving
from gazette.domain.subscribers.subscriber import Subscriber, SubscriberStatus

from tests.builders import NOW, a_subscriber, an_event, an_update_list

EVIL = "<script>alert(1)</script>\"'&"


class ToldPages(JinjaPages):
    """Pages whose list of updates says what emails of the same templates say."""

    def __init__(self, templates: Path) -> None:
        super().__init__(Sheets(templates))
        self.templates = templates
        self._renderer = JinjaRenderer(templates)

    def list_of(
        self,
        digest: Digest,
        reader: Subscriber,
        *controls: BlockControls,
        start: int = 0,
        total: int = 0,
    ) -> str:
        listed = an_update_list(
            digest,
            self._renderer.said(digest, reader),
            buttons=self._renderer.buttons(digest, reader),
            controls=controls or [BlockControls() for _ in digest.blocks],
            start=start,
            total=total or len(digest.blocks),
        )
        return self.updates(listed, reader)


@pytest.fixture
def pages(built_templates: Path) -> ToldPages:
    return ToldPages(built_templates)


def updates(pages: ToldPages, *events: Event, zone: str = "UTC") -> str:
    subscriber = replace(a_subscriber(), time_zone=zone)
    return pages.list_of(compose(events, max_blocks=len(events)), subscriber)


LESS = (
    EVERYTHING,
    DIGESTS,
    Scope(ScopeKind.IMMEDIATE),
    Scope(ScopeKind.IMMEDIATE, ("mention", "like")),
    Scope(ScopeKind.CATEGORY, ("mention",)),
    Scope(ScopeKind.ENTITY, (entity_mark("post#1"),)),
)


def leaving(scope: Scope, act: LeaveAct | None = None) -> Leaving:
    return Leaving(scope=scope, reader=a_subscriber(), follows=(EVIL,), act=act)


def left(leaving: Leaving, pages: ToldPages) -> str:
    return pages.left("", leaving, undo="token", settings="../preferences/token")


def confirm(leaving: Leaving, pages: ToldPages) -> str:
    return pages.confirm_leaving("", leaving, settings="../preferences/token")


def kept(offer: KeepAct, act: KeepAct | None, pages: ToldPages) -> str:
    keeping = Keeping(reader=a_subscriber(), offer=offer, ends_at=NOW, act=act)
    return pages.keep(keeping, settings="../preferences/token")


ALL: dict[str, Callable[[ToldPages], str]] = {
    **{
        f"left {scope.kind.name} {act.value}": partial(left, leaving(scope, act))
        for scope in LESS
        for act in LeaveAct
    },
    **{f"leave {scope.kind.name}": partial(confirm, leaving(scope)) for scope in LESS},
    "not taken back": lambda pages: pages.left("", leaving(DIGESTS), undo="", settings=""),
    **{
        f"keep {offer.value} {act}": partial(kept, offer, act)
        for offer in KeepAct
        for act in (None, *KeepAct)
    },
    "invalid": lambda pages: pages.invalid_link(""),
    "ended": lambda pages: pages.ended_link("", is_mailed=False),
    "mailed": lambda pages: pages.ended_link("", is_mailed=True),
    "went_wrong": lambda pages: pages.went_wrong(""),
    "not_sent": lambda pages: pages.not_sent(a_subscriber()),
    "nothing_left": lambda pages: pages.nothing_left(a_subscriber()),
    "updates": lambda pages: updates(pages, an_event()),
}
each = pytest.mark.parametrize("made", ALL.values(), ids=ALL)


@each
def test_page_has_a_language_and_a_heading_that_matches_its_title(
    pages: ToldPages, made: Callable[[ToldPages], str]
) -> None:
    page = lxml.html.fromstring(made(pages))
    (heading,) = page.xpath("//main//h1")
    assert heading.text_content()
    (title,) = page.xpath("/html/head/title")
    assert title.text_content().startswith(heading.text_content())
    assert page.get("lang") == "en"


@each
def test_page_has_only_the_style_allowed_by_its_hash(
    pages: ToldPages, built_templates: Path, made: Callable[[ToldPages], str]
) -> None:
    html = made(pages)
    (style,) = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    digest = b64encode(sha256(style.encode()).digest()).decode()
    assert Sheets(built_templates).styles == f"'sha256-{digest}'"
    page = lxml.html.fromstring(html)
    assert not page.xpath("//@style | //script | //link | //img | //@*[starts-with(name(), 'on')]")


@pytest.mark.parametrize("act", [None, LeaveAct.EVERYTHING])
def test_unsubscribed_page_names_the_address_and_links_to_settings(
    pages: ToldPages, act: LeaveAct | None
) -> None:
    what = replace(leaving(EVERYTHING, act), reader=replace(a_subscriber(), email="s@example.com"))
    html = left(what, pages) if act else confirm(what, pages)
    assert "s•••@example.com" in re.sub("[\u2066-\u2069]", "", html)
    page = lxml.html.fromstring(html)
    (settings,) = page.xpath("//main//a")
    assert (settings.text, settings.get("href")) == ("Email settings", "../preferences/token")
    nobody = replace(what, reader=None)
    html = left(nobody, pages) if act else confirm(nobody, pages)
    assert "Email settings" not in html, "there is nobody to whom they belong"
    assert "•" not in html


def test_unsubscribe_page_offers_weekly_and_pause_beside_the_button(pages: ToldPages) -> None:
    page = lxml.html.fromstring(confirm(leaving(EVERYTHING), pages))
    assert page.xpath("//button/@value") == ["leave", "weekly", "pause"]
    gone = replace(a_subscriber(), status=SubscriberStatus.UNSUBSCRIBED)
    page = lxml.html.fromstring(confirm(replace(leaving(EVERYTHING), reader=gone), pages))
    assert page.xpath("//button/@value") == ["leave"]


def test_blocked_resubscribe_page_explains_causes_and_support_contact(pages: ToldPages) -> None:
    """Another reader of the address may have unsubscribed: then nothing bounced."""
    page = lxml.html.fromstring(left(replace(leaving(EVERYTHING), act=None), pages))
    said = page.xpath("//main")[0].text_content()
    assert "bounced" in said
    assert "someone else who reads them has unsubscribed" in said
    assert "Please contact support." in said


def test_updates_list_shows_link_people_count_and_time_per_group(pages: ToldPages) -> None:
    events = [
        an_event("e1", actor="Bo"),
        an_event("e2", actor="Cy"),
        an_event("e3", entity_id="post2", category="like"),
    ]
    page = lxml.html.fromstring(updates(pages, *events, zone="Asia/Tokyo"))
    items = page.xpath("//ol/li")
    assert [item.xpath(".//h2/a/@href") for item in items] == [
        ["https://example.com/post1"],
        ["https://example.com/post2"],
    ]
    assert [item.xpath(".//h2/a/text()") for item in items] == [
        ["Title of post1"],
        ["Title of post2"],
    ]
    assert [item.xpath(".//p/text()") for item in items] == [
        ["2 new comments from Cy and Bo"],
        ["Bo liked this"],
    ]
    (time, _) = page.xpath("//ol/li//time")
    assert time.get("datetime") == "2026-11-22T07:03:00+00:00"
    assert time.text_content() == "22 November, 16:03"
    assert page.xpath("//main/h1/text()") == ["All 3 updates from 22 November"]


PARTS = (
    *(an_event(f"m{n}", category="message", excerpt=f"Words {n}", actor="Bo") for n in range(4)),
    an_event("r", category="reply", entity_id="post2"),
    an_event("l", category="like", entity_id="post3"),
    an_event("p", category="recommendation", entity_id="post4", source="picks"),
)


def test_updates_list_has_the_parts_and_quotes_of_the_digest(pages: ToldPages) -> None:
    page = lxml.html.fromstring(updates(pages, *PARTS))
    names = ["For you", "Also on Gazette", "Recommended for you"]
    assert [each.text_content() for each in page.xpath("//main//h2")] == names
    lists = page.xpath("//ol[@class='updates']")
    assert [each.get("start") for each in lists] == ["1", "3", "4"]
    assert [each.xpath(".//h3/a/text()") for each in lists] == [
        ["Title of post1", "Title of post2"],
        ["Title of post3"],
        ["Title of post4"],
    ]
    quotes = [each.text_content() for each in page.xpath("//blockquote")]
    assert quotes == ["Words 3", "Words 2", "Words 1"]


def test_updates_list_has_each_part_once_and_on_each_page(pages: ToldPages) -> None:
    """A published recommendation ranks among the other updates, and a page may have one part."""
    published = an_event("x", category="recommendation", entity_id="post5", occurred_at=NOW)
    late = an_event("z", category="like", entity_id="post6", occurred_at=NOW - timedelta(days=9))
    everything = compose([*PARTS, published, late], max_blocks=9)
    page = lxml.html.fromstring(pages.list_of(everything, a_subscriber()))
    names = [each.text_content() for each in page.xpath("//main//h2")]
    assert len(names) == len({*names}) == 3
    last = replace(everything, blocks=everything.blocks[-1:])
    listed = an_update_list(last, JinjaRenderer(pages.templates).said(last, a_subscriber()))
    one = lxml.html.fromstring(pages.updates(replace(listed, has_parts=True), a_subscriber()))
    assert len(one.xpath("//main//h2")) == len(one.xpath("//main//h3")) == 1


@pytest.mark.parametrize("events", [PARTS[:5], PARTS[5:6]])
def test_updates_list_of_one_part_has_no_headings(
    pages: ToldPages, events: tuple[Event, ...]
) -> None:
    page = lxml.html.fromstring(updates(pages, *events))
    assert not page.xpath("//h3")
    assert [each.text_content()[:8] for each in page.xpath("//h2")] == ["Title of"] * len(
        {event.entity.id for event in events}
    )


def test_updates_list_of_a_digest_with_sections_has_no_parts(pages: ToldPages) -> None:
    by_category = Arrangement(sections=Sections.CATEGORY)
    digest = compose(PARTS, max_blocks=9, arrangement=by_category)
    page = lxml.html.fromstring(pages.list_of(digest, a_subscriber()))
    assert "For you" not in page.text_content()
    assert not page.xpath("//h3")


@pytest.mark.parametrize(
    ("locale", "number", "title"),
    [
        ("en", 1, "1 update from 22 November"),
        ("en", 2, "All 2 updates from 22 November"),
        ("de", 1, "1 Neuigkeit vom 22. November"),
        ("de", 2, "Alle 2 Neuigkeiten vom 22. November"),
        ("he", 2, "שני העדכונים מ־22 בנובמבר"),
    ],
)
def test_updates_list_is_titled_with_its_number_and_day(
    pages: ToldPages, locale: str, number: int, title: str
) -> None:
    reader = replace(a_subscriber(), locale=locale)
    events = [an_event(f"e{each}", entity_id=f"post{each}") for each in range(number)]
    page = lxml.html.fromstring(pages.list_of(compose(events, max_blocks=2), reader))
    assert page.xpath("//main/h1/text()") == [title]
    assert not page.xpath("//main/p")


def test_page_of_updates_shows_fewer_blocks_if_it_exceeds_a_lambda_response(
    pages: ToldPages,
) -> None:
    """Six megabytes, of JSON. The next page begins with the first block that is not shown.

    https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
    """
    events = [
        replace(an_event(f"e{number}", entity_id=f"post{number}"), excerpt="\U0001f389" * 300)
        for number in range(1600)
    ]
    html = updates(pages, *events)
    page = lxml.html.fromstring(html)
    shown = len(page.xpath("//ol/li"))
    assert shown == 800
    assert page.xpath("//nav/a[@rel='next']/@href") == [f"?after={shown}"]
    assert len(json.dumps(html)) < 6_000_000


def test_attack_updates_list_escapes_producer_input(pages: ToldPages) -> None:
    event = replace(
        an_event(),
        entity=Entity("post", "p", EVIL, "https://example.com/?a=1&b='2'"),
        actor=Actor("b", EVIL),
    )
    html = updates(pages, event)
    assert "<script" not in html
    link, reply = lxml.html.fromstring(html).xpath("//ol//a")
    assert link.text_content() == EVIL
    assert reply.get("aria-label") == f"See the comment: {EVIL}"
    assert link.get("href") == reply.get("href") == "https://example.com/?a=1&b='2'"


def a_rich_event(event_id: str = "e1", **more: Any) -> Event:
    """An event with a quote, a picture, and an actor with a picture and a page."""
    event = an_event(event_id, **more)
    picture = Image("https://example.com/p.jpg", "A heap of letters")
    actor = Actor("bo", "Bo Berg", "https://example.com/bo", "https://example.com/bo.png")
    entity = replace(event.entity, image=picture)
    return replace(event, entity=entity, actor=actor, excerpt="Well said.\nReally.")


def test_updates_list_shows_faces_quotes_and_thumbnails_as_links(pages: ToldPages) -> None:
    page = lxml.html.fromstring(updates(pages, a_rich_event(category="mention")))
    (item,) = page.xpath("//ol/li")
    (thumbnail,) = item.xpath(".//a[@class='thumbnail']")
    assert thumbnail.get("href") == "https://example.com/post1"
    assert thumbnail.xpath("./img/@alt") == ["A heap of letters"]
    (face,) = item.xpath(".//a[@href='https://example.com/bo']")
    assert face.get("aria-label") == "Bo Berg"
    assert face.xpath("./img/@src") == ["https://example.com/bo.png"]
    assert item.xpath(".//blockquote//text()[normalize-space()]") == ["Well said.\nReally."]
    (reply,) = item.xpath(".//a[text()='Reply']")
    assert reply.get("href") == "https://example.com/post1"
    assert reply.get("aria-label") == "Reply: Title of post1"


def test_updates_list_shows_initials_and_no_reply_for_followed_updates(pages: ToldPages) -> None:
    event = an_event(category="mention")
    page = lxml.html.fromstring(updates(pages, replace(event, via=("post#post1",))))
    (face,) = page.xpath("//span[starts-with(@class, 'face')]")
    assert face.text == "B"
    colour = face.get("class").removeprefix("face ")
    assert f".{colour} {{ background: #{colour[1:]}; }}" in page.xpath("string(//style)")
    assert not page.xpath("//a[text()='Reply']")


def test_updates_list_has_a_button_for_each_control(pages: ToldPages) -> None:
    events = [an_event(f"e{each}", entity_id=f"post{each}") for each in range(4)]
    controls = (
        BlockControls(mute="../unsubscribe/m0"),
        BlockControls(mute="../unsubscribe/m1", is_muted=True),
        BlockControls(unfollow="../unsubscribe/u2"),
        BlockControls(unfollow="../unsubscribe/u3", followed=("Bo Berg", EVIL)),
    )
    digest = compose(events, max_blocks=4)
    html = pages.list_of(digest, a_subscriber(), *controls, start=100, total=104)
    page = lxml.html.fromstring(html)
    titles = [each.latest.entity.title for each in digest.blocks]
    forms = page.xpath("//form")
    assert [(each.get("method"), each.get("action")) for each in forms] == [
        ("post", f"../unsubscribe/{each}") for each in ("m0", "u2", "u3")
    ]
    assert page.xpath("//form/input/@value") == ["100"] * 3
    assert page.xpath("//button/@value") == ["leave"] * 3
    assert page.xpath("//button/@aria-label") == [
        f"Mute this: {titles[0]}",
        f"Unfollow: {titles[2]}",
    ]
    assert isolated(page.xpath("//button")[2].text_content()) == f"Unfollow Bo Berg and {EVIL}"
    assert page.xpath("//ol/li[2]//span[text()='Muted']")
    assert page.xpath("//ol/@start") == ["101"]
    assert page.xpath("//nav/a/@href") == ["?after=0"]


def isolated(text: str) -> str:
    """The text without the marks that isolate names."""
    return re.sub("[\u2066-\u2069]", "", text)


def test_confirmation_leads_back_to_the_list_and_keeps_its_place_for_undo(pages: ToldPages) -> None:
    confirmed = replace(leaving(DIGESTS), act=LeaveAct.LEAVE, left_at=NOW)
    html = pages.left("", confirmed, undo="u", settings="", updates="../updates/t", start="100")
    page = lxml.html.fromstring(html)
    assert page.xpath("//a[text()='Back to the updates']/@href") == ["../updates/t?after=100"]
    assert page.xpath("//form[.//input[@name='undo']]//input[@name='after']/@value") == ["100"]
    html = pages.left("", confirmed, undo="u", settings="")
    assert "Back to the updates" not in html
    assert 'name="after"' not in html
