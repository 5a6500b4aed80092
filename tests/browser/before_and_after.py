"""Pictures and figures of six emails, rendered from the same events by two versions of Gazette.

    python -m tests.browser.before_and_after after

draws `docs/images/after-….webp` and prints the table of docs/images/README.md. The pictures called
`before-….webp` were drawn by this script on commit 40bb8975, the last one before digests had parts.
"""

import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from html import escape
from pathlib import Path
from typing import Any

import lxml.html
from gazette.adapters.contract import decode
from gazette.domain.commands import ChangeSubscriber, CreateEvents
from gazette.domain.model import DAILY, Actor, Entity, Event
from gazette.domain.scheduling.kinds import critical_schedule, immediate_schedule
from playwright.sync_api import Browser

from demo import campus, invented
from demo.engine import ROOT
from gazette_cli.preview import rendering
from gazette_cli.preview.content import EmailContent
from gazette_cli.templates.building import Templates
from tests.browser.chromium import chromium, webp
from tests.browser.community import PICTURES_AT, READER, SENT_AT, digest, with_pictures
from tests.unit.ingest.test_contract import envelope

FOLDER = ROOT / "docs" / "images"

PHONE, DESKTOP = 390, 640
"""Widths in CSS pixels."""

_GAP = 24
_AVERAGE, _OF_A_WEEK = 5, 24
"""Numbers of events: the demo's week has 4.7 in a digest."""

_FIRST_DAY = date(2026, 11, 20)
_OWN = "https://mail.gazette.example"
_TOKEN = "t" * 200
"""As long as the token of a link in a sent email."""

_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>An email</title><style>
body {{ margin: 0; background: #ffffff; }}
iframe {{ position: absolute; top: 0; border: 0; }}
</style></head><body style="height: {height}px">
<iframe style="left: 0" width="{phone}" height="{phone_height}" srcdoc="{html}"></iframe>
<iframe style="left: {left}px" width="{desktop}" height="{desktop_height}" srcdoc="{html}"></iframe>
</body></html>
"""


@dataclass(frozen=True, slots=True)
class Figures:
    """The sizes of an email: heights in CSS pixels, HTML in bytes, and numbers of links.

    Links of `content` lead to what happened. `blocks` and `footer` are the reader's own links.
    """

    phone: int
    desktop: int
    html: int
    content: int
    blocks: int
    footer: int


def emails() -> Iterator[tuple[str, EmailContent]]:
    """Yield the name and the content of each email. Those of the demo come first."""
    days = _days()
    largest = max(days.values(), key=len)
    yield "average", _of_demo(next(each for each in days.values() if _is_average(each)), DAILY)
    yield "largest", _of_demo(largest, DAILY)
    yield "one", _of_demo(next(each for each in days.values() if _is_comment(each)), DAILY)
    weeks: dict[int, list[invented.Happened]] = defaultdict(list)
    for (student, _), some in days.items():
        weeks[student] += some
    yield (
        "weekly",
        _of_demo(next(each for each in weeks.values() if len(each) == _OF_A_WEEK), "weekly"),
    )
    comment = next(event for event in digest().events if event.category == "comment")
    yield "immediate", EmailContent(READER, (comment,), immediate_schedule(comment.entity.key))
    yield "critical", EmailContent(READER, (_sign_in(),), critical_schedule("account:ann"))


def _days() -> dict[tuple[int, int], list[invented.Happened]]:
    """Return the events of the demo's week by student and day."""
    days = defaultdict(list)
    for each in invented.happened(campus.messages()):
        days[each.message.target, each.message.day].append(each)
    return days


def _is_average(day: list[invented.Happened]) -> bool:
    return len(day) == _AVERAGE and {"mention", "like"} <= {each.category for each in day}


def _is_comment(day: list[invented.Happened]) -> bool:
    return [each.category for each in day] == ["comment"]


def _of_demo(happened: list[invented.Happened], schedule: str) -> EmailContent:
    student = happened[0].message.target
    profile = decode(
        envelope(
            "subscriber.changed",
            campus.subscriber_changed(student, SENT_AT - timedelta(days=90)),
        )
    )
    assert isinstance(profile, ChangeSubscriber)
    events: list[Event] = []
    for each in happened:
        detail: dict[str, Any] = each.detail(_FIRST_DAY) | {"user_id": campus.user_id(student)}
        command = decode(envelope("event.created", detail))
        assert isinstance(command, CreateEvents)
        events += command.events
    return EmailContent(profile.subscriber, tuple(events), schedule)


def _sign_in() -> Event:
    return Event(
        user_id=READER.user_id,
        id="sign-in",
        category="security",
        entity=Entity(
            "account", "ann", "New sign-in from Lisbon", "https://community.example.com/security"
        ),
        actor=Actor("", ""),
        occurred_at=SENT_AT - timedelta(hours=3),
        excerpt="Firefox on Windows. If it was you, there is nothing to do.",
    )


def rendered(content: EmailContent) -> str:
    """Return the HTML of an email with links as long as in a sent email."""
    links = rendering.LINKS
    rendering.LINKS = replace(
        links,
        unsubscribe=f"{_OWN}/unsubscribe/{_TOKEN}",
        preferences=f"{_OWN}/preferences/{_TOKEN}",
        email=f"{_OWN}/email/{_TOKEN}",
        updates=f"{_OWN}/updates/{_TOKEN}",
        leave=lambda scope: f"{_OWN}/unsubscribe/{_TOKEN}{scope.kind}",
    )
    try:
        return rendering.render(content, Templates(ROOT / "templates")).html
    finally:
        rendering.LINKS = links


def measured(browser: Browser, html: str) -> Figures:
    """Return the figures of an email. Pictures have their sizes."""
    page = lxml.html.document_fromstring(html)
    own = len(page.xpath(f"//a[starts-with(@href, '{_OWN}/')]"))
    footer = len(page.xpath(f"//td[@class='footer']//a[starts-with(@href, '{_OWN}/')]"))
    notices = len(page.xpath(f"//td[@class='more']//a[starts-with(@href, '{_OWN}/')]"))
    return Figures(
        phone=_height(browser, html, PHONE),
        desktop=_height(browser, html, DESKTOP),
        html=len(html.encode()),
        content=len(page.xpath("//a[@href]")) - own,
        blocks=own - footer - notices,
        footer=footer,
    )


def drawable(html: str) -> str:
    """Return the HTML with its pictures in it, because nothing is loaded to draw it."""
    return with_pictures(html.replace(invented.PICTURES_AT, PICTURES_AT))


def _height(browser: Browser, html: str, width: int) -> int:
    with browser.new_context(
        viewport={"width": width, "height": 40}, color_scheme="light", java_script_enabled=False
    ) as context:
        page = context.new_page()
        page.set_content(drawable(html))
        return int(page.evaluate("document.documentElement.scrollHeight"))


def drawn(browser: Browser, html: str, figures: Figures) -> bytes:
    """Return a picture of an email as WebP: on a phone on the left, on a desktop on the right."""
    height = max(figures.phone, figures.desktop)
    page_html = _PAGE.format(
        height=height,
        phone=PHONE,
        phone_height=figures.phone,
        desktop=DESKTOP,
        desktop_height=figures.desktop,
        left=PHONE + _GAP,
        html=escape(drawable(html)),
    )
    with browser.new_context(
        viewport={"width": PHONE + _GAP + DESKTOP, "height": 40},
        color_scheme="light",
        java_script_enabled=False,
    ) as context:
        page = context.new_page()
        page.set_content(page_html)
        return webp(page, whole=True)


def draw(browser: Browser, folder: Path, when: str) -> dict[Path, Figures]:
    """Draw all emails, and return the path and the figures of each."""
    paths = {}
    for name, content in emails():
        html = rendered(content)
        figures = measured(browser, html)
        path = folder / f"{when}-{name}.webp"
        path.write_bytes(drawn(browser, html, figures))
        paths[path] = figures
    return paths


def main(arguments: list[str]) -> int:
    """Draw the emails. The argument is `before` or `after`."""
    if arguments not in (["before"], ["after"]):
        sys.stderr.write("Run: python -m tests.browser.before_and_after after\n")
        return 2
    with chromium() as browser:
        for path, figures in draw(browser, FOLDER, arguments[0]).items():
            sys.stdout.write(
                f"| {path.stem} | {figures.phone:,} | {figures.desktop:,} | {figures.html:,} "
                f"| {figures.content} | {figures.blocks} | {figures.footer} |\n"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
