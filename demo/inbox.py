"""What an inbox shows of emails, and whether each row of it says something new.

Read from the emails that arrived alone.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import lxml.html
from gazette.domain.identity import parse_run_id
from gazette.domain.scheduling.kinds import ScheduleKind, kind_of

from demo.ses import Accepted

LARGEST_HTML = 90_000
"""Bytes below which the HTML of every email stays."""

_OWN_LINK = re.compile(r"https?://\S+/(?:unsubscribe|updates)/\S+$")

_PADDING = dict.fromkeys(map(ord, "\u034f\u2007\u200c\xad"))
"""What fills a preheader up, so that nothing of the email follows it."""

_END_OF_SUBJECT = re.compile(r"(?: \+ [\d,]+ more)?(?: · [^·]+)?$")
"""What no preheader says: how much more there is, and the day."""


@dataclass(frozen=True, slots=True)
class Row:
    """An email as an inbox has it. `things` are the links of its blocks, `told` all that it tells
    but the reader's own links, which no two emails share. `html_bytes`: the size of its HTML.
    """

    to: str
    schedule: str
    subject: str
    preheader: str
    things: tuple[str, ...]
    told: str
    html_bytes: int

    @property
    def is_digest(self) -> bool:
        """An immediate email is one of a thread, which has one subject."""
        return kind_of(self.schedule) is not ScheduleKind.IMMEDIATE


@dataclass(frozen=True, slots=True)
class Repeated:
    """How often a digest repeats the subject of the one before though it says something else, how
    often a preheader begins with its subject again, how many things stand in an email twice, and
    how many emails are too large.
    """

    subjects: int = 0
    preheaders: int = 0
    things: int = 0
    too_large: int = 0


def row(mail: Accepted) -> Row:
    """What the inbox of its reader shows of the email."""
    html = mail.part("html")
    page = lxml.html.document_fromstring(html)
    preheader = page.xpath("string(//*[@class='preheader'])").translate(_PADDING)
    return Row(
        to=mail.to,
        schedule=parse_run_id(mail.tags["run"]).schedule,
        subject=str(mail.message["Subject"]),
        preheader=" ".join(preheader.split()),
        things=tuple(page.xpath("//a[@class='title' or @class='open']/@href")),
        told=_told(mail.part("plain")),
        html_bytes=len(html.encode()),
    )


def look(rows: Sequence[Row]) -> Repeated:
    """Look at rows in the order in which their emails arrived."""
    before: dict[str, Row] = {}
    subjects = preheaders = things = 0
    for each in rows:
        last = before.get(each.to)
        if each.is_digest:
            if last is not None and last.subject == each.subject and last.told != each.told:
                subjects += 1
            before[each.to] = each
        headline = _END_OF_SUBJECT.sub("", each.subject)
        preheaders += _plain(each.preheader).startswith(_plain(headline))
        things += len(each.things) - len({*each.things})
    too_large = sum(each.html_bytes >= LARGEST_HTML for each in rows)
    return Repeated(subjects, preheaders, things, too_large)


def _told(text: str) -> str:
    told = text.replace("\r\n", "\n").partition("\nYou're getting")[0]
    return "\n".join(line for line in told.splitlines() if not _OWN_LINK.search(line))


def _plain(text: str) -> str:
    return " ".join(text.strip(" .").split())
