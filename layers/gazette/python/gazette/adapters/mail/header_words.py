"""The text of header fields in ASCII, with encoded words if needed (RFC 2047)."""

import re
from email.header import Header
from email.utils import parseaddr

LONGEST_LINE = 76
"""The characters of a line with encoded words (RFC 2047, section 2)."""

_PLAIN = re.compile(r"(?!.*=\?)(?:[!-~]{1,60}(?: [!-~]{1,60})*)?")
"""ASCII that fits lines, and that mail programs do not mistake for an encoded word."""


def header_words(text: str, header: str) -> str:
    """Return `text` as the value of a header: unchanged, or as encoded words separated by spaces.

    Decoding the value returns `text`, also if `text` looks like an encoded word. Each encoded word
    has at most 75 characters and contains whole characters (RFC 2047, sections 2 and 5). The first
    fits the line behind the header's name. Raises UnicodeEncodeError for lone surrogates.
    """
    if _PLAIN.fullmatch(text):
        return text
    return Header(text, "utf-8", LONGEST_LINE, header).encode(linesep="")


def ascii_sender(sender: str) -> str:
    """Return a sender whose display name is in ASCII, as SES and From require.
    https://docs.aws.amazon.com/ses/latest/APIReference/API_SendEmail.html, "Source"
    """
    name, address = parseaddr(sender)
    return sender if name.isascii() else f"{header_words(name, 'From')} <{address}>"
