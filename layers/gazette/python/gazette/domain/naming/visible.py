"""The distinction between visible and invisible characters. Pure."""

import re
from unicodedata import category

_FLAG = (
    r"\U0001f3f4(?:[\U000e0061-\U000e007a]{2}[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,4}"
    r"|[\U000e0030-\U000e0039]{3})\U000e007f"
)
"""The pattern of a subdivision flag, such as England's.

Such a flag consists of a black flag, tag characters that spell a CLDR code (`gbeng`), and a cancel
tag. https://www.unicode.org/reports/tr51/#valid-emoji-tag-sequences

The code is not validated, but its length is limited, because longer tags can hide text from
readers.
"""

NEVER_SHOWN = (
    rf"({_FLAG})|"
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u2028\u2029\u202a-\u202e\u2060-\u206f\ufeff"
    r"\ufff9-\uffff\U000e0000-\U000e007f]"
)
"""The pattern of control characters, bidirectional controls and invisible characters.

Bidirectional controls are listed in UAX #9, 2.1 to 2.4. The first group matches a flag. Replace a
match with this group, so that flags are kept.
"""

_NEVER_SHOWN = re.compile(NEVER_SHOWN)

_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Invisible characters that Unicode classifies as letters or symbols."""

_LONGEST_NAME = 640
"""The maximum length of a name, in characters. Later characters are ignored, here and in
rendering."""


def without_hidden(text: str) -> str:
    """Return `text` without control characters and invisible characters, but with valid flags."""
    return _NEVER_SHOWN.sub(r"\1", text)


def is_visible(character: str) -> bool:
    """Return True if a character is visible by itself: not a space, combining mark or control."""
    kind = category(character)
    return kind[0] not in "MZ" and kind not in {"Cc", "Cf"} and character not in _BLANK


def is_name(text: str) -> bool:
    """Return True if the text contains a visible character, so that it can be used as a name."""
    if text.isascii() and text.isprintable():
        return not text.isspace() and text != ""
    return any(map(is_visible, without_hidden(text[:_LONGEST_NAME])))
