"""What the demo says of its emails' rows in the inbox is found in the emails alone."""

from dataclasses import replace
from datetime import datetime, timedelta
from email.message import EmailMessage
from email.policy import SMTP
from pathlib import Path

import pytest
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.domain.delivery.compose import compose
from gazette.domain.model import DAILY, Event

from demo.inbox import (
    LARGEST_HTML,
    MOST_FOOTER_LINKS,
    Links,
    Repeated,
    links_of,
    look,
    row,
    share_of_urls,
)
from demo.invented import SITE
from demo.ses import Accepted
from tests.builders import LINKS, NOW, a_subscriber, an_event

TOMORROW = NOW + timedelta(days=1)


def email(
    renderer: JinjaRenderer, *events: Event, number: int = 1, due_at: datetime = NOW
) -> Accepted:
    """A digest of Ann's, as the stand-in keeps it."""
    links = replace(
        LINKS,
        updates=f"https://mail.example.com/updates/{number}",
        leave=lambda scope: f"https://mail.example.com/unsubscribe/{number}.{scope.kind}",
    )
    made = renderer.render(
        compose(events, max_blocks=20), a_subscriber(), links, DAILY, due_at=due_at
    )
    message = EmailMessage(policy=SMTP)
    message["To"], message["Subject"] = "ann@example.com", made.subject
    message.set_content(made.text)
    message.add_alternative(made.html, subtype="html")
    return Accepted(f"id {number}", "ann@example.com", {"run": f"ann-daily-{number}"}, message)


@pytest.fixture(scope="session")
def renderer(built_templates: Path) -> JinjaRenderer:
    return JinjaRenderer(built_templates)


def looked(*mails: Accepted) -> Repeated:
    return look([row(mail) for mail in mails])


def test_same_event_on_two_days_has_distinct_inbox_rows(renderer: JinjaRenderer) -> None:
    first = email(renderer, an_event(), number=1)
    second = email(renderer, an_event("again", excerpt="More"), number=2, due_at=TOMORROW)
    assert looked(first, second) == Repeated()


def test_repeated_subject_with_different_content_is_counted(renderer: JinjaRenderer) -> None:
    first = email(renderer, an_event(), number=1)
    other = email(renderer, an_event("b", excerpt="More"), number=2)
    assert looked(first, other) == Repeated(subjects=1)
    assert looked(first, email(renderer, an_event(), number=2)) == Repeated()


def test_emails_in_thread_share_a_subject(renderer: JinjaRenderer) -> None:
    first, other = (
        replace(mail, tags={"run": f"ann-now1-{number}"})
        for number, mail in enumerate(
            [email(renderer, an_event()), email(renderer, an_event("b", excerpt="More"))], 1
        )
    )
    assert looked(first, other) == Repeated()


def test_personal_links_do_not_count_as_different_content(renderer: JinjaRenderer) -> None:
    events = [an_event("a"), an_event("b", entity_id="post2", occurred_at=TOMORROW)]
    assert looked(email(renderer, *events), email(renderer, *events, number=2)) == Repeated()


def test_preheader_repeating_the_subject_is_counted(renderer: JinjaRenderer) -> None:
    mail = email(renderer, an_event(excerpt="Yes, and more"))
    for subject in (
        "Yes",
        "Yes + 30 more · 22 Nov",
        "Yes, and more · 22 Nov",
        "Your week, 15–22 November: Yes + 30 more",
    ):
        mail.message.replace_header("Subject", subject)
        assert looked(mail) == Repeated(preheaders=1)
    mail.message.replace_header("Subject", "Yes, and less · 22 Nov")
    assert looked(mail) == Repeated()


def test_preheader_with_title_of_the_subject_is_counted(renderer: JinjaRenderer) -> None:
    mail = email(renderer, an_event(excerpt="Yes, and more"))
    assert looked(mail) == Repeated()
    html = mail.message.get_body(("html",))
    assert html is not None
    title = "Title of post1"
    assert f"“{title}”" in str(mail.message["Subject"])
    html.set_content(html.get_content().replace("Yes, and more", f"About {title}"), subtype="html")
    assert looked(mail) == Repeated(preheaders=1)
    for subject, repeated in (("“Title of p…” · 22 Nov", 1), ("“Title of p” · 22 Nov", 0)):
        mail.message.replace_header("Subject", f"Bo commented on {subject}")
        assert looked(mail) == Repeated(preheaders=repeated)


def test_preheader_with_another_title_that_begins_alike_is_not_counted(
    renderer: JinjaRenderer,
) -> None:
    """The subject shortens the title of post1. The preheader names post2."""
    mail = email(renderer, an_event(), an_event("b", entity_id="post2", excerpt="More"))
    seen = row(mail)
    assert set(seen.titles) == {"Title of post1", "Title of post2"}
    first, other = seen.titles
    quoted = replace(seen, subject="Bo commented on “Title of…” + 1 more")
    assert look([replace(quoted, preheader=f"Bo replied: {other}")]) == Repeated()
    assert look([replace(quoted, preheader=f"Bo replied: {first}")]) == Repeated(preheaders=1)


def test_links_are_counted_by_purpose(renderer: JinjaRenderer) -> None:
    """In an email of two blocks, the titles and the link to reply lead to what happened."""
    mail = email(renderer, an_event("a"), an_event("b", category="like", entity_id="post2"))
    html = mail.message.get_body(("html",))
    assert html is not None
    html.set_content(html.get_content().replace("https://example.com/", f"{SITE}/"), subtype="html")
    links = row(mail).links
    assert links == Links(content=3, footer=links.footer)
    assert 4 <= links.footer <= MOST_FOOTER_LINKS
    html.set_content(
        html.get_content().replace(
            "<h2", '<a href="https://mail.example.com/leave/1">Turn off</a><h2', 1
        ),
        subtype="html",
    )
    assert row(mail).links == replace(links, blocks=1)
    assert links_of([row(mail), row(mail)]) == Links(6, 2 * links.footer, 0, 2)
    assert links_of([]) == Links()


def test_share_of_urls_is_measured_in_the_text(renderer: JinjaRenderer) -> None:
    short, long = email(renderer, an_event()), email(renderer, an_event())
    text = long.message.get_body(("plain",))
    assert text is not None
    text.set_content("See\n  https://a.test/" + "x" * 80 + "\n")
    assert row(long).share_of_urls == 95 / 102
    assert 0 < row(short).share_of_urls < 0.5
    assert share_of_urls([row(short), row(long), row(long)]) == 95 / 102
    assert share_of_urls([]) == 0


def test_entity_repeated_in_email_is_counted(renderer: JinjaRenderer) -> None:
    mail = email(renderer, an_event("a"), an_event("b"))
    assert looked(mail).things == 0
    html = mail.message.get_body(("html",))
    assert html is not None
    html.set_content(html.get_content() + html.get_content(), subtype="html")
    assert looked(mail).things == 1


def test_oversized_email_is_counted(renderer: JinjaRenderer) -> None:
    mail = email(renderer, an_event())
    html = mail.message.get_body(("html",))
    assert html is not None
    html.set_content(html.get_content() + "x" * LARGEST_HTML, subtype="html")
    assert looked(mail) == Repeated(too_large=1)
