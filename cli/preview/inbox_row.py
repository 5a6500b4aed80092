"""What a list of emails shows of one, before anybody opens it."""

from dataclasses import dataclass

from gazette.domain.model import Edition
from lxml import html as parser
from lxml.etree import ParserError

_SHOWN = 140
"""Characters after the subject: as many as the widest lists show."""

_INVISIBLE = dict.fromkeys(map(ord, "\u034f\u200c\xad"))
"""What our preheaders are filled up with, beside spaces; lists show nothing of it."""


@dataclass(frozen=True, slots=True)
class InboxRow:
    """`preheader` is what follows the subject in grey."""

    sender: str
    subject: str
    preheader: str


def inbox_row(edition: Edition, sender: str) -> InboxRow:
    """The row of an email from `sender`, the name that mail programs show."""
    return InboxRow(sender, edition.subject, after_subject(edition.html))


def after_subject(html: str) -> str:
    """What mail programs show after the subject: the first text of the body, hidden or not.

    What fills a preheader up takes its place here as it does there, so that what leaks is seen.
    Empty where there is no body.
    """
    try:
        body = parser.document_fromstring(html).find("body")
    except ParserError:  # it has no element at all
        return ""
    text = "" if body is None else " ".join(body.text_content().split())
    return " ".join(text[:_SHOWN].translate(_INVISIBLE).split())
