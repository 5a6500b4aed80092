"""The row of an email in an inbox: the sender, the subject and the preheader."""

from dataclasses import dataclass

from gazette.domain.model import Edition
from lxml import html as parser
from lxml.etree import ParserError

_SHOWN = 140
"""The maximum number of preheader characters that the widest inboxes show."""

_INVISIBLE = dict.fromkeys(map(ord, "\u034f\u200c\xad"))
"""The invisible characters other than spaces that pad the preheader of an email."""


@dataclass(frozen=True, slots=True)
class InboxRow:
    """An email as a row of an inbox."""

    # The sender's display name.
    sender: str

    subject: str

    # The grey text after the subject.
    preheader: str


def inbox_row(edition: Edition, sender: str) -> InboxRow:
    """Return the inbox row of an email. `sender` is the sender's display name."""
    return InboxRow(sender, edition.subject, after_subject(edition.html))


def after_subject(html: str) -> str:
    """Return the text that mail programs show after the subject, or "" if the email has no body.

    The text begins with the first text of the body, including hidden text. Padding characters count
    towards the length, as in mail programs. The result shows whether body text follows the
    preheader in the inbox.
    """
    try:
        body = parser.document_fromstring(html).find("body")
    except ParserError:  # the document has no element
        return ""
    text = "" if body is None else " ".join(body.text_content().split())
    return " ".join(text[:_SHOWN].translate(_INVISIBLE).split())
