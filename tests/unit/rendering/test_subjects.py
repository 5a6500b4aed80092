"""Subjects say what happened as people say it, and nothing that services say speaks for us."""

import re
import unicodedata
from dataclasses import replace
from datetime import timedelta
from email import message_from_bytes
from email.header import decode_header, make_header
from email.policy import default
from itertools import product
from pathlib import Path

import lxml.html
import pytest
from gazette.adapters.mail.mime import mime
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.domain.delivery.compose import compose
from gazette.domain.model import DAILY, Actor, Edition, Entity, Event, Mail
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


def events(category: str, text: str, count: int) -> list[Event]:
    """Events that say `text` wherever a service may say something."""
    return [
        Event(
            user_id="ann",
            id=f"e{number}",
            category=category,
            entity=Entity("post", "p1", text, "https://example.com/p1"),
            actor=Actor(f"a{number}", f"{text} {number}"),
            occurred_at=NOW,
            excerpt=text,
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


def bare(text: str) -> str:
    return re.sub(r"[\u2060\u2066-\u2069]", "", text)


def can_be_a_name(text: str) -> bool:
    """Return True for at most five words of letters, marks, digits and emoji."""
    words = text.split(" ")
    return len(words) <= 5 and all(
        unicodedata.category(each)[0] in "LMN"
        or unicodedata.category(each) in {"So", "Sk", "Cf"}
        or each in "'’.-‐־_·׳״\u200c\u200d"
        for each in "".join(words)
    )


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("schedule", [DAILY, "weekly", "custom", IMMEDIATE])
@pytest.mark.parametrize("text", [ATTACK, "Security: sign in", "www.evil.example", "Stop! Now"])
def test_attack_title_or_name_cannot_start_a_subject(
    renderer: JinjaRenderer, schedule: str, locale: str, text: str
) -> None:
    """Before them there is a word of ours, or a quotation mark."""
    rest = [] if schedule == IMMEDIATE else events("like", "Other", 1)
    for category, count in product([*KNOWN, "build_failed"], [1, 2, 5]):
        said = subject(
            renderer, [*events(category, text, count), *rest], schedule=schedule, locale=locale
        )
        opening = bare(said).lstrip("0123456789 ×")
        assert opening.startswith(QUOTED) or not opening.startswith(text[:6]), said


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("schedule", [DAILY, IMMEDIATE])
@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("actor", [Actor("bo", "Bo"), None])
def test_attack_category_adds_only_words_to_a_subject(
    renderer: JinjaRenderer, schedule: str, locale: str, count: int, actor: Actor | None
) -> None:
    """The developers of a service choose categories. A category has no address and no sign."""
    said = [replace(each, actor=actor) for each in events("evil_example_http_1", "Title", count)]
    shown = bare(subject(renderer, said, schedule=schedule, locale=locale))
    if schedule == DAILY:
        assert shown.startswith("Evil example http 1")
        rest = shown.removeprefix("Evil example http 1")
        assert rest[0] in " :"
    assert shown[-1] in "”“״"


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("schedule", [DAILY, IMMEDIATE])
def test_category_cannot_name_a_title_as_its_own(
    renderer: JinjaRenderer, schedule: str, locale: str
) -> None:
    """The title of the thing is in quotation marks after every category."""
    shown = bare(subject(renderer, events("deploy", ATTACK, 1), schedule=schedule, locale=locale))
    assert re.search(rf"[“„״]{ATTACK}", shown)


@pytest.mark.parametrize(
    ("category", "names", "count", "line"),
    [
        ("review_requested", ["Bo Berg"], 1, "Review requested by Bo Berg"),
        (
            "review_requested",
            ["Bo Berg", "Ann", "Cy"],
            3,
            "Review requested by Cy, Ann and Bo Berg",
        ),
        ("review_requested", list("ABCDE"), 5, "Review requested by E, D and 3 others"),
        ("review_requested", ["Bo Berg"], 3, "Review requested by Bo Berg · 3 times"),
        ("order_shipped", [], 1, "Order shipped"),
        ("order_shipped", [], 2, "Order shipped · 2 times"),
        ("task_assigned", ["Linh Nguyễn"], 1, "Task assigned by Linh Nguyễn"),
        ("deploy", ["Bo"], 1, "Deploy by Bo"),
        ("oauth2__token_4_", ["Bo"], 1, "Oauth2 token 4 by Bo"),
        ("CI_failed", [], 1, "CI failed"),
        ("σχόλιο_νέο", ["Bo"], 2, "Σχόλιο νέο by Bo · 2 times"),
        ("בנייה_נכשלה", ["Bo"], 1, "בנייה נכשלה by Bo"),
        ("c" * 32, ["Bo"], 1, "C" + "c" * 31 + " by Bo"),
    ],
)
def test_line_of_a_category_without_template_is_a_sentence(
    renderer: JinjaRenderer, category: str, names: list[str], count: int, line: str
) -> None:
    said = [
        replace(each, actor=Actor(names[place % len(names)], names[place % len(names)]))
        if names
        else replace(each, actor=None)
        for place, each in enumerate(events(category, "Title", count))
    ]
    for schedule in (DAILY, IMMEDIATE):
        made = renderer.render(compose(said, max_blocks=1), a_subscriber(), LINKS, schedule)
        assert f"{line}: “Title”" in [bare(each) for each in made.text.splitlines()]
        page = lxml.html.document_fromstring(made.html)
        [shown] = page.xpath("//h1 | //h2")[-1:]
        assert " ".join(bare(shown.text_content()).split()) == f"{line}: Title"
    [mention] = events("mention", "Other", 1)
    other = replace(mention, id="m", entity=replace(mention.entity, id="p2"))
    silent = [replace(each, excerpt="") for each in said]
    made = renderer.render(compose([*silent, other], max_blocks=2), a_subscriber(), LINKS, DAILY)
    assert f"  {line}" in [bare(each) for each in made.text.splitlines()]
    [row] = lxml.html.document_fromstring(made.html).xpath("//p[@class='row']/text()")
    assert bare(row).strip() == line


@pytest.mark.parametrize(
    ("locale", "count", "line"),
    [
        ("en", 1, "Build failed by Bo: “On CI”"),
        ("en", 2, "Build failed by Bo · 2 times: “On CI”"),
        ("de", 1, "Build failed von Bo: „On CI“"),
        ("de", 2, "Build failed von Bo · 2-mal: „On CI“"),
        ("he", 1, "Build failed מאת Bo: ״On CI״"),
        ("he", 2, "Build failed מאת Bo · פעמיים: ״On CI״"),
        ("he", 3, "Build failed מאת Bo · 3 פעמים: ״On CI״"),
    ],
)
def test_category_without_translation_is_shown_by_name_in_subjects(
    renderer: JinjaRenderer, locale: str, count: int, line: str
) -> None:
    said = [
        replace(each, actor=Actor("bo", "Bo")) for each in events("build_failed", "On CI", count)
    ]
    assert bare(subject(renderer, said, locale=locale)) == line


@pytest.mark.parametrize(
    ("locale", "category", "count", "said"),
    [
        ("en", "mention", 1, "Bo mentioned you in “Release 4.2”"),
        ("en", "mention", 3, "Bo 2 and 2 others mentioned you in “Release 4.2”"),
        ("en", "like", 40, "Bo 9 and 39 others liked “Release 4.2”"),
        ("en", "comment", 14, "14 new comments on “Release 4.2”"),
        ("en", "follow", 1, "Bo started following you"),
        ("en", "message", 1, "Bo: “Release 4.2”"),
        ("en", "article", 1, "Bo published “Release 4.2”"),
        ("de", "mention", 1, "Bo hat dich in „Release 4.2“ erwähnt"),
        ("de", "mention", 3, "Du wurdest von Bo 2 und noch 2 Personen in „Release 4.2“ erwähnt"),
        ("de", "like", 40, "Bo 9 und noch 39 Personen gefällt „Release 4.2“"),
        ("he", "mention", 1, "הוזכרת על ידי Bo ב־״Release 4.2״"),
        ("he", "comment", 2, "שתי תגובות חדשות על ״Release 4.2״"),
        ("he", "comment", 14, "14 תגובות חדשות על ״Release 4.2״"),
    ],
)
def test_subject_describes_the_event_in_natural_language(
    renderer: JinjaRenderer, locale: str, category: str, count: int, said: str
) -> None:
    theirs = [
        replace(each, actor=Actor(f"{place}", f"Bo {place}" if count > 1 else "Bo"))
        for place, each in enumerate(events(category, "Release 4.2", count))
    ]
    assert bare(subject(renderer, theirs, locale=locale)) == said


def test_subject_is_filled_up_to_sixty_characters(renderer: JinjaRenderer) -> None:
    """However long names and titles are; the title gives way first."""
    long = "A title that goes on and on about everything there is to say of it"
    said = [
        replace(each, entity=replace(each.entity, title=long), actor=Actor("bo", "Bo Bo"))
        for each in events("mention", "", 1)
    ]
    more = [replace(each, id=each.id + "m") for each in said]
    rest = [replace(each, entity=replace(each.entity, id="p2")) for each in events("like", "", 1)]
    made = subject(renderer, [*said, *more, *rest])
    assert made == "Bo Bo mentioned you in “A title that goes on and on about…” + 1 more"
    assert len(made.partition(" + ")[0]) <= 60


LETTERS = ("B", "בּ", "👨‍👩‍👧‍👦", "🇩🇪", "word ", ".")
LONG = [
    (one * count, other * times)
    for place, one in enumerate(LETTERS)
    for other in (one, LETTERS[place - 1])
    for count, times in product((1, 30, 200), repeat=2)
]
"""Names and titles: each length with each, of the same letter and of another one."""


@pytest.mark.parametrize("category", [*KNOWN, "x", "c" * 32])
@pytest.mark.parametrize("schedule", [DAILY, IMMEDIATE])
@pytest.mark.parametrize("count", [1, 3])
def test_subject_length_is_bounded_for_any_input(
    renderer: JinjaRenderer, category: str, schedule: str, count: int
) -> None:
    """And what is in quotation marks is so to its end."""
    for name, title in LONG:
        said = [
            replace(each, actor=Actor(each.id, name), entity=replace(each.entity, title=title))
            for each in events(category, "", count)
        ]
        made = bare(subject(renderer, said, schedule=schedule))
        assert len(made) <= (120 if len(category) == 32 else 90)
        assert made.count("“") == made.count("”")


@pytest.mark.parametrize(
    ("category", "one", "five"),
    [
        ("article", "Neuer Artikel: „X“", "5 neue Artikel: „X“"),
        ("comment", "Jemand hat „X“ kommentiert", "5 neue Kommentare zu „X“"),
        ("follow", "Jemand folgt dir jetzt", "5 Personen folgen dir jetzt"),
        ("like", "Jemandem gefällt „X“", "5 neue Gefällt-mir-Angaben zu „X“"),
        ("mention", "Jemand hat dich in „X“ erwähnt", "Du wurdest 5-mal in „X“ erwähnt"),
        ("message", "Neue Nachricht: „X“", "5 neue Nachrichten: „X“"),
        ("reply", "Jemand hat in „X“ geantwortet", "5 neue Antworten in „X“"),
    ],
)
def test_german_someone_uses_the_correct_case(
    renderer: JinjaRenderer, category: str, one: str, five: str
) -> None:
    for count, said in ((1, one), (5, five)):
        nobody = [replace(each, actor=None) for each in events(category, "X", count)]
        assert subject(renderer, nobody, locale="de") == said


@pytest.mark.parametrize("locale", LOCALES)
def test_subject_of_an_event_without_actor_is_singular(
    renderer: JinjaRenderer, locale: str
) -> None:
    """Not of several, as where the number of people is 0 in the rule of a plural."""
    for category in ("mention", "like", "follow"):
        [event] = events(category, "Release", 1)
        nobody, nameless = (
            subject(renderer, [replace(event, actor=actor)], locale=locale)
            for actor in (None, Actor("bo", "\u200b"))
        )
        assert nobody == nameless


@pytest.mark.parametrize("sign", ["👨‍👩‍👧‍👦", "🇩🇪", "👍🏽", "e\u0301\u0302", "❤️"])
@pytest.mark.parametrize("before", range(12))
def test_truncated_subject_does_not_split_graphemes(
    renderer: JinjaRenderer, sign: str, before: int
) -> None:
    """An emoji of several code points, a flag of two letters, a letter with its marks."""
    title = "A" * (28 + before) + sign * 20
    for schedule in (DAILY, IMMEDIATE):
        made = bare(subject(renderer, events("mention", title, 1), schedule=schedule))
        whole = re.search("A(?:" + sign + ")*…", made)
        assert whole, ascii(made)


@given(
    st.lists(
        st.tuples(st.sampled_from(KNOWN), st.sampled_from("ab"), st.integers(1, 2)),
        min_size=1,
        max_size=4,
    ),
    st.integers(0, 400),
    st.sampled_from(LOCALES),
    st.sampled_from(["UTC", "Pacific/Kiritimati", "America/New_York"]),
)
@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_digests_of_different_days_have_different_subjects(
    renderer: JinjaRenderer,
    groups: list[tuple[str, str, int]],
    days: int,
    locale: str,
    zone: str,
) -> None:
    """Not even where the same people did the same again: the day is in it."""
    said = [
        replace(each, id=f"{place}.{each.id}", entity=replace(each.entity, id=entity))
        for place, (category, entity, count) in enumerate(groups)
        for each in events(category, "T", count)
    ]
    reader = replace(a_subscriber(), locale=locale, time_zone=zone)
    digest = compose(said, max_blocks=20)
    first = NOW + timedelta(days=days)
    one, other = (
        renderer.render(digest, reader, LINKS, DAILY, due_at=due_at).subject
        for due_at in (first, first + timedelta(days=1))
    )
    assert one != other


@pytest.mark.parametrize("category", [*KNOWN, "build_failed"])
@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("schedule", [DAILY, IMMEDIATE])
def test_preheader_does_not_repeat_the_subject(
    renderer: JinjaRenderer, category: str, locale: str, schedule: str
) -> None:
    reader = replace(a_subscriber(), locale=locale)
    for count, text in product([1, 2, 5], ["T", ""]):
        said = [replace(each, excerpt=text) for each in events(category, "T", count)]
        made = renderer.render(compose(said, max_blocks=20), reader, LINKS, schedule)
        page = lxml.html.document_fromstring(made.html)
        preheader = " ".join(page.xpath("string(//*[@class='preheader'])").split())
        assert preheader.strip("\u200c\u034f\u00ad ")
        assert bare(preheader) != bare(made.subject)


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
def test_attack_subject_always_starts_with_a_name_or_fixed_text(
    renderer: JinjaRenderer, text: str, category: str, locale: str, schedule: str, count: int
) -> None:
    said = bare(subject(renderer, events(category, text, count), schedule=schedule, locale=locale))
    name = " ".join(bare(text).split())
    if len(name) > 3 and said.startswith(name):
        assert can_be_a_name(name), said


@pytest.mark.parametrize("schedule", [DAILY, IMMEDIATE])
@pytest.mark.parametrize(
    "title",
    [
        "=?utf-8?q?=0D=0AX-A:_b?=",
        "=?UTF-8?B?4oCuAA==?=",
        "=?utf-8?q?=E2=80=AEevil?= =?utf-8?q?=00?=",
        "\u202eevil\u2066\0",
    ],
)
def test_attack_subject_contains_no_decodable_encoded_words(
    renderer: JinjaRenderer, title: str, schedule: str
) -> None:
    said = subject(renderer, events("comment", title, 1), schedule=schedule)
    assert str(make_header(decode_header(said))) == said
    assert default.header_factory("Subject", said) == said
    sent = mime(Mail("ann@example.com", Edition(said, "", ""), (), ()), sender="a@example.com")
    assert message_from_bytes(sent.as_bytes(), policy=default)["Subject"] == said
    assert not re.search("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066\u2067]", said)


@pytest.mark.parametrize("title", ["1+1=?", "a =? b ?=", "Why?q?", "=?=", "x=?y?z?"])
def test_question_in_a_title_is_kept_unchanged(renderer: JinjaRenderer, title: str) -> None:
    assert title in subject(renderer, events("comment", title, 1))


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("category", ["unsubscribe", "preferences", "abbestellen"])
def test_attack_category_cannot_imitate_the_text_footer(
    renderer: JinjaRenderer, category: str, locale: str
) -> None:
    """In an immediate email the line stands at the margin, as our own lines do."""
    reader = replace(a_subscriber(), locale=locale)
    digest = compose(events(category, "T", 1), max_blocks=1)
    text = renderer.render(digest, reader, LINKS, IMMEDIATE).text
    own = [line for line in text.splitlines() if line.lower().startswith(f"{category}:")]
    assert all("https://" in line for line in own)
