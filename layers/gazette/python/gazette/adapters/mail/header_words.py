"""Encoding of header text in ASCII, with encoded words if needed (RFC 2047)."""

import re
from email.header import Header
from email.utils import parseaddr

LONGEST_LINE = 76
"""The maximum length in characters of a line with encoded words (RFC 2047, section 2)."""

_PLAIN = re.compile(r"(?!.*=\?)(?:[!-~]{1,60}(?: [!-~]{1,60})*)?")
"""The pattern of ASCII text that needs no encoding, because its words fit on a line and do not look
like encoded words."""


_QUOTED, _ESCAPED = re.compile(r'(["\\])'), r"\\\1"
"""The characters that a quoted string escapes, and their replacement."""


def header_words(text: str, header: str) -> str:
    """Return `text` as a header value: unchanged, or as encoded words separated by spaces.

    Decoding the value returns `text`, even if `text` looks like an encoded word. Each encoded word
    has at most 75 characters and contains only whole characters (RFC 2047, sections 2 and 5). The
    first one fits on the line after the header's name. Raises UnicodeEncodeError for lone
    surrogates.
    """
    if _PLAIN.fullmatch(text):
        return text
    return Header(text, "utf-8", LONGEST_LINE, header).encode(linesep="")


def ascii_sender(sender: str, shown: str = "") -> str:
    """Return a sender with the display name encoded in ASCII, which SES and the From header
    require.
    https://docs.aws.amazon.com/ses/latest/APIReference/API_SendEmail.html, "Source"

    If `shown` is not empty, it replaces the display name, as a quoted string (RFC 5322, section
    3.2.4) or as encoded words. A name with a control character or a direction mark is ignored,
    because it comes from a service.
    """
    name, address = parseaddr(sender)
    if shown and shown.isprintable():
        if _PLAIN.fullmatch(shown):
            return f'"{_QUOTED.sub(_ESCAPED, shown)}" <{address}>'
        return f"{header_words(shown, 'From')} <{address}>"
    return sender if name.isascii() else f"{header_words(name, 'From')} <{address}>"
