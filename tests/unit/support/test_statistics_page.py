"""A report as a page: it needs nothing else, and shows what the terminal shows."""

import re
from dataclasses import replace
from datetime import timedelta

import pytest
from gazette.domain.feedback.delivery_events import EngagementEvent
from gazette.domain.feedback.experiment import Variant
from lxml import etree
from lxml.html import HtmlElement, HTMLParser, document_fromstring

from gazette_cli.statistics.page import page
from gazette_cli.statistics.periods import Span
from gazette_cli.statistics.summary import Answer, answer
from tests.builders import NOW
from tests.unit.support.test_statistics import an_email, reported

DELIVERED, CLICKED = EngagementEvent.DELIVERED, EngagementEvent.CLICKED
SPAN = Span("Experiment new, since 2026-11-19 07:03 and still running (UTC)", NOW, NOW)
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


def test_statistics_page_loads_no_resources_and_runs_no_scripts() -> None:
    text = page(an_answer(), made_at=NOW)
    root = parsed(an_answer())
    assert not re.search(r"https?:|//|@import|url\(", text)
    assert list(root.iter("script", "link", "img", "image", "use", "iframe", "object")) == []
    named = {name for each in root.iter() for name in each.attrib}
    assert {name for name in named if name in LOADS or name.startswith("on")} == set()
    (policy,) = root.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    assert policy == "default-src 'none'; style-src 'unsafe-inline'"


def test_every_statistics_page_element_is_closed() -> None:
    """Read as XML it has no mistakes, once what has no end in HTML is given one."""
    text = page(an_answer(), made_at=NOW)
    closed = re.sub(r"<(meta[^>]*)>", r"<\1/>", text.removeprefix("<!DOCTYPE html>"))
    etree.fromstring(closed)


def test_statistics_page_declares_its_language_and_subject() -> None:
    root = parsed(an_answer())
    assert root.get("lang") == "en"
    assert root.findtext(".//title") == root.findtext(".//h1") == SPAN.title


def test_tables_have_captions_and_headers_with_scope() -> None:
    tables = parsed(an_answer()).findall(".//table")
    assert len(tables) == 2
    for table in tables:
        assert table.findtext("caption")
        width = len(table.find("thead/tr"))
        assert {each.get("scope") for each in table.iterfind("thead//th")} == {"col"}
        for row in table.iterfind("tbody/tr"):
            (header,) = row.iterfind("th")
            if header.get("scope") == "rowgroup":
                assert header.get("colspan") == str(width)
            else:
                assert (header.get("scope"), len(row)) == ("row", width)


def test_all_email_groups_share_a_table_and_columns() -> None:
    emails = parsed(an_answer()).findall(".//table")[-1]
    groups = [each.text for each in emails.iterfind(".//th[@scope='rowgroup']")]
    assert groups == ["by frequency", "by category", "by locale", "by variation", "by templates"]


def test_each_plot_has_its_values_as_text() -> None:
    """So the drawing says nothing to those who cannot see it that they have not heard."""
    figures = parsed(an_answer()).findall(".//figure")
    assert len(figures) == 1 + 3
    for figure in figures:
        assert figure.findtext("figcaption")
        for row in figure.iterfind("ul/li"):
            assert re.search(r"\d", row.text_content())
            (drawn,) = row.iterfind("svg")
            assert drawn.get("aria-hidden") == "true"
            assert not drawn.text_content().strip()
    assert "percentage points more readers clicked" in figures[0].text_content()


def test_all_intervals_share_a_labelled_scale() -> None:
    figure = parsed(an_answer()).find(".//figure")
    labels = [(each.text, each.get("style")) for each in figure.iter("i")]
    assert [text for text, _ in labels] == ["−30", "−20", "−10", "0", "+10", "+20", "+30"]
    places = [f"left: {place}" for place in figure.xpath("(.//svg)[1]/line/@x1")[:-1]]
    assert places == [style for _, style in labels]
    found = []
    for drawn in figure.iter("svg"):
        *grid, interval = drawn.iterfind("line")
        assert [f"left: {line.get('x1')}" for line in grid] == places
        found.append((interval.get("class"), interval.get("x1"), interval.get("x2")))
    assert found[0] == ("interval shown", "59.87%", "84.29%")
    assert found[1] == found[2] == ("interval", "47.11%", "52.89%")


def test_statistics_page_shows_key_figures_first() -> None:
    tiles = parsed(an_answer()).xpath("//dl/div")
    told = [[each.text for each in tile] for tile in tiles]
    assert told == [
        ["readers", "400", "in 2 variations"],
        ["emails sent", "400"],
        ["delivered", "100.0%", "400 emails"],
        ["clicked", "21.8%", "87 emails"],
        ["unsubscribed", "0.0%", "0 emails"],
        ["complained", "0.0%", "0 emails"],
    ]


def test_compared_bars_share_a_scale() -> None:
    figures = parsed(an_answer()).findall(".//figure")[2:]
    bars = {
        row.find("span/span").text: row.xpath(".//rect[@class='mark']/@width")[0]
        for figure in figures
        for row in figure.iter("li")
    }
    assert bars == {"he": "75.19%", "en": "74.63%", "new 1": "50.00%", "new 2": "100.00%"}


def test_deciding_figure_is_first_and_highlighted() -> None:
    root = parsed(an_answer())
    (first,) = root.iterfind(".//strong")
    assert first.text == "Variation 2 wins: +6.4 to +22.4 points"
    assert root.xpath("//strong/following::dl")
    outcomes = [each.text for each in root.findall(".//figure")[0].iter("b")]
    assert outcomes == ["clicked", "unsubscribed", "complained"]


def test_statistics_page_escapes_external_input() -> None:
    emails = [an_email(locale="<b>&amp;"), an_email(locale="en", number=2)]
    span = replace(SPAN, title="</title><script>alert(1)</script>", arm_of=None)
    root = parsed(answer(span, reported(emails)))
    assert list(root.iter("script", "b")) == []
    assert "<b>&amp;" in root.xpath("//tbody//th/text()")


def test_empty_columns_are_omitted_and_named() -> None:
    """What was not tracked apart from what was, and of which there was none."""
    root = parsed(answer(replace(SPAN, arm_of=None), reported([an_email(DELIVERED)])))
    assert [each.text for each in root.iterfind(".//thead//th")] == ["emails", "sent", "delivered"]
    notes = [each.text for each in root.find_class("notes")[0]]
    assert notes[0].startswith(
        "Not in the table because they are zero: bounced, complained, unsubscribed"
    )
    assert "opened" not in notes[0]
    assert notes[-1].startswith("Not tracked. A stage tracks opened and clicked emails only")
    assert "–" not in root.text_content()


@pytest.mark.parametrize("emails", [[], [an_email()]])
def test_statistics_page_renders_with_little_or_no_data(emails: list[object]) -> None:
    root = parsed(answer(replace(SPAN, arm_of=None), reported(emails)))  # type: ignore[arg-type]
    assert ("No delivery events yet." in root.text_content()) is not bool(emails)
