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

from demo.inbox import Rows, look
from demo.ses import Accepted
from tests.builders import LINKS, NOW, a_subscriber, an_event

TOMORROW = NOW + timedelta(days=1)


def email(
    renderer: JinjaRenderer, *events: Event, number: int = 1, due_at: datetime = NOW
) -> Accepted:
    """A digest of Ann's, as the stand-in keeps it."""
    links = replace(LINKS, updates=f"https://mail.example.com/updates/{number}")
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


def test_two_days_of_the_same_have_rows_of_their_own(renderer: JinjaRenderer) -> None:
    mails = [
        email(renderer, an_event(), number=1),
        email(renderer, an_event("again", excerpt="More"), number=2, due_at=TOMORROW),
    ]
    assert look(mails) == Rows(0, 0, 0)


def test_a_subject_that_says_something_else_again_is_counted(renderer: JinjaRenderer) -> None:
    first = email(renderer, an_event(), number=1)
    other = email(renderer, an_event("b", excerpt="More"), number=2)
    assert look([first, other]) == Rows(1, 0, 0)
    assert look([first, email(renderer, an_event(), number=2)]) == Rows(0, 0, 0)


def test_a_preheader_that_repeats_its_subject_is_counted(renderer: JinjaRenderer) -> None:
    mail = email(renderer, an_event(excerpt="Yes"))
    mail.message.replace_header("Subject", "Yes")
    assert look([mail]) == Rows(0, 1, 0)


def test_a_thing_in_two_places_of_an_email_is_counted(renderer: JinjaRenderer) -> None:
    mail = email(renderer, an_event("a"), an_event("b"))
    assert look([mail]).things_twice == 0
    html = mail.message.get_body(("html",))
    assert html is not None
    html.set_content(html.get_content() + html.get_content(), subtype="html")
    assert look([mail]).things_twice == 1
