"""The inbox that the demo leaves behind: what stands in it, and that it stays light."""

from dataclasses import replace
from datetime import datetime, timedelta
from email.message import EmailMessage
from email.policy import SMTP
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from lxml.html import HtmlElement, document_fromstring

from demo.audit import Counts, Seen
from demo.featured import featured
from demo.inbox import Row
from demo.results import Line, page, real, write
from demo.ses import Accepted

REPORT = {
    "days": 7,
    "events_put": 11_353,
    "digests": 2_416,
    "lost_events": 0,
    "repeated_events": 0,
    "html_bytes_largest": 18_400,
}
FIRST = datetime(2026, 11, 24, 8, tzinfo=ZoneInfo("Asia/Tokyo"))


def line(number: int = 0) -> Line:
    """A row as long as they usually are."""
    return Line(
        f"{number:05d}-student{number}-daily-1",
        "Bea Moreno",
        "Jon Gomez mentioned you in “Rehearsals, Saturday” + 30 more · 24 Nov",
        "We did the same in our first year, and we still talk about it. · Lea Nagy liked this: "
        "Budget for the summer festival · Chen Hansen replied: Programme for Thursday evening",
        FIRST + timedelta(hours=number % 40),
    )


def parsed(*lines: Line) -> HtmlElement:
    """As a browser reads it."""
    return document_fromstring(page(lines, [("A mention leads", lines[0])], REPORT))


def test_inbox_row_shows_reader_subject_and_time() -> None:
    (featured_row, row) = parsed(line()).findall(".//li/a")
    assert row.get("href") == "emails/00000-student0-daily-1.html"
    text = row.text_content()
    assert text.startswith("Gazette to Bea Moreno")
    assert line().subject in text
    assert line().preheader in text
    assert text.endswith("08:00")
    assert featured_row.text_content() == f"A mention leads{text}"


def test_inbox_page_shows_one_email_beside_the_list() -> None:
    """Without scripts: each row opens its email in the frame."""
    root = parsed(*map(line, range(3)))
    (frame,) = root.xpath("//iframe")
    assert frame.get("src") == f"emails/{line(0).file}.html"
    assert "allow-scripts" not in frame.get("sandbox")
    assert {*root.xpath("//li/a/@target")} == {frame.get("name")}
    assert not document_fromstring(page([line()], [], REPORT)).xpath("//iframe")


def test_inbox_days_are_collapsed_and_in_order() -> None:
    days = parsed(*map(line, range(40))).xpath("//details[ul]")
    assert [day.get("open") for day in days] == [None, None]
    titles = [" ".join(day.find("summary").text_content().split()) for day in days]
    assert titles == ["Tuesday, 24 November 16 emails", "Wednesday, 25 November 24 emails"]


def test_inbox_page_states_which_data_is_invented() -> None:
    said = parsed(line()).text_content()
    assert "Real: who turned to whom and when." in said
    assert "Invented: names, time zones, and what each message became" in said


@pytest.mark.parametrize(
    ("days", "title"), [(1, "One real day"), (2, "2 real days"), (7, "One real week")]
)
def test_inbox_page_names_the_replayed_time(days: int, title: str) -> None:
    assert real(days) == title
    root = document_fromstring(page([line()], [], {**REPORT, "days": days}))
    assert root.findtext(".//h1") == f"{title}, 2,416 digests"


def test_user_input_is_rendered_as_text() -> None:
    wrong = Line("a", "<b>", "</li><script>", "&amp;", FIRST)
    root = parsed(wrong)
    assert list(root.iter("script")) == []
    assert "</li><script> &amp;" in root.text_content()


def test_inbox_row_takes_less_than_700_bytes() -> None:
    """So the page of 2,416 emails stays below 1.7 MB, of which a browser lays out six."""
    few, many = (len(page([line(n) for n in range(some)], [], REPORT)) for some in (100, 200))
    assert (many - few) / 100 < 700


def test_images_are_local_and_email_sources_are_unchanged(
    tmp_path: Path,
) -> None:
    message = EmailMessage(policy=SMTP)
    message["Subject"] = "Hi"
    message.set_content("Hi")
    message.add_alternative(
        '<img src="https://campus.example/pictures/face1.jpg" alt="">', subtype="html"
    )
    mail = Accepted("m", "student7@campus.example", {"run": "student7-daily-1"}, message)
    row = Row(mail.to, "daily", "Hi", "", (), (), "", 10)
    write(tmp_path, [mail], [row], {"student7-daily-1": FIRST}, REPORT)
    emails = tmp_path / "emails"
    (shown,) = emails.glob("*.html")
    source = document_fromstring(shown.read_text()).find(".//img").get("src")
    assert (emails / source).resolve().is_file()
    (eml,) = emails.glob("*.eml")
    assert "https://campus.example/pictures/face1.jpg" in eml.read_text()


def seen(total: int, **counts: int) -> Seen:
    """So many of each category, each of another thing."""
    told: Counts = Counts(
        {(f"https://campus.example/{what}", what): n for what, n in counts.items()}
    )
    return Seen("a-daily-1", told, 0, total)


def row_of(subject: str, schedule: str = "daily") -> Row:
    """A row of which only the subject and the schedule matter."""
    return Row("a@campus.example", schedule, subject, "", (), (), "", 0)


def test_each_featured_email_has_a_different_reason() -> None:
    block: Counts = Counts({("https://campus.example/a", what): 1 for what in ("comment", "like")})
    mails = [
        (row_of("Bo liked “A” · 24 Nov"), seen(1, like=1)),
        (row_of("Bo mentioned you in “A” + 2 more · 24 Nov"), seen(3, mention=1, like=2)),
        (row_of("Bo: “Lunch” + 99 more · 24 Nov"), seen(100, message=90, like=10)),
        (row_of("Bo published “A” · 24 Nov"), seen(1, article=1)),
        (row_of("Update: library: “A” + 1 more · 24 Nov"), seen(2, other=1, like=1)),
        (row_of("New: “A”", "now1"), replace(seen(1, mention=1), run="a-now1-2")),
        (row_of("Ada commented on “A” + 1 more · 24 Nov"), Seen("a-daily-1", block, 0, 2)),
    ]
    chosen = featured(*zip(*mails, strict=True))
    assert [each.place for each in chosen] == [1, 2, 3, 6, 4, 5]
    assert len({each.why for each in chosen}) == 6


def test_missing_kinds_of_email_are_not_featured() -> None:
    only = row_of("Bo liked “A” · 24 Nov")
    assert [each.why[:11] for each in featured([only], [seen(1, like=1)])] == ["The fullest"]
    assert featured([], []) == []
