"""The rows of an inbox, and checks that each row shows something new.

Rows are based only on the emails that arrived.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import lxml.html
from gazette.domain.identity import parse_run_id
from gazette.domain.scheduling.kinds import ScheduleKind, kind_of

from demo.ses import Accepted

LARGEST_HTML = 90_000
"""The size in bytes below which the HTML of an email must remain."""

_OWN_LINK = re.compile(r"https?://\S+/(?:unsubscribe|updates)/\S+$")

_PADDING = dict.fromkeys(map(ord, "\u034f\u2007\u200c\xad"))
"""The characters that pad a preheader, so that inboxes do not show the email's text after it."""

_FOOTER = re.compile(r"\nYou(?:'re getting| get) this ")

_BEGIN_OF_SUBJECT = re.compile(r"^Your (?:week|month), [^:]+: ")
"""The pattern of the dates with which the subject of a weekly or monthly digest begins."""

_END_OF_SUBJECT = re.compile(r"(?: \+ [\d,]+ more)?(?: · [^·]+)?$")
"""The pattern of the end of a subject, which preheaders do not repeat: the number of further
updates, and the day.
"""


@dataclass(frozen=True, slots=True)
class Row:
    """An email in the form in which an inbox shows it."""

    to: str
    schedule: str
    subject: str
    preheader: str

    # The links of the email's blocks: those of the titles, or else that of the button.
    things: tuple[str, ...]

    # The email's text without the reader's personal links, which differ in each email.
    told: str

    # The size of the email's HTML in bytes.
    html_bytes: int

    @property
    def is_digest(self) -> bool:
        """True if the email is a digest. The immediate emails of a thread share one subject."""
        return kind_of(self.schedule) is not ScheduleKind.IMMEDIATE


@dataclass(frozen=True, slots=True)
class Repeated:
    """Counts of repetitions in the emails."""

    # The number of digests with the same subject as the previous digest, but different contents.
    subjects: int = 0

    # The number of preheaders that begin with their subject.
    preheaders: int = 0

    # The number of entities that occur twice in an email.
    things: int = 0

    # The number of emails whose HTML is too large.
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
        things=tuple(
            page.xpath("//a[@class='title']/@href") or page.xpath("//a[@class='open']/@href")
        ),
        told=_text(mail.part("plain")),
        html_bytes=len(html.encode()),
    )


def look(rows: Sequence[Row]) -> Repeated:
    """Count the repetitions in rows. The rows must be in the order in which the emails arrived."""
    before: dict[str, Row] = {}
    subjects = preheaders = things = 0
    for each in rows:
        last = before.get(each.to)
        if each.is_digest:
            if last is not None and last.subject == each.subject and last.told != each.told:
                subjects += 1
            before[each.to] = each
        headline = _END_OF_SUBJECT.sub("", _BEGIN_OF_SUBJECT.sub("", each.subject))
        preheaders += _plain(each.preheader).startswith(_plain(headline))
        things += len(each.things) - len({*each.things})
    too_large = sum(each.html_bytes >= LARGEST_HTML for each in rows)
    return Repeated(subjects, preheaders, things, too_large)


def _text(text: str) -> str:
    body = _FOOTER.split(text.replace("\r\n", "\n"))[0]
    return "\n".join(line for line in body.splitlines() if not _OWN_LINK.search(line))


def _plain(text: str) -> str:
    return " ".join(text.strip(" .").split())
