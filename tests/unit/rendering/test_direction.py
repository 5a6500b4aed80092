"""The majority of its letters determines the direction of a text."""

import re
import sys
import unicodedata
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import lxml.html
import pytest
from gazette.adapters.rendering.pages import JinjaPages
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.adapters.rendering.sheets import Sheets
from gazette.adapters.rendering.texts import subject_line
from gazette.domain.delivery.compose import compose
from gazette.domain.model import DAILY, Actor, Entity, Event
from gazette.domain.scheduling.kinds import immediate_schedule
from gazette.domain.window.naming import (
    _CAN_BE_RIGHT_TO_LEFT,
    _isolate,
    _majority,
    direction_of,
    isolated,
)
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import LINKS, NOW, a_subscriber, an_update_list

MENTION = "@ann תודה רבה על העזרה"
"""A Hebrew sentence whose first strong letter is Latin."""

TITLE = "GitHub הוא אתר לשיתוף קוד"
ENGLISH = "שלום is how you say hello in Hebrew"
TEMPLATES = Path(__file__).parents[3] / "templates"


@pytest.mark.parametrize(
    ("text", "way"),
    [
        (MENTION, "rtl"),
        (TITLE, "rtl"),
        (ENGLISH, "ltr"),
        ("@annemarie.weber תודה", "rtl"),
        ("https://example.com/a/long/path תודה", "rtl"),
        ("ann@example.com שלום", "rtl"),
        ("@ann @bob", "ltr"),
        ("@נועה", "rtl"),
        ("😀 שלום", "rtl"),
        ("אב ab", "rtl"),
        ("ab אב", "ltr"),
        ("مرحبا Bo", "rtl"),
        ("\u200f\u200f\u200f\u200fab", "ltr"),
        ("\u200f5", "rtl"),
        ("Zoë", "ltr"),
        ("日本語", "ltr"),
    ],
)
def test_direction_is_that_of_most_letters(text: str, way: str) -> None:
    assert {direction_of(text, "ltr"), direction_of(text, "rtl")} == {way}


@pytest.mark.parametrize("text", ["", "😀", "42", "…!"])
def test_text_without_letters_has_the_direction_of_the_language(text: str) -> None:
    assert (direction_of(text, "ltr"), direction_of(text, "rtl")) == ("ltr", "rtl")


def test_fast_check_matches_every_right_to_left_character() -> None:
    strong = [
        each
        for each in map(chr, range(sys.maxunicode + 1))
        if unicodedata.bidirectional(each) in {"R", "AL"}
    ]
    assert len(strong) > 1_000
    assert [each for each in strong if not _CAN_BE_RIGHT_TO_LEFT.match(each)] == []


LETTERS = st.text("abאבגم😀 5.", max_size=40)


@given(LETTERS)
def test_direction_equals_a_plain_count(text: str) -> None:
    left, right = (len(re.findall(letters, text)) for letters in ("[ab]", "[אבגم]"))
    first = re.search("[abאבגم]", text)
    ways = {1: "ltr", -1: "rtl", 0: ("ltr" if first and first[0] in "ab" else "rtl")}
    expected = ways[(left > right) - (left < right)] if first else "ltr"
    assert direction_of(text, "ltr") == expected


@given(LETTERS, st.sampled_from(["ltr", "rtl"]))
def test_isolates_give_the_text_the_direction_of_most_letters(text: str, around: str) -> None:
    made = isolated(text, around)
    if made == text:
        kinds = {unicodedata.bidirectional(each) for each in text}
        assert not kinds & ({"R", "AL"} if around == "ltr" else {"L"})
        return
    assert (made[1:-1], made[-1]) == (text, "\u2069")
    if made[0] == "\u2068":  # the first strong letter decides
        strong = (unicodedata.bidirectional(each) for each in text)
        first = next((each for each in strong if each in {"L", "R", "AL"}), "L")
        assert direction_of(text, "ltr") == ("ltr" if first == "L" else "rtl")
    else:
        assert made[0] == {"ltr": "\u2066", "rtl": "\u2067"}[direction_of(text, "ltr")]


def test_isolate_around_isolates_is_explicit() -> None:
    """The first strong letter that counts for U+2068 is outside all inner isolates."""
    assert isolated("“\u2068נועה\u2069” x", "ltr")[0] == "\u2067"


@pytest.mark.parametrize("start", ["\u2066", "\u2067", "\u2068"])
def test_truncated_subject_closes_every_kind_of_isolate(start: str) -> None:
    made = subject_line(f"New: “{start}{'ש' * 300}\u2069”", 200)
    assert (made.endswith("ש…\u2069"), len(made)) == (True, 200)


def event(text: str, **more: str) -> Event:
    return Event(
        user_id="ann",
        id=f"e{text}",
        category=more.get("category", "mention"),
        entity=Entity("post", f"p{text}", text, "https://example.com/p1"),
        actor=Actor("bo", "Bo"),
        occurred_at=NOW,
        excerpt=text,
    )


@pytest.mark.parametrize("locale", ["en", "de", "he"])
@pytest.mark.parametrize("schedule", [DAILY, immediate_schedule("post#p1")])
@pytest.mark.parametrize(("text", "way"), [(MENTION, "rtl"), (ENGLISH, "ltr")])
def test_every_part_of_an_email_uses_the_direction_of_most_letters(
    renderer: JinjaRenderer, locale: str, schedule: str, text: str, way: str
) -> None:
    reader = replace(a_subscriber(), locale=locale)
    earlier = replace(event("Lunch"), occurred_at=NOW - timedelta(hours=1))
    said = [event(text)] if schedule != DAILY else [event(text), earlier]
    made = renderer.render(compose(said, max_blocks=5), reader, LINKS, schedule)
    page = lxml.html.document_fromstring(made.html)
    places = [each for each in page.xpath("//span") if each.text_content() == text]
    assert len(places) == 2, "the title and the quote"
    assert {each.get("dir") for each in places} == {way}
    assert not page.xpath("//*[@dir='auto']")
    for part in (made.subject, made.text, page.xpath("string(//*[@class='preheader'])")):
        for before in re.findall(f"(.){re.escape(text[:14])}", part):
            assert before == {"rtl": "\u2067", "ltr": "\u2066"}[way]
    assert f"\u2068{text[:14]}" not in made.subject + made.text


@pytest.mark.parametrize(("text", "way"), [(MENTION, "rtl"), (ENGLISH, "ltr")])
def test_list_of_updates_uses_the_direction_of_most_letters(
    built_templates: Path, text: str, way: str
) -> None:
    digest = compose([event(text)], max_blocks=1)
    made = JinjaPages(Sheets(built_templates)).updates(
        an_update_list(digest, [["A line"]]), a_subscriber()
    )
    page = lxml.html.document_fromstring(made)
    title, quote = page.xpath("//h2/a|//blockquote/span")
    for each in (title, quote):
        assert (each.get("dir"), each.text_content()) == (way, text)


def test_templates_never_use_the_first_strong_letter() -> None:
    """`bdi` without `dir` does the same as `dir="auto"`. An address is not a sentence."""
    found = {
        match[0]
        for file in TEMPLATES.rglob("*.html")
        for match in re.finditer(r'dir="auto"|<bdi>.*?</bdi>', file.read_text())
    }
    assert found == {"<bdi>{{ address }}</bdi>"}


@pytest.mark.parametrize("around", ["ltr", "rtl"])
def test_directions_of_long_texts_are_not_cached(around: str) -> None:
    sizes = [memo.cache_info().currsize for memo in (_majority, _isolate)]
    long = "ש" * 2_000
    assert direction_of(long, around) == "rtl"
    assert isolated(long, around).strip("\u2068\u2069") == long
    assert [memo.cache_info().currsize for memo in (_majority, _isolate)] == sizes
