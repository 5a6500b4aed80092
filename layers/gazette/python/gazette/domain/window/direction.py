"""The writing direction of a text, which the majority of its letters determines. Pure."""

import re
from functools import lru_cache
from unicodedata import bidirectional

LTR, RTL = "ltr", "rtl"

_LEFT_TO_RIGHT_ISOLATE, _RIGHT_TO_LEFT_ISOLATE = "\u2066", "\u2067"
FIRST_STRONG_ISOLATE = "\u2068"
POP_ISOLATE = "\u2069"
ISOLATES = _LEFT_TO_RIGHT_ISOLATE + _RIGHT_TO_LEFT_ISOLATE + FIRST_STRONG_ISOLATE
"""The characters that start an isolate.
https://www.unicode.org/reports/tr9/#Explicit_Directional_Isolates"""

_LONGEST_CACHED = 1_000
"""The maximum length in characters of a text whose direction is cached. Titles, names and excerpts
are shorter. Thousands of longer texts would exhaust the memory."""

_TYPES = {"L": LTR, "R": RTL, "AL": RTL}
"""The directions of the strong character types.
https://www.unicode.org/reports/tr9/#Bidirectional_Character_Types"""

_CAN_BE_RIGHT_TO_LEFT = re.compile(
    r"[\u0590-\u08ff\u200f\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
"""A pattern that matches every strong right-to-left character, as a fast check."""

_MARKS = {"\u200e": LTR, "\u200f": RTL, "\u061c": RTL}
"""Invisible characters with a strong type, which are not letters."""

_ADDRESS = re.compile(r"\S*(?:@|://)\S*")
"""The pattern of a user name such as `@ann`, an email address or a URL. These are Latin in texts of
any language."""


def direction_of(text: str, default: str) -> str:
    """Return the direction of most letters, `ltr` or `rtl`. Return `default` for a text without
    letters.

    The attribute `dir="auto"` and first strong isolates use the first letter instead, so a Hebrew
    sentence that begins with `@ann` would be written from left to right. Letters in user names and
    addresses count only if there are no others. If both directions have the same number, the first
    letter decides.
    """
    if default == LTR and text.isascii():
        return LTR
    return _majority_of(text) or default


def isolated(text: str, around: str) -> str:
    """Return `text`, isolated if it could change the direction `around` it, `ltr` or `rtl`."""
    if around == LTR and text.isascii():
        return text
    before = (_isolate if len(text) <= _LONGEST_CACHED else _isolate.__wrapped__)(text, around)
    return f"{before}{text}{POP_ISOLATE}" if before else text


def _majority_of(text: str) -> str:
    return (_majority if len(text) <= _LONGEST_CACHED else _majority.__wrapped__)(text)


def unclosed(text: str) -> int:
    """Return the number of isolates in `text` without a character that ends them."""
    return sum(map(text.count, ISOLATES)) - text.count(POP_ISOLATE)


# The results are cached, because an email repeats most names.


@lru_cache(maxsize=4096)
def _majority(text: str) -> str:
    """Return the direction of most letters, or an empty string for a text without letters."""
    if not _CAN_BE_RIGHT_TO_LEFT.search(text):
        return LTR if "L" in map(bidirectional, text) else ""
    words = _ADDRESS.sub("", text)
    return _most(words) or _most(text) or _first(text)


def _most(text: str) -> str:
    kinds = [_TYPES.get(bidirectional(each), "") for each in text if each not in _MARKS]
    latin, hebrew = kinds.count(LTR), kinds.count(RTL)
    if latin == hebrew:
        return next(filter(None, kinds), "")
    return LTR if latin > hebrew else RTL


def _first(text: str) -> str:
    """Return the direction of the first strong character, or an empty string."""
    return next((way for each in text if (way := _TYPES.get(bidirectional(each)))), "")


@lru_cache(maxsize=4096)
def _isolate(text: str, around: str) -> str:
    """Return the character that starts an isolate around the text.

    Return an empty string for a text that is written entirely in the direction `around`.
    """
    kinds = set(map(bidirectional, text))
    right_to_left = not kinds.isdisjoint({"R", "AL"})
    is_entirely = right_to_left and "L" not in kinds if around == RTL else not right_to_left
    if is_entirely or not text:
        return ""
    majority = _majority_of(text)
    if majority == _first(text) and not any(each in text for each in ISOLATES):
        return FIRST_STRONG_ISOLATE
    return _RIGHT_TO_LEFT_ISOLATE if majority == RTL else _LEFT_TO_RIGHT_ISOLATE
