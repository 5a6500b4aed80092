"""The rows of an inbox, and checks that each shows something new.

They are read only from the emails that arrived.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import lxml.html
from gazette.domain.identity import parse_run_id
from gazette.domain.scheduling.kinds import ScheduleKind, kind_of

from demo.ses import Accepted

LARGEST_HTML = 90_000
"""The size in bytes that the HTML of an email must not reach."""

_OWN_LINK = re.compile(r"https?://\S+/(?:unsubscribe|updates)/\S+$")

_PADDING = dict.fromkeys(map(ord, "\u034f\u2007\u200c\xad"))
"""Characters that fill up a preheader, so that no text of the email follows it."""

_END_OF_SUBJECT = re.compile(r"(?: \+ [\d,]+ more)?(?: · [^·]+)?$")
"""The end of a subject that no preheader repeats: the number of further updates, and the day."""


@dataclass(frozen=True, slots=True)
class Row:
    """An email as an inbox shows it."""

    to: str
    schedule: str
    subject: str
    preheader: str

    # The links of its blocks.
    things: tuple[str, ...]

    # Its text without the reader's own links, which differ in each email.
    told: str

    # The size of its HTML.
    html_bytes: int

    @property
    def is_digest(self) -> bool:
        """True unless it is an immediate email, whose thread has one subject."""
        return kind_of(self.schedule) is not ScheduleKind.IMMEDIATE


@dataclass(frozen=True, slots=True)
class Repeated:
    """Counts of repetitions in the emails."""

    # Digests with the subject of the one before, but other contents.
    subjects: int = 0

    # Preheaders that begin with their subject.
    preheaders: int = 0

    # Entities that are twice in an email.
    things: int = 0

    # Emails whose HTML is too large.
    too_large: int = 0


def row(mail: Accepted) -> Row:
    """Return the row of an email in its reader's inbox."""
    html = mail.part("html")
    page = lxml.html.document_fromstring(html)
    preheader = page.xpath("string(//*[@class='preheader'])").translate(_PADDING)
    return Row(
        to=mail.to,
        schedule=parse_run_id(mail.tags["run"]).schedule,
        subject=str(mail.message["Subject"]),
        preheader=" ".join(preheader.split()),
        things=tuple(page.xpath("//a[@class='title' or @class='open']/@href")),
        told=_text(mail.part("plain")),
        html_bytes=len(html.encode()),
    )


def look(rows: Sequence[Row]) -> Repeated:
    """Count the repetitions in rows, given in the order in which their emails arrived."""
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


def _text(text: str) -> str:
    body = text.replace("\r\n", "\n").partition("\nYou're getting")[0]
    return "\n".join(line for line in body.splitlines() if not _OWN_LINK.search(line))


def _plain(text: str) -> str:
    return " ".join(text.strip(" .").split())
