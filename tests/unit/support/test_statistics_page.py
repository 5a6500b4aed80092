"""A report as a page: it needs nothing else, and shows what the terminal shows."""

import re
from dataclasses import replace
from datetime import timedelta

import pytest
from gazette.domain.feedback.delivery_events import EngagementEvent
from gazette.domain.feedback.experiment import Variant
from lxml import etree
from lxml.html import HtmlElement, HTMLParser, document_fromstring

from cli.statistics.page import page
from cli.statistics.periods import Span
from cli.statistics.summary import Answer, answer
from tests.builders import NOW
from tests.unit.support.test_statistics import an_email, reported

DELIVERED, CLICKED = EngagementEvent.DELIVERED, EngagementEvent.CLICKED
SPAN = Span("Experiment new, since 2026-11-19 07:03 and still runs (UTC)", NOW, NOW, "new")
LOADS = ("src", "srcset", "href", "xlink:href", "data", "action", "poster", "background")


def an_answer() -> Answer:
    """Of an experiment with two variations, in two locales."""
    emails = [
        an_email(
            CLICKED if number % 7 < variation else DELIVERED,
            reader=f"{variation} {number}",
            variant=Variant(variation, "new"),
            locale="he" if number % 3 else "en",
        )
        for variation in (1, 2)
        for number in range(200)
    ]
    return answer(SPAN, reported(emails, "new"))


def parsed(given: Answer) -> HtmlElement:
    """As a browser reads it."""
    text = page(given, made_at=NOW + timedelta(hours=1))
    return document_fromstring(text.encode(), parser=HTMLParser(encoding="utf-8"))


def test_it_loads_nothing_and_runs_nothing() -> None:
    text = page(an_answer(), made_at=NOW)
    root = parsed(an_answer())
    assert not re.search(r"https?:|//|@import|url\(", text)
    assert list(root.iter("script", "link", "img", "image", "use", "iframe", "object")) == []
    named = {name for each in root.iter() for name in each.attrib}
    assert {name for name in named if name in LOADS or name.startswith("on")} == set()
    (policy,) = root.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    assert policy == "default-src 'none'; style-src 'unsafe-inline'"


def test_every_element_is_closed() -> None:
    """Read as XML it has no mistakes, once what has no end in HTML is given one."""
    text = page(an_answer(), made_at=NOW)
    closed = re.sub(r"<(meta[^>]*)>", r"<\1/>", text.removeprefix("<!DOCTYPE html>"))
    etree.fromstring(closed)


def test_it_says_its_language_and_what_it_is_of() -> None:
    root = parsed(an_answer())
    assert root.get("lang") == "en"
    assert root.findtext(".//title") == root.findtext(".//h1") == SPAN.title


def test_each_table_has_a_caption_and_its_headers_say_of_what_they_are() -> None:
    tables = parsed(an_answer()).findall(".//table")
    assert len(tables) == 6
    for table in tables:
        assert table.findtext("caption")
        assert {each.get("scope") for each in table.iterfind("thead//th")} == {"col"}
        for row in table.iterfind("tbody/tr"):
            assert [each.get("scope") for each in row.iterfind("th")] == ["row"]
            assert len(row) == len(table.find("thead/tr"))


def test_what_a_plot_draws_stands_beside_it_as_text() -> None:
    """So the drawing says nothing to those who cannot see it that they have not heard."""
    figures = parsed(an_answer()).findall(".//figure")
    assert len(figures) == 3 + 3
    for figure in figures:
        assert figure.findtext("figcaption")
        for row in figure.iterfind("ul/li"):
            assert re.search(r"\d", row.text_content())
            (drawn,) = row.iterfind("svg")
            assert drawn.get("aria-hidden") == "true"
            assert not drawn.text_content().strip()
    assert "percentage points more readers clicked" in figures[0].text_content()


def test_what_decides_comes_first_and_stands_out() -> None:
    root = parsed(an_answer())
    (first,) = root.iterfind(".//strong")
    assert first.text.startswith("clicked: variation 2 against 1: ")
    assert len(root.findall("body/main/ul/li")) == 3


def test_what_comes_from_outside_is_text() -> None:
    emails = [an_email(locale="<b>&amp;"), an_email(locale="en", number=2)]
    span = replace(SPAN, title="</title><script>alert(1)</script>", experiment="")
    root = parsed(answer(span, reported(emails)))
    assert list(root.iter("script", "b")) == []
    assert "<b>&amp;" in root.xpath("//tbody//th/text()")


def test_what_was_not_tracked_is_a_dash() -> None:
    root = parsed(answer(replace(SPAN, experiment=""), reported([an_email(DELIVERED)])))
    header, cells = root.findall(".//table")[0].iterfind(".//tr")
    row = dict(
        zip((each.text for each in header), (each.text.strip() for each in cells), strict=True)
    )
    assert (row["opened"], row["clicked"], row["complained"]) == ("–", "–", "0")


@pytest.mark.parametrize("emails", [[], [an_email()]])
def test_little_or_nothing_makes_a_page_too(emails: list[object]) -> None:
    root = parsed(answer(replace(SPAN, experiment=""), reported(emails)))  # type: ignore[arg-type]
    assert ("Nothing was reported of any." in root.text_content()) is not bool(emails)
