"""Whatever a service puts, an email stays an email: nothing breaks out, and it is not too long."""

import re
from dataclasses import replace
from typing import Any

import lxml.html
import pytest
from gazette.adapters.rendering.renderer import LONGEST_HTML, JinjaRenderer
from gazette.adapters.rendering.texts import one_line, person, subject_line
from gazette.domain.delivery.compose import compose
from gazette.domain.errors import RenderingFailed
from gazette.domain.links import LONGEST_URL, is_web_link
from gazette.domain.model import DAILY, Actor, Edition, Entity, Event, Image
from gazette.domain.scheduling.kinds import immediate_schedule
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.builders import LINKS, NOW, a_subscriber, an_event

IMMEDIATE = immediate_schedule("post#p1")
PIECES = [
    "<script>alert(1)</script>",
    "</td></table></body>",
    "<!--",
    "]]>",
    "\"'><img src=x onerror=alert(1)>",
    "{{ 7*7 }}{% raw %}",
    "%(brand)s %s",
    "&lt;b&gt;",
    "\u202egnp.exe\u202c",
    "\u2066\u2067\u2068",
    "\u2069\u2069",
    "נועה",
    "مرحبا",
    "\r\nBcc: everybody@example.com",
    "\nList-Unsubscribe: <https://evil.example>",
    "\x00\x07\x1b[31m",
    "Z̷̧̢̛a̵l̶g̸o̷" * 20,
    "👩‍👩‍👧‍👦",
    "\ufeff\u200b\U000e0041",
    "x" * 5000,
]
TEXTS = st.one_of(
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=4).map("".join),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60),
)
CATEGORIES = st.sampled_from(["comment", "like", "mention", "build_failed", "other"])
LOCALES = st.sampled_from(["en", "de", "he", "en-US", "fa", "xx"])
PICTURES = st.sampled_from(
    ["", "https://p.example/?a=1&b='2'", 'https://p.example/"onerror="x', "javascript:alert(1)"]
)
HOSTILE = st.builds(
    lambda group, title, name, excerpt, category, picture: Event(
        user_id="ann",
        id=f"{group}{title}{name}"[:100],
        category=category,
        entity=Entity(
            "post",
            str(group),
            title,
            f"https://example.com/{group}?a=1&b='2'",
            Image(picture, name) if picture else None,
        ),
        actor=Actor(name, name, avatar=picture),
        occurred_at=NOW,
        excerpt=excerpt,
    ),
    st.integers(0, 30),
    TEXTS,
    TEXTS,
    st.one_of(st.just(""), TEXTS),
    CATEGORIES,
    PICTURES,
)
FEW = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def edition(
    renderer: JinjaRenderer,
    events: list[Event],
    *,
    schedule: str = DAILY,
    locale: str = "en",
    name: str = "Ann",
) -> Edition:
    subscriber = replace(a_subscriber(), locale=locale, name=name)
    return renderer.render(compose(events, max_blocks=20), subscriber, LINKS, schedule)


def parsed(made: Edition) -> Any:
    return lxml.html.document_fromstring(made.html)


ELEMENTS = {
    *("html", "head", "meta", "title", "style", "body", "div", "table", "tr", "td", "tbody"),
    *("h1", "h2", "p", "blockquote", "a", "b", "span", "img"),
}
ATTRIBUTES = {
    *("lang", "dir", "charset", "name", "content", "style", "class", "role", "width", "align"),
    *("cellpadding", "cellspacing", "border", "bgcolor", "href", "aria-label"),
    *("aria-hidden", "valign", "height", "src", "alt"),
}


@given(
    st.lists(HOSTILE, min_size=1, max_size=12, unique_by=lambda event: event.id),
    TEXTS,
    LOCALES,
    st.sampled_from([DAILY, "weekly", "custom", IMMEDIATE]),
)
@FEW
def test_attack_input_cannot_inject_markup_into_an_email(
    renderer: JinjaRenderer, events: list[Event], reader: str, locale: str, schedule: str
) -> None:
    made = edition(renderer, events, schedule=schedule, locale=locale, name=reader)
    page = parsed(made)
    elements = [element for element in page.iter() if isinstance(element.tag, str)]
    assert {element.tag for element in elements} <= ELEMENTS
    assert {key for element in elements for key in element.attrib} <= ATTRIBUTES
    comments = [element.text for element in page.iter() if not isinstance(element.tag, str)]
    assert all("mso" in text for text in comments)
    own = {LINKS.unsubscribe, LINKS.preferences, LINKS.email, LINKS.updates}
    links = {str(link).partition("#")[0] for link in page.xpath("//@href")}
    assert links <= own | {event.entity.url for event in events}
    assert set(page.xpath("//@src")) <= {"https://p.example/?a=1&b='2'"}
    assert len(made.subject.splitlines()) == 1
    assert len(made.subject) <= 200
    for part in (made.subject, made.text, made.html):
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e]", part)
        for line in part.splitlines():
            assert is_balanced(line), ascii(line)
    assert len(made.html.encode()) <= LONGEST_HTML


def is_balanced(line: str) -> bool:
    """Return True if every isolate in the line is closed, and no other one is."""
    depth = 0
    for each in line:
        depth += (each in "\u2066\u2067\u2068") - (each == "\u2069")
        if depth < 0:
            return False
    return depth == 0


def unquoted(text: str) -> str:
    """Return `text` without the quotation marks and isolates of titles in the text part."""
    return re.sub("[\u2066-\u2069“”„״\"']", "", text)


def blocks_of_html(made: Edition) -> list[tuple[str, list[str]]]:
    """The link and the sentences of each block, as the HTML has them, without the times of rows."""
    page = parsed(made)
    blocks = page.xpath("//table[@class='item']") or page.xpath("//td[@class='cell']")
    for time in page.xpath("//span[@class='when']"):
        time.getparent().remove(time)
    links = [block.xpath(".//a[@class='title' or @class='open']/@href") for block in blocks]
    lines = [block.xpath(".//h1 | .//h2 | .//p[@class='line' or @class='row']") for block in blocks]
    return [
        (of_block[0], [line.text_content() for line in said])
        for of_block, said in zip(links, lines, strict=True)
    ]


@given(
    st.lists(HOSTILE, min_size=1, max_size=40, unique_by=lambda event: event.id),
    LOCALES,
    st.sampled_from([DAILY, IMMEDIATE]),
)
@FEW
def test_text_and_html_show_the_same_blocks_and_lines(
    renderer: JinjaRenderer, events: list[Event], locale: str, schedule: str
) -> None:
    made = edition(renderer, events, locale=locale, schedule=schedule)
    blocks = blocks_of_html(made)
    assert blocks
    rest = unquoted(made.text)
    for link, lines in blocks:
        for line in lines:
            # If the title is the link, the text part has the link only once, below the lines.
            text = line.strip().removesuffix(f": {link}")
            if not unquoted(text):  # a title of quotation marks alone
                assert text in made.text
                continue
            _, found, rest = rest.partition(unquoted(text))
            assert found
        _, found, rest = rest.partition(unquoted(f"  {link}\n"))
        assert found
    assert not re.search(r"^  https?://", rest, re.MULTILINE)
    page = parsed(made)
    greeting = "//td[@class='greeting']"
    headings = f"{greeting}/h1 | {greeting}/p[@class='counts'] | //h2[@class='section']"
    for said in page.xpath(f"{headings} | //td[@class='more']/text()"):
        words = said if isinstance(said, str) else said.text_content()
        assert " ".join(words.split()) in made.text


def a_long_one(group: int, character: str) -> Event:
    return replace(
        an_event(f"e{group}", entity_id=f"post{group}"),
        entity=Entity(
            "post",
            str(group),
            character * 200,
            "https://e.com/" + "&" * 980,
            Image("https://e.com/" + "a" * 980, character * 200),
        ),
        actor=Actor("bo", character * 200, avatar="https://e.com/" + "a" * 980),
        excerpt=character * 500,
    )


@given(
    st.sampled_from(["a", "<", "'", "&", '"', "\N{GRINNING FACE}", "\u0590", "\u6f22"]),
    st.integers(1, 40),
    LOCALES,
)
@example("'", 40, "he")
@FEW
def test_email_stays_within_the_size_limit_and_counts_omissions(
    renderer: JinjaRenderer, character: str, groups: int, locale: str
) -> None:
    events = [a_long_one(group, character) for group in range(groups)]
    made = edition(renderer, events, locale=locale)
    assert len(made.html.encode()) <= LONGEST_HTML
    shown = len(blocks_of_html(made))
    assert shown == min(groups, 20) or len(made.html.encode()) > LONGEST_HTML - 20_000
    page = parsed(made)
    said = " ".join(page.xpath("string(//td[@class='more'])").split())
    left_out = groups - shown
    assert bool(said) == bool(left_out)
    assert left_out < 3 or str(left_out) in said


def test_last_groups_are_dropped_until_the_email_fits(renderer: JinjaRenderer) -> None:
    made = edition(renderer, [a_long_one(group, "'") for group in range(30)])
    assert 70_000 < len(made.html.encode()) <= LONGEST_HTML
    shown = len(blocks_of_html(made))
    assert 3 < shown < 20
    assert f"And {30 - shown} more updates" in made.text


@pytest.mark.parametrize(
    ("schedule", "field"),
    [
        *((DAILY, field) for field in ("title", "name", "excerpt", "reader")),
        *((IMMEDIATE, field) for field in ("title", "name", "excerpt")),
    ],
)
def test_ten_megabytes_of_input_are_truncated(
    renderer: JinjaRenderer, field: str, schedule: str
) -> None:
    huge = "long words " * 1_000_000
    given = {"title": "T", "name": "Bo", "excerpt": "x", "reader": "Ann", field: huge}
    event = replace(
        an_event(excerpt=given["excerpt"]),
        entity=Entity("post", "1", given["title"], "https://example.com/"),
        actor=Actor("bo", given["name"]),
    )
    made = edition(renderer, [event], schedule=schedule, name=given["reader"])
    assert len(made.html) < 10_000
    assert "…" in made.html or field == "reader"
    assert "…" in made.text or field == "reader"


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "data:text/html,x",
        "//evil.example/",
        "/relative",
        "https:evil",
        "https:///x",
        "https://example.com/\nx",
        "https://example.com/ x",
        'https://example.com/"onclick="x',
        "https://example.com/<script>",
        "https://exämple.com/",
        "",
        "https://example.com/" + "u" * LONGEST_URL,
    ],
)
def test_attack_non_web_link_fails_the_rendering(renderer: JinjaRenderer, url: str) -> None:
    event = replace(an_event(), entity=Entity("post", "1", "T", url))
    with pytest.raises(RenderingFailed, match=r"not an http\(s\) URL"):
        edition(renderer, [event])


@given(st.text(max_size=30))
def test_only_http_and_https_urls_become_links(text: str) -> None:
    assert not is_web_link(text) or re.match(r"https?://", text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("  two \n words ", "two words"),
        ("\u202eevil\u202c", "evil"),
        ("\ufeff\u200b", ""),
        ("abcdef", "abcd…"),
        ("abc def", "abc…"),
    ],
)
def test_single_line_text_keeps_only_visible_characters(text: str, shown: str) -> None:
    assert one_line(text, 5 if len(shown) < 6 else 20) == shown


@pytest.mark.parametrize(
    "name", ["\u200b", "\u3164", "\u2800", "\xad \xad", "\u200d", "\u200e", "\ufe0f", "\u034f"]
)
def test_actor_without_a_visible_name_is_called_someone(renderer: JinjaRenderer, name: str) -> None:
    event = replace(an_event(), actor=Actor("bo", name))
    assert edition(renderer, [event]).subject == "Someone commented on “Title of post1”"
    german = edition(renderer, [event], locale="de").subject
    assert german == "Jemand hat „Title of post1“ kommentiert"


@pytest.mark.parametrize("name", ["\N{GRINNING FACE}", "·", "7", "\U0001fae9", "\ue000", "e\u0301"])
def test_actor_name_without_letters_is_kept(renderer: JinjaRenderer, name: str) -> None:
    event = replace(an_event(), actor=Actor("bo", name))
    shown = name if name == "e\u0301" else f"“{name}”"
    assert edition(renderer, [event]).subject == f"{shown} commented on “Title of post1”"


@pytest.mark.parametrize("title", ["\u2066", "\u3164\u200d"])
def test_entity_without_a_visible_title_is_named_by_its_link(
    renderer: JinjaRenderer, title: str
) -> None:
    event = replace(an_event(), entity=Entity("post", "1", title, "https://example.com/1"))
    other = an_event("other", entity_id="other")
    links = parsed(edition(renderer, [event, other])).xpath("//a[@class='title']")
    assert "https://example.com/1" in [link.text_content() for link in links]


def test_subject_isolates_text_of_the_opposite_direction(renderer: JinjaRenderer) -> None:
    event = replace(
        an_event(),
        actor=Actor("bo", "נועה"),
        entity=Entity("post", "1", "שלום", "https://example.com/1"),
    )
    made = edition(renderer, [event], schedule=IMMEDIATE)
    assert made.subject == "New comments on “\u2068שלום\u2069”"
    assert edition(renderer, [event]).subject == (
        "\u2068נועה\u2069 commented on “\u2068שלום\u2069”"
    )


def test_truncated_subject_closes_its_direction_isolates() -> None:
    """Whatever an adopter's template makes of a title; ours is short."""
    made = subject_line(f"New: “\u2068{'ש' * 300}\u2069”", 200)
    assert made.endswith("ש…\u2069")
    assert len(made) == 200


@pytest.mark.parametrize(
    "title", ["Unsubscribe from all: https://evil.example", "Pause: https://evil.example", "-- "]
)
def test_attack_title_cannot_imitate_the_text_footer(renderer: JinjaRenderer, title: str) -> None:
    """Our own lines begin at the margin, and what services say in quotes or behind a space."""
    event = an_event(excerpt=f"a\n{title}")
    event = replace(event, entity=replace(event.entity, title=title))
    for schedule in (DAILY, IMMEDIATE):
        text = edition(renderer, [event], schedule=schedule).text
        assert title.strip() in text
        assert not re.search(rf"^{re.escape(title.strip())}", text, re.MULTILINE)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("bo@example.com", "bo@\u2060example.\u2060com"),
        ("http://evil.example", "http:\u2060//evil.\u2060example"),
        ("www.evil.example", "www.\u2060evil.\u2060example"),
        ("J. R. R. Tolkien", "J. R. R. Tolkien"),
        ("Bo: the one", "Bo: the one"),
        ("evil\u2060.example", "evil.\u2060example"),
    ],
)
def test_attack_mail_clients_do_not_autolink_names(
    renderer: JinjaRenderer, name: str, shown: str
) -> None:
    assert person(name, 80) == shown
    made = edition(renderer, [an_event(actor=name)], name=name)
    for part in (made.html, made.text):
        assert part.count(shown) >= 2, "in the greeting, and in the line"
    assert "\u2060" not in made.subject


@given(st.text("ab \n\t", max_size=20))
def test_whitespace_in_a_line_is_collapsed(text: str) -> None:
    assert one_line(text, 20) == " ".join(text.split())
