"""Text of header fields in ASCII, with encoded words where it needs them (RFC 2047)."""

import re
from email.header import Header
from email.utils import parseaddr

LONGEST_LINE = 76
"""Characters of a line with encoded words (RFC 2047, section 2)."""

_PLAIN = re.compile(r"(?!.*=\?)(?:[!-~]{1,60}(?: [!-~]{1,60})*)?")
"""ASCII that fits lines, and in which no reader finds an encoded word."""


def header_words(text: str, header: str) -> str:
    """`text` as the value of a header: as it is, or as encoded words with spaces between them.

    Decoding the value returns `text`, also if `text` looks like an encoded word. Each encoded word
    has at most 75 characters and holds whole characters (RFC 2047, sections 2 and 5), and the first
    fits the line behind the header's name. Raises UnicodeEncodeError for lone surrogates.
    """
    if _PLAIN.fullmatch(text):
        return text
    return Header(text, "utf-8", LONGEST_LINE, header).encode(linesep="")


def ascii_sender(sender: str) -> str:
    """A sender whose display name is in ASCII, as SES and From take it.

    https://docs.aws.amazon.com/ses/latest/APIReference/API_SendEmail.html, "Source"
    """
    name, address = parseaddr(sender)
    return sender if name.isascii() else f"{header_words(name, 'From')} <{address}>"
