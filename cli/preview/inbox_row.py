"""The row of an email in an inbox: sender, subject and preheader."""

from dataclasses import dataclass

from gazette.domain.model import Edition
from lxml import html as parser
from lxml.etree import ParserError

_SHOWN = 140
"""The maximum length of a preheader. The widest inboxes show this many characters."""

_INVISIBLE = dict.fromkeys(map(ord, "\u034f\u200c\xad"))
"""The invisible characters that fill our preheaders, in addition to spaces."""


@dataclass(frozen=True, slots=True)
class InboxRow:
    """The row of an email in an inbox."""

    # The sender's display name.
    sender: str

    subject: str

    # The grey text after the subject.
    preheader: str


def inbox_row(edition: Edition, sender: str) -> InboxRow:
    """Return the row of an email. `sender`: the sender's display name."""
    return InboxRow(sender, edition.subject, after_subject(edition.html))


def after_subject(html: str) -> str:
    """Return the text that mail programs show after the subject, or "" without a body.

    It is the first text of the body, hidden or not. Fillers count as characters, like in mail
    programs, so the result shows whether other text leaks into the preheader.
    """
    try:
        body = parser.document_fromstring(html).find("body")
    except ParserError:  # the document has no element
        return ""
    text = "" if body is None else " ".join(body.text_content().split())
    return " ".join(text[:_SHOWN].translate(_INVISIBLE).split())
