"""The page of a replay: it needs nothing else, leads nowhere, and shows what was found."""

import re
from dataclasses import replace
from datetime import timedelta

import pytest
from gazette.adapters.rendering.renderer import LONGEST_HTML
from gazette.domain.delivery.arrangement import DEFAULT
from gazette.domain.delivery.run import Run, Status
from gazette.domain.model import DAILY, Edition, RunKey
from gazette.domain.templates.versions import DEPLOYED, Version
from lxml import etree
from lxml.html import HtmlElement, HTMLParser, document_fromstring

from gazette_cli.replay.comparison import WHOLE, Compared, Comparison, Problem, Seen
from gazette_cli.replay.page import page
from gazette_cli.replay.side_by_side import without_links
from gazette_support.domain.replay import BlockShown, Change, Missing, Rendition
from gazette_support.steps.replay import Side
from tests.builders import NOW, a_run, a_window, an_event
from tests.fakes import FakeRenderer

HOSTILE = "</title></iframe><script>alert(1)</script>\"'><img src=x onerror=alert(1)>"
LINK = "https://links.shop.example/unsubscribe/token-of-nobody"
EMAIL = (
    '<!DOCTYPE html><html lang="en"><head><title>News</title></head><body>'
    f'<p>{{text}}</p><a title="a > b" class="x" href="{LINK}">leave</a> <A HREF=\'{LINK}\'>more</A>'
    '<img src="https://pictures.shop.example/1.png" alt="face"></body></html>'
)
BLOCKS = (
    BlockShown("post#1", "One", ("comment", "like")),
    BlockShown("post#2", "Two", ("like",)),
    BlockShown("post#3", "Three", ("like",)),
)
SIDE = Side(renderer=FakeRenderer(), max_blocks=20, arrangement=DEFAULT)
A_VERSION = Version(7, "7" * 64)
SUBJECT_ONLY = frozenset({Change.SUBJECT})


def a_rendition(subject: str = "News", text: str = "first", blocks: int = 3) -> Rendition:
    edition = Edition(subject, EMAIL.format(text=text), f"{text}\nsecond\n", ("like",), blocks)
    return Rendition(edition, BLOCKS[:blocks], left_out=3 - blocks)


def a_sent_run(user_id: str = "ann") -> Run:
    key = RunKey(user_id, DAILY, 1)
    return replace(a_run(), key=key, status=Status.SENT, window=a_window(), sent_at=NOW)


def seen(rendition: Rendition, *problems: Problem) -> Seen:
    edition = rendition.edition
    return Seen(
        subject=edition.subject if edition else "",
        preheader="behind" if edition else "",
        html_bytes=rendition.html_bytes,
        text_bytes=0,
        blocks=tuple(block.title for block in rendition.blocks),
        left_out=rendition.left_out,
        problems=problems,
    )


def add(
    comparison: Comparison,
    was: Rendition,
    now: Rendition,
    changes: frozenset[Change] = SUBJECT_ONLY,
    *problems: Problem,
    user_id: str = "ann",
    same_categories: bool = True,
    version: Version = DEPLOYED,
) -> Comparison:
    run = a_sent_run(user_id)
    sides = seen(was), seen(now, *problems)
    comparison.versions[version] = SIDE
    comparison.add(Compared(run, version, 1, changes, same_categories, *sides), was, now)
    return comparison


def drawn(comparison: Comparison) -> str:
    return page(
        comparison,
        title="What changes",
        before="as prod works now",
        after="version 7",
        settings=[("max_blocks", "20", "1")],
        notes=["Read 16 of 16 parts."],
        made_at=NOW + timedelta(hours=1),
    )


def parsed(text: str) -> HtmlElement:
    """As a browser reads it."""
    return document_fromstring(text.encode(), parser=HTMLParser(encoding="utf-8"))


def frames(text: str) -> dict[str, str]:
    """The emails of the page, by the title of their frame."""
    return {each.get("title"): each.get("srcdoc") for each in parsed(text).iter("iframe")}


def words(element: HtmlElement) -> str:
    return " ".join(" ".join(element.itertext()).split())


def one_changed() -> Comparison:
    return add(Comparison(), a_rendition(), a_rendition("Other", "changed"))


def test_replay_page_loads_no_resources_and_runs_no_scripts() -> None:
    text = drawn(one_changed())
    root = parsed(text)
    assert list(root.iter("script", "link", "img", "object", "embed", "base", "form")) == []
    named = {name for each in root.iter() for name in each.attrib}
    assert not {name for name in named if name in {"src", "href"} or name.startswith("on")}
    (policy,) = root.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    assert policy == "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def test_each_email_is_in_a_frame_without_permissions() -> None:
    root = parsed(drawn(one_changed()))
    assert [each.get("sandbox") for each in root.iter("iframe")] == ["", ""]


def test_email_links_are_disabled_in_the_replay_page() -> None:
    text = drawn(one_changed())
    assert len(frames(text)) == 2
    for html in frames(text).values():
        assert {each.get("href") for each in parsed(html).iter("a")} == {"#"}
    assert "token-of-nobody" not in text


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ('<a href="x">', '<a href="#">'),
        ("<a href='x'>", '<a href="#">'),
        ("<a href=x>", '<a href="#">'),
        ("<A\nclass='b'\nHREF = \"x\" id='c'>", "<A\nclass='b'\nHREF = \"#\" id='c'>"),
        ('<a title=">" href="x">', '<a title=">" href="#">'),
        ('<area href="x">', '<area href="#">'),
        ('<p title="a href=x">', '<p title="a href=x">'),
        ("<abbr>href=x</abbr>", "<abbr>href=x</abbr>"),
        ('<a data-href="x">', '<a data-href="x">'),
    ],
)
def test_only_the_target_of_a_link_is_removed(written: str, shown: str) -> None:
    assert without_links(written) == shown


def test_replay_page_shows_before_and_after_side_by_side() -> None:
    found = frames(drawn(one_changed()))
    assert list(found) == ["ann-daily-1 before", "ann-daily-1 after"]
    assert ["<p>first</p>" in html for html in found.values()] == [True, False]
    assert ["<p>changed</p>" in html for html in found.values()] == [False, True]


def test_hostile_input_is_shown_as_text() -> None:
    hostile = replace(
        a_rendition(HOSTILE, HOSTILE),
        blocks=(BlockShown("post#1", HOSTILE, (HOSTILE,)),),
    )
    problem = Problem(HOSTILE, HOSTILE)
    found = add(Comparison(), a_rendition(), hostile, frozenset({Change.EXCLUDED}), problem)
    add(found, hostile, a_rendition(), user_id="bo")
    for number in range(WHOLE):
        add(found, hostile, hostile, frozenset({Change.HTML}), user_id=f"reader-{number}")
    text = drawn(found)
    root = parsed(text)
    assert list(root.iter("script", "img")) == []
    assert len([*root.iter("title")]) == 1
    assert text.count("<iframe") == text.count("</iframe>") == 2 * WHOLE
    assert HOSTILE in root.text_content()
    assert HOSTILE not in text.replace("&lt;", "")


def test_texts_have_the_direction_of_most_letters() -> None:
    """A Hebrew subject can begin with Latin letters."""
    hebrew = "Gazette: שלום לכל מי שקורא את זה"
    found = add(one_changed(), a_rendition(hebrew), a_rendition("Hello"), user_id="bo")
    text = drawn(found)
    assert 'dir="auto"' not in text
    cells = {each.text: each.get("dir") for each in parsed(text).iter("td") if each.get("dir")}
    assert (cells[hebrew], cells["Hello"]) == ("rtl", "ltr")


def test_every_replay_page_element_is_closed() -> None:
    """Read as XML it has no mistakes, once what has no end in HTML is given one."""
    found = add(one_changed(), a_rendition(), Rendition(None, failed="why"), user_id="bo")
    text = drawn(found)
    closed = re.sub(r"<(meta[^>]*)>", r"<\1/>", text.removeprefix("<!DOCTYPE html>"))
    etree.fromstring(closed)


def test_most_changed_emails_are_first_and_the_first_is_open() -> None:
    found = add(Comparison(), a_rendition(), a_rendition("Other"), frozenset({Change.HTML}))
    failed = Rendition(None, failed="why")
    add(found, a_rendition(), failed, frozenset({Change.FAILS}), user_id="zoe")
    add(found, a_rendition(), a_rendition(blocks=1), frozenset({Change.BLOCKS}), user_id="cy")
    emails = [*parsed(drawn(found)).iter("details")]
    assert [words(each.find("summary")) for each in emails] == [
        "zoe-daily-1 fails",
        "cy-daily-1 blocks",
        "ann-daily-1 html",
    ]
    assert [each.get("open") for each in emails] == ["open", None, None]


def test_differences_are_listed_for_both_sides_of_an_email() -> None:
    was, now = a_rendition(), replace(a_rendition("Other", blocks=1), cut=2)
    now = replace(now, excluded=((an_event(), "why"),))
    root = parsed(drawn(add(Comparison(), was, now)))
    told = {
        words(row[0]): (words(row[1]), words(row[2])) for row in root.xpath("//details//tbody/tr")
    }
    assert told == {
        "subject (changed)": ("News", "Other"),
        "preheader": ("behind", "behind"),
        "HTML": (f"{was.html_bytes:,} bytes", f"{now.html_bytes:,} bytes"),
        "text": ("0 bytes", "0 bytes"),
        "blocks shown (changed)": ("3", "1"),
        "blocks not shown (changed)": ("0", "2"),
        "not shown because of size (changed)": ("0", "2"),
        "events excluded (changed)": ("0", "1"),
    }


def test_blocks_show_old_positions_additions_and_removals() -> None:
    was = replace(a_rendition(), blocks=(BLOCKS[0], BLOCKS[1]))
    now = replace(
        a_rendition(), blocks=(BLOCKS[2], replace(BLOCKS[1], lines=("comment",)), BLOCKS[1])[:2]
    )
    before, after = parsed(drawn(add(Comparison(), was, now))).iter("ol")
    assert [words(each) for each in before] == ["One comment, like removed", "Two like"]
    assert [words(each) for each in after] == ["Three like new", "Two comment different lines"]
    turned = replace(a_rendition(), blocks=BLOCKS[:2][::-1])
    before, after = parsed(drawn(add(Comparison(), was, turned))).iter("ol")
    assert [words(each) for each in before] == ["One comment, like", "Two like"]
    assert [words(each) for each in after] == [
        "Two like was number 2",
        "One comment, like was number 1",
    ]


def test_text_part_differences_are_shown_line_by_line() -> None:
    (pre,) = parsed(drawn(one_changed())).iter("pre")
    assert [words(each) for each in pre] == ["- first", "+ changed", "second"]


def test_failed_or_skipped_email_is_described_in_place_of_a_frame() -> None:
    why = Problem(None, "block.html, line 3: no")
    found = add(
        Comparison(), a_rendition(), Rendition(None, failed="no"), frozenset({Change.FAILS}), why
    )
    add(found, a_rendition(), Rendition(None), frozenset({Change.SKIPPED}), user_id="bo")
    text = drawn(found)
    assert list(frames(text)) == ["ann-daily-1 before", "bo-daily-1 before"]
    ann, bo = (words(each) for each in parsed(text).iter("details"))
    assert "The email fails." in ann
    assert "block.html, line 3: no" in ann
    assert "The email is skipped because it has no events to show." in bo
    assert "The email fails." not in bo
    assert "ann-daily-1: block.html, line 3: no" in words(parsed(text))


def test_email_that_differs_from_the_sent_email_is_labelled() -> None:
    found = add(Comparison(), a_rendition(), a_rendition("Other"), same_categories=False)
    assert "The sent email had different categories or a different order of categories." in words(
        parsed(drawn(found))
    )
    assert "had different categories" not in words(parsed(drawn(one_changed())))


def test_replay_page_names_the_templates_before_and_after() -> None:
    assert "Before: as prod works now. After: version 7." in words(parsed(drawn(one_changed())))


def test_each_email_names_its_previous_version_if_there_are_several() -> None:
    one = one_changed()
    assert "before with" not in words(parsed(drawn(one)))
    several = add(one, a_rendition(), a_rendition("Other"), user_id="bo", version=A_VERSION)
    ann, bo = (words(each) for each in parsed(drawn(several)).iter("details"))
    assert "variation 1, before with the deployed templates." in ann
    assert "variation 1, before with version 7." in bo


def test_summary_lists_each_change_and_each_setting() -> None:
    found = add(one_changed(), a_rendition(), a_rendition(), frozenset(), user_id="bo")
    found.missing[Missing.READER] += 1
    told = words(parsed(drawn(found)))
    first = told.index("Side by side")
    assert 0 < told.index("1 of 2 emails changes: 1 subject, 0 larger than 90 KB, 0 fail") < first
    assert 0 < told.index("max_blocks 20 1") < first
    assert 0 < told.index("subject 1 have a different subject") < first
    assert "1 email does not change" in told
    assert "Read 16 of 16 parts." in told


def test_replay_page_without_changes_has_no_frames() -> None:
    text = drawn(add(Comparison(), a_rendition(), a_rendition(), frozenset()))
    assert frames(text) == {}
    assert "0 of 1 emails change" in text
    assert "0 of 0 emails change" in drawn(Comparison())


def test_replay_page_shows_most_changed_emails_and_lists_the_rest() -> None:
    found = Comparison()
    for number in range(WHOLE + 5):
        change = Change.HTML if number < 5 else Change.ORDER
        add(found, a_rendition(), a_rendition(), frozenset({change}), user_id=f"u{number}")
    root = parsed(drawn(found))
    whole = {words(each.find("summary")).split()[0] for each in root.iter("details")}
    assert whole == {f"u{number}-daily-1" for number in range(5, WHOLE + 5)}
    rows = root.xpath("//*[@aria-label='Other changed emails']//tbody/tr")
    assert {words(row[0]) for row in rows} == {f"u{number}-daily-1" for number in range(5)}


def test_replay_page_size_is_bounded() -> None:
    filling = "<p>" + "&quot;a&quot; " * (LONGEST_HTML // 15)
    long = replace(a_rendition("s" * 200), edition=Edition("s" * 200, filling, "t\n" * 9000))
    other = replace(long, edition=Edition("s" * 200, filling, "u\n" * 9000))
    found = Comparison()
    for number in range(2_000):
        add(found, long, other, user_id=f"reader-{number:05}")
    text = drawn(found)
    assert len(text.encode()) < 8_000_000
    assert len(found.whole) == WHOLE
    assert "1,480 more emails change" in text
    assert text.count("-daily-1</th>") == 500


def test_failures_are_first_and_red() -> None:
    """With the reason, before any key figure."""
    comparison = add(one_changed(), a_rendition(), a_rendition("Other"))
    why = "templates/digest/block.html:12: 'colour' is undefined"
    failed = Rendition(None, failed=why)
    add(
        comparison,
        a_rendition(),
        failed,
        frozenset({Change.FAILS}),
        Problem(None, why),
        user_id="bo",
    )
    root = parsed(drawn(comparison))
    (box,) = root.find_class("conclusion")
    assert box.get("class") == "conclusion bad"
    assert box.findtext("p/strong") == "1 of 3 emails can no longer be rendered"
    (failures,) = root.find_class("failures")
    assert [words(each) for each in failures.iter("li")] == [f"bo-daily-1: {why}"]
    assert {each.get("class") for each in failures.iter("li")} == {"bad"}
    assert failures.xpath("preceding::*[@class='conclusion bad']")
    assert failures.xpath("following::dl")
    assert [words(each) for each in root.xpath("//dl/div[@class='bad']")] == ["failed 1"]


@pytest.mark.parametrize(
    ("change", "text", "tone"),
    [
        (Change.EXCLUDED, "1 of 1 emails omit events or are no longer sent", "bad"),
        (Change.SUBJECT, "1 of 1 emails change", "neutral"),
        (None, "No email changes", "good"),
    ],
)
def test_conclusion_of_a_replay_is_first(change: Change | None, text: str, tone: str) -> None:
    changes = frozenset({change} if change else ())
    root = parsed(drawn(add(Comparison(), a_rendition(), a_rendition("Other"), changes)))
    (box,) = root.find_class("conclusion")
    assert (box.findtext("p/strong"), box.get("class")) == (text, f"conclusion {tone}")
    assert box.getprevious().tag == "h1"
