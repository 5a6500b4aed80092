"""Texts of services as shown to readers: cleaned, shortened, and in the reader's language.

A text must not change the direction of adjacent text, overflow the page, or look like a link.
"""

import re
from functools import lru_cache
from unicodedata import bidirectional, category, east_asian_width, normalize

from gazette.adapters.rendering.language import Language
from gazette.domain.window.naming import (
    NEVER_SHOWN,
    POP_ISOLATE,
    is_visible,
    unclosed,
    without_hidden,
)

_NAME = 80
"""The maximum length of a name in characters."""

_IN_A_SUBJECT, LONGEST_HEADLINE, _SHORTEST_TITLE = 24, 60, 16
"""Lengths in characters for a subject: the maximum for a name, the maximum for the first part, and
the minimum for a title."""

_LINKED = re.compile(r"(?<=\S)[.@](?=\S)|:(?=//)")
"""The characters that make a name look like a web or email address."""

_NEVER_IN_A_SUBJECT = re.compile(
    NEVER_SHOWN.replace(r"\u2060-\u206f", r"\u2060-\u2065\u206a-\u206f")
)
"""The pattern of characters that are never shown, except for the isolates that templates add."""

_ENCODED_WORD = re.compile(r"=\?(?=[^?]*\?[bq]\?)", re.IGNORECASE)
"""The pattern of the beginning of an encoded word (RFC 2047, section 2), including forms that only
lenient mail programs accept."""


_WORDS, _FREE_WORDS, _LETTERS = 5, 3, 40
"""The maximum numbers of words and characters in a name that is shown without quotation marks. If a
name has more than `_FREE_WORDS` words, they must be capitalised like those of a name."""

_USUAL = re.compile(r"[^\W\d_][\w'’-]*(?: [^\W_][\w'’-]*){0,2}")
"""A pattern that matches most plain names, as a fast check."""

_IN_NAMES = frozenset(" '’.-‐־_·׳״\u200c\u200d")

_PARTICLES = frozenset(
    """af al av bar ben bin bint d da dal de del della den der des di do dos du e el i ibn la las le
    los te ten ter van von y zu zum zur""".split()
)
"""Words within names that many people write in lower case, as in `Juan Carlos de la Cruz`."""

_EMOJI = re.compile(
    r"(?![☑✅✓✔\U0001f5f8\U0001f5f9])"
    r"[\u231a-\u23ff\u2600-\u27bf\u2b05-\u2b55\U0001f000-\U0001faff\U000e0020-\U000e007f]"
    r"[\ufe0f\u200d]*"
)
"""The pattern of emoji and of the tag characters in flags, with joiners and variation selectors.
https://www.unicode.org/reports/tr51/#Emoji_Properties

Check marks are excluded, because they look like the mark of a verified account."""


def one_line(text: str, longest: int) -> str:
    """Return `text` without line breaks and invisible characters, cut to `longest` characters.

    Returns an empty text if no character is visible.
    """
    if len(text) <= longest and text.isascii() and text.isprintable():
        is_tidy = "  " not in text and text[:1] != " " and text[-1:] != " "
        return text if is_tidy else " ".join(text.split())
    return _cut(" ".join(_seen(text, longest).split()), longest)


def person(name: str, longest: int) -> str:
    """Return a person's name on one line, so that no mail program mistakes the name for an address.

    Anyone can choose the name `example.com` or `bo@example.com`, which mail programs turn into a
    link. An invisible word joiner (Unicode 23.2) after the dot or `@` prevents that.
    """
    line = one_line(name, longest)
    if "." in line or "@" in line or ":" in line:
        return _LINKED.sub("\\g<0>\u2060", line)
    return line


def masked(address: str) -> str:
    """Return a masked email address, which its owner recognises but other people cannot use."""
    local, _, domain = address.rpartition("@")
    return f"{local[:1]}•••@{domain}"


@lru_cache(maxsize=4096)
def shown_name(name: str, language: Language) -> str:
    """Return a person's name as shown in lines, in quotation marks if it could be mistaken for a
    sentence."""
    line = person(name, _NAME)
    return line if not line or _is_plain(line) else language.quoted(line)


def _is_plain(name: str) -> bool:
    """Return True if a name has only a few words of letters, digits and emoji, unlike a sentence.

    Other names are shown in quotation marks, because lines and subjects begin with names. A name of
    four or five words is also shown in quotation marks if a word is written in lower case and is
    not a particle such as `de`, because `Your password expires today` is not a name.
    """
    if len(name) > _LETTERS:
        return False
    if _USUAL.fullmatch(name):
        return True
    words = _EMOJI.sub(" ", name).split()
    return (
        any(map(str.isalpha, name))
        and len(words) <= _WORDS
        and all(word[:1].isalnum() for word in words)
        and all(
            each in _IN_NAMES or category(each)[0] in "LMN" or _EMOJI.match(each) for each in name
        )
        and (len(words) <= _FREE_WORDS or all(map(_is_capitalised, words[1:])))
    )


def _is_capitalised(word: str) -> bool:
    """Return True if a word within a name begins with a capital letter or a particle (`d'Arc`).

    Also return True for digits, and for letters without case, such as those of Hebrew.
    """
    return not word[:1].islower() or re.split("['’-]", word)[0] in _PARTICLES


def from_name(name: str, brand: str) -> str:
    """Return the display name of a sender, such as `Bo Berg (Gazette)`.

    Returns an empty text if the name could be mistaken for an address, a sentence or an employee
    of the service, or has characters that are not printable. The names of services are compared in
    compatibility form, in which letters of different styles are equal (UAX #15).
    """
    line = person(name, _NAME)
    plain = normalize("NFKC", line).casefold()
    is_safe = line and line.isprintable() and _is_plain(line)
    poses = normalize("NFKC", brand).casefold() in plain or not _OFFICIAL.isdisjoint(plain.split())
    return f"{line} ({brand})" if is_safe and not poses else ""


_OFFICIAL = frozenset(
    "abuse account accounts admin administrator billing help info konto mailer-daemon moderator "
    "no-reply noreply notification notifications official owner payment payments postmaster root "
    "security service sicherheit staff support system team webmaster".split()
)
"""Words in names that look like the service itself. The list cannot be complete."""


def greeted(name: str, locale: str, longest: int) -> str:
    """Return the name for a greeting: `Ann` for `Ann Weber`, or the whole name if the first name is
    unclear.
    """
    line = person(name, longest)
    first = line.partition(" ")[0]
    is_first = len(first) > 1 and first.isalpha()
    return first if is_first and locale[:2].lower() not in _FAMILY_FIRST else line


_FAMILY_FIRST = frozenset({"hu", "ja", "ko", "vi", "zh"})
"""Languages in which the family name comes first."""


def short_name(name: str, language: Language) -> str:
    """Return a shown name, shortened so that it fits in a subject."""
    if len(name) <= _IN_A_SUBJECT:
        return name
    inside = language.unquoted(name)
    short = _cut(inside, _IN_A_SUBJECT)
    return short if inside == name else language.quoted(short)


def thing(title: str, others: int, language: Language) -> str:
    """Return a title in quotation marks, shortened so that it fits in a subject with `others`
    further characters.
    """
    return language.quoted(_cut(title, max(_SHORTEST_TITLE, LONGEST_HEADLINE - others - 2)))


def subject_line(text: str, longest: int) -> str:
    """Return a rendered subject on one line, cut to `longest` characters, with all isolates closed.

    Control characters are removed only here, for every provider. A word joiner (Unicode 23.2)
    prevents mail programs from decoding an encoded word, whose content was not cleaned.
    """
    line = " ".join(_NEVER_IN_A_SUBJECT.sub(r"\1", text).split())
    line = _cut(_ENCODED_WORD.sub("=\u2060?", line), longest - 1)
    return line + POP_ISOLATE * unclosed(line)


def several_lines(text: str, longest: int) -> str:
    """Return `text` without invisible characters, cut to `longest` characters. Line breaks remain.

    Returns an empty text if no character is visible.
    """
    if text.isprintable():
        return one_line(text, longest)
    lines = (" ".join(line.split()) for line in _seen(text, longest).splitlines())
    return _cut("\n".join(lines).strip(), longest)


def beginning(text: str, longest: int) -> str:
    """Return a text of `several_lines` on one line, cut to `longest` characters."""
    if "\n" in text:
        text = " ".join(text.split())
    return text if len(text) <= longest else _cut(text, longest)


def _seen(text: str, longest: int) -> str:
    """Return `text` without hidden characters, or an empty string if no character is visible."""
    seen = without_hidden(text[: 8 * longest])
    return seen if any(map(is_visible, seen)) else ""


def _cut(text: str, longest: int) -> str:
    """Return `text`, cut to `longest` characters. Cuts at a word boundary if that keeps at least
    half, and never within a character.
    """
    if len(text) <= longest:
        return text
    end = longest - 1
    while end > longest // 2 and _goes_on(text, end):
        end -= 1
    remaining = text[:end]
    if not text[end].isspace():
        words = remaining.rsplit(maxsplit=1)[0]
        remaining = words if len(words) > longest // 2 else remaining
    return remaining.rstrip() + "…"


@lru_cache(maxsize=4096)
def initials(name: str) -> str:
    """Return up to two initials: `BB` for `Bo Berg`, `Z` for `Zoë`, one character for CJK names.

    Returns one character if letters are joined (Arabic) or stand for words, and if the name has no
    letter. A character includes its combining marks. Returns an empty text if no part of the name
    is visible.
    """
    words = [word for word in map(_bare, one_line(name, _NAME).split()) if word]
    lettered = [word for word in words if word[0].isalpha()]
    if not lettered:
        return _first_sign(words[0]) if words else ""
    first, last = lettered[0], lettered[-1]
    ways = {bidirectional(first[0]), bidirectional(last[0])}
    if len(lettered) == 1 or len(ways) > 1 or "AL" in ways or _is_wide(first) or _is_wide(last):
        return _first_sign(first)
    return _first_sign(first) + _first_sign(last)


def _bare(word: str) -> str:
    """Return a word without the invisible characters and direction marks at its beginning."""
    bare = word.strip(_ROUND_NAMES)
    while bare and not is_visible(bare[0]):
        bare = bare[1:].lstrip(_ROUND_NAMES)
    return bare


def _is_wide(word: str) -> bool:
    return east_asian_width(word[0]) in "WF"


_ROUND_NAMES = "\"'`´“”„‘’«»‹›()[]{}<>.,;:!?*_-–—·"
_JOINER = "\u200d"
_LONGEST_SIGN = 12
"""The maximum number of code points in a character, as in a family emoji with skin tones. The limit
also truncates stacked combining marks."""


def _first_sign(word: str) -> str:
    """Return the first grapheme cluster of a name in upper case, by a simplified form of the rules
    in UAX #29.
    """
    end = 1
    while end < min(len(word), _LONGEST_SIGN) and _goes_on(word, end):
        end += 1
    upper = word[:end].upper()
    return upper if len(upper) == end else word[:end]


def _goes_on(text: str, place: int) -> bool:
    """Return True if the code point at `place` is part of the preceding character, such as a
    combining mark.
    """
    each, before = text[place], text[place - 1]
    is_tone = "\U0001f3fb" <= each <= "\U0001f3ff"
    if category(each)[0] == "M" or each == _JOINER or before == _JOINER or is_tone:
        return True
    if "\U000e0020" <= each <= "\U000e007f":
        return True  # a tag character; tag characters outside flags were removed
    if not _is_of_a_flag(each):
        return False
    halves = 0
    while halves < place and _is_of_a_flag(text[place - 1 - halves]):
        halves += 1
    return halves % 2 == 1


def _is_of_a_flag(sign: str) -> bool:
    return "\U0001f1e6" <= sign <= "\U0001f1ff"
