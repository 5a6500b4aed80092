"""An email shows who did it, and what it is about, by pictures, initials or words."""

from dataclasses import replace
from typing import Any

import lxml.html
import pytest
from gazette.adapters.rendering.brand import contrast
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.adapters.rendering.texts import initials
from gazette.adapters.rendering.view_models import COLOURS
from gazette.domain.delivery.arrangement import Arrangement
from gazette.domain.delivery.compose import compose
from gazette.domain.model import DAILY, Actor, Edition, Event, Image, Importance
from gazette.domain.scheduling.kinds import immediate_schedule

from tests.builders import LINKS, a_subscriber, an_event

AVATAR = "https://pictures.example/bo.png?a=1&b=2"
IMAGE = Image("https://pictures.example/cranes.png", 'Cranes in the "fog"')
FAMILY = "\U0001f469\u200d\U0001f469\u200d\U0001f467"

each_kind = pytest.mark.parametrize("schedule", [DAILY, immediate_schedule("post#post1")])


def edition(
    renderer: JinjaRenderer, *events: Event, schedule: str = DAILY, full_blocks: int = 8
) -> Edition:
    arrangement = Arrangement(full_blocks=full_blocks)
    digest = compose(events, max_blocks=20, arrangement=arrangement)
    return renderer.render(digest, a_subscriber(), LINKS, schedule)


def page(made: Edition) -> Any:
    return lxml.html.document_fromstring(made.html)


def by(actor: Actor | None, event_id: str = "e1", **more: Any) -> Event:
    return replace(an_event(event_id, **more), actor=actor)


def pictured(event: Event) -> Event:
    return replace(event, entity=replace(event.entity, image=IMAGE))


@each_kind
def test_latest_actor_is_shown_by_avatar(renderer: JinjaRenderer, schedule: str) -> None:
    """Its alternative text is empty: the line beside it has the name."""
    bo = by(Actor("bo", "Bo", avatar=AVATAR))
    made = page(edition(renderer, bo, schedule=schedule))
    [picture] = made.xpath("//img")
    assert picture.get("src") == AVATAR
    assert (picture.get("width"), picture.get("height"), picture.get("alt")) == ("32", "32", "")
    assert "border-radius:16px" in picture.get("style")
    [cell] = made.xpath("//td[img]")
    assert (cell.get("width"), cell.get("height")) == ("32", "32")


@each_kind
def test_actor_without_avatar_has_initials_on_a_colour(
    renderer: JinjaRenderer, schedule: str
) -> None:
    made = page(edition(renderer, by(Actor("bo", "Bo Berg")), schedule=schedule))
    [cell] = made.xpath("//td[@aria-hidden='true']")
    assert cell.text == "BB"
    assert (cell.get("width"), cell.get("height"), cell.get("align")) == ("32", "32", "center")
    assert cell.get("bgcolor") in COLOURS
    assert "; color:#fff" in cell.get("style")
    assert f"background-color:{cell.get('bgcolor')}" in cell.get("style")
    assert "url(" not in cell.get("style")
    assert not made.xpath("//img | //@background")


@each_kind
def test_event_without_actor_shows_no_avatar(renderer: JinjaRenderer, schedule: str) -> None:
    made = page(edition(renderer, by(None), schedule=schedule))
    assert not made.xpath("//img | //td[@aria-hidden]")


LINES = (
    by(Actor("bo", "Bo Berg"), "m", category="mention"),
    by(None, "b", category="build"),
    by(Actor("cy", "Cy"), "l", category="like"),
)


def test_each_line_of_an_immediate_email_shows_the_avatar_of_its_latest_actor(
    renderer: JinjaRenderer,
) -> None:
    made = page(edition(renderer, *LINES, schedule=immediate_schedule("post#post1")))
    found = [
        (
            "".join(row.xpath("string(.//h1 | .//p[@class='line'])").split("\n")),
            row.xpath("string(.//td[@aria-hidden])"),
        )
        for row in made.xpath("//tr[td[@class='what']]")
    ]
    assert found == [
        ("Bo Berg mentioned you in Title of post1", "BB"),
        ("Build", ""),
        ("Cy liked this", "C"),
    ]


@pytest.mark.parametrize(("first", "face"), [("m", "BB"), ("b", None)])
def test_only_the_first_line_of_a_leading_block_shows_an_avatar(
    renderer: JinjaRenderer, first: str, face: str | None
) -> None:
    """A first line without an actor has none, and neither has a short row."""
    events = [
        replace(each, importance=Importance.HIGH) if each.id == first else each for each in LINES
    ]
    row = by(Actor("di", "Di", avatar=AVATAR), "r", category="like", entity_id="other")
    made = page(edition(renderer, *events, row))
    lead, short = made.xpath("//table[@class='item']")
    assert lead.xpath(".//td[contains(@class, 'face')]/text()") == ([face] if face else [])
    assert len(lead.xpath(".//p[@class='row']")) == 2
    assert not short.xpath(".//img | .//td[contains(@class, 'face')]")


@each_kind
def test_entity_image_has_alt_text(renderer: JinjaRenderer, schedule: str) -> None:
    made = edition(renderer, pictured(by(None)), schedule=schedule)
    [picture] = page(made).xpath("//img")
    assert (picture.get("src"), picture.get("alt")) == (IMAGE.url, IMAGE.text)
    assert picture.get("width") == "64"
    assert "width:64px" in picture.get("style")
    assert f"\n  [{IMAGE.text}]\n" in made.text
    assert IMAGE.url not in made.text


def test_entity_images_of_leading_blocks_and_rows_have_alt_text(renderer: JinjaRenderer) -> None:
    events = (by(None, category="mention"), by(None, "e2", entity_id="other"))
    made = edition(renderer, *map(pictured, events))
    found = page(made).xpath("//table[@class='item']//td[@class='thumb']//img")
    assert [(each.get("src"), each.get("alt")) for each in found] == [(IMAGE.url, IMAGE.text)] * 2
    assert made.text.count(f"\n  [{IMAGE.text}]\n") == 2


def test_compact_block_has_no_images(renderer: JinjaRenderer) -> None:
    event = pictured(by(Actor("bo", "Bo", avatar=AVATAR)))
    other = by(Actor("cy", "Cy"), "other", entity_id="other")
    made = edition(renderer, event, other, full_blocks=0)
    assert not page(made).xpath("//img | //td[@aria-hidden]")
    assert IMAGE.text not in made.text + made.html


def test_email_contains_only_images_from_producers(renderer: JinjaRenderer) -> None:
    """So nobody learns that an email was opened but whoever a service names."""
    events = [
        pictured(by(Actor("bo", "Bo", avatar=AVATAR), category="mention")),
        by(
            Actor("eve", "Eve", avatar="javascript:alert(1)"),
            "e2",
            category="mention",
            entity_id="2",
        ),
        by(Actor("cy", "Cy"), "e3", entity_id="3"),
    ]
    made = edition(renderer, *events)
    assert sorted(page(made).xpath("//@src")) == sorted([AVATAR, IMAGE.url])
    assert "javascript:" not in made.html


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Bo Berg", "BB"),
        ("bo", "B"),
        ("Zoë", "Z"),
        ("Linh Nguyễn Thị", "LT"),
        ("Jean-Luc de la Tour", "JT"),
        ("R2", "R"),
        ("7", "7"),
        ("נועה לוי", "נל"),
        ("محمد علي", "م"),
        ("山田 太郎", "山"),
        ("李雷", "李"),
        ("김민수", "김"),
        ("Bo 李", "B"),
        ("e\u0301lan vital", "E\u0301V"),
        ("ßtraße", "ß"),
        ("\U0001f600", "\U0001f600"),
        (f"{FAMILY}\U0001f600", FAMILY),
        ("\U0001f44d\U0001f3fd", "\U0001f44d\U0001f3fd"),
        ("\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7", "\U0001f1e9\U0001f1ea"),
        ("\U0001f600 Bo", "B"),
        ("“Security: sign in”", "SI"),
        ("<b>Bo</b>", "B"),
        ("(Bo) [Berg]", "BB"),
        ("\u200fנועה לוי", "נל"),
        ("\u061cعلي", "ع"),
        ("\u200eBo \u00adBerg", "BB"),
        ("\u1160\u3164 Bo", "B"),
        ("...", ""),
        ("", ""),
        ("\u200b", ""),
        ("Z" + "\u0335" * 100, "Z" + "\u0335" * 11),
    ],
)
def test_initials_consist_of_whole_graphemes(name: str, shown: str) -> None:
    assert initials(name) == shown


def test_actor_without_name_has_no_avatar(renderer: JinjaRenderer) -> None:
    made = page(edition(renderer, by(Actor("bo", "\u200b", avatar="https://example.com/bo.png"))))
    assert not made.xpath("//td[@aria-hidden]")


@pytest.mark.parametrize("colour", COLOURS)
def test_initials_are_legible_on_every_colour(colour: str) -> None:
    assert contrast(colour, "#ffffff") >= 4.5


def test_avatar_colour_depends_on_id_not_name(renderer: JinjaRenderer) -> None:
    def colours(*ids: str, name: str) -> set[str]:
        made = [page(edition(renderer, by(Actor(each, name)))) for each in ids]
        return {each.xpath("string(//td[@aria-hidden]/@bgcolor)") for each in made}

    assert colours("bo", name="Bo") == colours("bo", name="Bo Berg")
    assert colours(*map(str, range(60)), name="Bo") == set(COLOURS)
