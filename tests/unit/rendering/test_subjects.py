"""What opens a subject: words of ours, never the text of a service, unless in quotation marks."""

import re
from dataclasses import replace
from itertools import takewhile
from pathlib import Path

import pytest
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.domain.delivery.compose import compose
from gazette.domain.model import DAILY, Actor, Entity, Event
from gazette.domain.scheduling.kinds import immediate_schedule
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.builders import LINKS, NOW, a_subscriber

SOURCE = Path(__file__).parents[3] / "templates"
IMMEDIATE = immediate_schedule("post#p1")
ATTACK = "Your password expires today"
KNOWN = sorted(folder.name for folder in (SOURCE / "categories").iterdir())
LOCALES = ["en", *sorted(folder.name for folder in (SOURCE / "locales").iterdir())]
QUOTED = ("“", "„", "״", "«", '"')
DIGITS = r"[\d.,\s]*"


def events(category: str, text: str, count: int) -> list[Event]:
    """Events that say `text` wherever a service may say something."""
    return [
        Event(
            "ann",
            f"e{number}",
            category,
            Entity("post", "p1", text, "https://example.com/p1"),
            Actor(f"a{number}", f"{text} {number}"),
            NOW,
            text,
        )
        for number in range(count)
    ]


def subject(
    renderer: JinjaRenderer,
    said: list[Event],
    *,
    schedule: str = DAILY,
    locale: str = "en",
    groups: int = 20,
) -> str:
    reader = replace(a_subscriber(), locale=locale)
    return renderer.render(compose(said, max_blocks=groups), reader, LINKS, schedule).subject


def opening(one: str, other: str) -> str:
    """What two subjects begin with, whatever services say: from the first letter on."""
    same = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    said = re.sub(rf"^{DIGITS}", "", "".join(each for each, _ in same))
    return re.sub(r"[\u2066-\u2069\s]+$", "", said)


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("schedule", [DAILY, "weekly", "custom", IMMEDIATE])
@pytest.mark.parametrize("category", [*KNOWN, "build_failed"])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_attack_a_title_cannot_open_a_subject(
    renderer: JinjaRenderer, category: str, schedule: str, locale: str, count: int
) -> None:
    """Nor can a name or an excerpt: before them there is a word of ours."""
    rest = [] if schedule == IMMEDIATE else events("like", "Other", 1)
    one, other = (
        subject(renderer, [*events(category, text, count), *rest], schedule=schedule, locale=locale)
        for text in (ATTACK, "זוהי כותרת")
    )
    assert len(opening(one, other)) >= 3, (one, other)
    assert opening(one, other)[0].isalpha()
    for said in (one, other):
        assert not said.lstrip("\u2066\u2067\u2068").startswith((ATTACK, "זוהי"))


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("schedule", [DAILY, IMMEDIATE])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_attack_a_category_cannot_open_a_subject(
    renderer: JinjaRenderer, schedule: str, locale: str, count: int
) -> None:
    """Services name categories too: `your_password_expires_today` is a valid name of one."""
    one, other = (
        subject(renderer, events(category, "T", count), schedule=schedule, locale=locale)
        for category in ("your_password_expires_today", "account_suspended")
    )
    assert len(opening(one, other)) >= 3, (one, other)
    assert opening(one, other)[0].isalpha()
    before, _, after = one.partition(ATTACK)
    assert before.rstrip("\u2068").endswith(QUOTED), one
    assert after.lstrip("\u2069")[0] in "”“״"


@pytest.mark.parametrize(
    ("locale", "count", "line"),
    [
        ("en", 1, "1 update in “Build failed” from Bo"),
        ("en", 2, "2 updates in “Build failed” from Bo"),
        ("de", 1, "1 Neuigkeit zu „Build failed“ von Bo"),
        ("de", 2, "2 Neuigkeiten zu „Build failed“ von Bo"),
        ("he", 1, "עדכון אחד בנושא ״\u2068Build failed\u2069״ מאת \u2068Bo\u2069"),
        ("he", 2, "2 עדכונים בנושא ״\u2068Build failed\u2069״ מאת \u2068Bo\u2069"),
    ],
)
def test_a_category_without_words_of_its_own_is_in_the_quotation_marks_of_the_language(
    renderer: JinjaRenderer, locale: str, count: int, line: str
) -> None:
    said = [
        replace(each, actor=Actor("bo", "Bo")) for each in events("build_failed", "On CI", count)
    ]
    assert subject(renderer, said, locale=locale) == line


@given(
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=30),
    st.sampled_from([*KNOWN, "build_failed"]),
    st.sampled_from(LOCALES),
    st.sampled_from([DAILY, IMMEDIATE]),
    st.integers(1, 5),
)
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_attack_whatever_a_service_says_a_subject_opens_with_the_same_words(
    renderer: JinjaRenderer, text: str, category: str, locale: str, schedule: str, count: int
) -> None:
    usual, said = (
        subject(renderer, events(category, each, count), schedule=schedule, locale=locale)
        for each in ("\u0416", text)
    )
    word = re.match(rf"{DIGITS}\w+", usual)
    assert word
    assert said.startswith(word[0])


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("category", ["unsubscribe", "preferences", "abbestellen"])
def test_attack_a_category_does_not_look_like_our_footer_in_the_text(
    renderer: JinjaRenderer, category: str, locale: str
) -> None:
    """In an immediate email the line stands at the margin, as our own lines do."""
    reader = replace(a_subscriber(), locale=locale)
    digest = compose(events(category, "T", 1), max_blocks=1)
    text = renderer.render(digest, reader, LINKS, IMMEDIATE).text
    own = [line for line in text.splitlines() if line.lower().startswith(f"{category}:")]
    assert all("https://" in line for line in own)
