"""Encoding of an email as seven-bit MIME, which any SMTP server accepts.

Eight-bit bodies require the extension 8BITMIME (RFC 6152, section 3). A relay without the extension
re-encodes them, which breaks DKIM signatures (RFC 6376, section 5.3).
"""

from base64 import b64encode
from email.headerregistry import (
    BaseHeader,
    ContentTransferEncodingHeader,
    ContentTypeHeader,
    HeaderRegistry,
    MIMEVersionHeader,
    UnstructuredHeader,
)
from email.message import EmailMessage
from email.policy import SMTP, Policy
from email.quoprimime import body_length
from email.utils import formatdate, make_msgid, parseaddr
from textwrap import wrap
from typing import Any, cast

from gazette.adapters.mail.header_words import LONGEST_LINE, ascii_sender, header_words
from gazette.domain.feedback.reports import REFERENCE_HEADER
from gazette.domain.model import Mail


class _AsWritten(UnstructuredHeader, BaseHeader):
    """A header whose value is sent unchanged, folded only at spaces.

    The standard library's classes decode encoded words and encode long words. But a title may look
    like an encoded word, and List-Unsubscribe must not contain encoded words.
    """

    @classmethod
    def parse(cls, value: str, kwds: dict[str, Any]) -> None:
        """Store the value unchanged. HeaderRegistry calls this method."""
        kwds["decoded"], kwds["parse_tree"] = value, None

    def fold(self, *, policy: Policy) -> str:
        """Split the header into lines of up to 76 characters. A longer word gets a longer line."""
        lines = wrap(
            self,
            LONGEST_LINE,
            initial_indent=f"{self.name}: ",
            subsequent_indent=" ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        return policy.linesep.join([*(lines or [f"{self.name}: "]), ""])


_HEADERS = HeaderRegistry(default_class=_AsWritten, use_default_map=False)
for _name, _class in (
    ("mime-version", MIMEVersionHeader),
    ("content-type", ContentTypeHeader),
    ("content-transfer-encoding", ContentTransferEncodingHeader),
):
    _HEADERS.map_to_type(_name, cast("type[BaseHeader]", _class))

_POLICY = SMTP.clone(max_line_length=LONGEST_LINE, cte_type="7bit", header_factory=_HEADERS)
"""The policy for writing messages. Lines of encoded bodies have up to 76 characters (RFC 2045,
sections 6.7 and 6.8).
"""


def mime(mail: Mail, *, sender: str, reference: str = "") -> EmailMessage:
    """Return the message as MIME: text and HTML alternatives, and tags for SES's SMTP endpoint.
    https://docs.aws.amazon.com/ses/latest/dg/event-publishing-send-email.html

    The reference is in Message-ID, which most providers return with delivery events, and in a
    header of its own, because some providers replace Message-ID.

    Raises ValueError for text that UTF-8 cannot encode.
    """
    message = EmailMessage(policy=_POLICY)
    message["From"] = ascii_sender(sender, mail.edition.from_name)
    message["To"] = mail.to
    if mail.edition.reply_to:
        message["Reply-To"] = mail.edition.reply_to
    message["Subject"] = header_words(mail.edition.subject, "Subject")
    message["Date"] = formatdate()
    domain = parseaddr(sender)[1].rpartition("@")[2]
    message["Message-ID"] = f"<{reference}@{domain}>" if reference else make_msgid(domain=domain)
    if reference:
        message[REFERENCE_HEADER] = reference
    for name, value in mail.headers:
        message[name] = value
    message["X-SES-MESSAGE-TAGS"] = ", ".join(f"{name}={value}" for name, value in mail.tags)
    message.set_content(mail.edition.text, cte=_encoding(mail.edition.text))
    message.add_alternative(mail.edition.html, subtype="html", cte=_encoding(mail.edition.html))
    return message


def _encoding(text: str) -> str:
    """Return the encoding that gives the shorter result: quoted-printable for most languages,
    base64 for the remaining ones.
    """
    body = text.encode()
    return "base64" if body_length(body) > len(b64encode(body)) else "quoted-printable"
