"""The values of a group for templates: cleaned, shortened, and in the reader's language.

Text from services must not change the direction of adjacent text, overflow the page, or link to
anything but web pages.
"""

import json
import re
from collections.abc import Mapping
from datetime import date, tzinfo
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn
from unicodedata import bidirectional, category, east_asian_width
from zlib import crc32

from gazette.adapters.rendering.language import FIRST_STRONG_ISOLATE, POP_ISOLATE, Language
from gazette.domain.delivery.compose import Group
from gazette.domain.errors import RenderingFailed
from gazette.domain.links import is_web_link
from gazette.domain.model import Entity, Image, Importance
from gazette.domain.window.naming import NEVER_SHOWN, is_visible, without_hidden

_NAME, _TITLE, _EXCERPT = 80, 200, 300
"""The maximum lengths of names, titles and excerpts in characters. The contract has the same limit
for titles."""

_IN_A_SUBJECT, LONGEST_HEADLINE, _SHORTEST_TITLE = 24, 60, 16
"""Lengths in characters for a subject: the maximum for a name, the maximum for the first part, and
the minimum for a title."""

_LONGEST_PICTURE = 1100
"""The maximum length in characters of an image URL in HTML, in which `&` becomes `&amp;`. The limit
allows the long URLs of services, but not URLs consisting of ampersands."""

_NAMED = 2
"""The number of named people in a line that counts the remaining people, as in `Ann, Bo and 12
others`."""

_LINKED = re.compile(r"(?<=\S)[.@](?=\S)|:(?=//)")
"""The characters that make a name look like a web or email address."""

_NEVER_IN_A_SUBJECT = re.compile(
    NEVER_SHOWN.replace(r"\u2060-\u206f", r"\u2060-\u2067\u206a-\u206f")
)
"""The pattern of characters that are never shown, except for the isolates that templates add."""

_ENCODED_WORD = re.compile(r"=\?(?=[^?]*\?[bq]\?)", re.IGNORECASE)
"""The pattern of the beginning of an encoded word (RFC 2047, section 2), including forms that only
lenient mail programs accept."""


class ShownLine(NamedTuple):
    """One line of a block, such as `3 new comments from Bo`."""

    shown: "ShownGroup"
    line: str


class ShownBlock(NamedTuple):
    """A block as shown to readers.

    `title`, `url`, `moment` and `image` come from the latest event.
    """

    title: str
    url: str
    moment: str
    is_full: bool
    """True if the block has excerpts and an image. Otherwise, excerpts are empty and the image is
    None."""

    events: int
    """The number of events in the block's lines."""

    lines: tuple[ShownLine, ...]
    image: Image | None


_WORDS, _LETTERS = 3, 40
"""The maximum numbers of words and letters in a name that is shown without quotation marks."""

_USUAL = re.compile(r"[^\W\d_][\w'’-]*(?: [^\W_][\w'’-]*){0,2}")
"""A pattern that matches most plain names, as a fast check."""

_IN_NAMES = frozenset(" '’.-‐_·׳״\u200c\u200d")


class Person(NamedTuple):
    """A person as shown to readers."""

    name: str
    url: str
    """The URL of the person's page."""

    avatar: str
    """The URL of the person's picture."""

    initials: str
    """The initials that are shown for a person without a picture."""

    colour: str
    """The background colour of the white initials, as `#rrggbb`."""


class ShownGroup(NamedTuple):
    """A group as shown to readers. Groups with equal values look the same to all readers."""

    category: str
    count: int  # type: ignore[assignment] # templates use this name, and no code calls tuple.count
    people: tuple[str, ...]
    """The names to show. Empty for events without a named actor."""

    others: int
    """The number of additional people, who are not named."""

    title: str
    url: str
    excerpt: str
    moment: str
    """The time of the latest event, in the reader's time zone."""

    language: str
    """The CLDR locale of the formats."""

    signer: str
    """The author of `excerpt`, if the line does not already identify the author."""

    actor: Person | None
    """The latest actor, or None without a named actor."""

    image: Image | None
    """The image of the entity."""

    importance: Importance
    """The importance of the latest event."""

    data: Mapping[str, Any]
    """The custom data of the latest event. Empty if the event has no data."""


class Picked(NamedTuple):
    """The values of a group that are shown, before cleaning.

    Groups with equal values look the same.
    """

    category: str
    events: int
    people: tuple[str, ...]
    others: int
    title: str
    url: str
    excerpt: str
    moment: str
    is_signed: bool
    colour: int
    """The index in `COLOURS` of the latest actor's colour."""

    more: "More | None"


class More(NamedTuple):
    """Additional values of a group. Few groups have these values."""

    url: str = ""
    """The URL of the latest actor's page."""

    avatar: str = ""
    """The URL of the latest actor's picture."""

    image: Image | None = None
    importance: Importance = Importance.NORMAL
    data: str = ""


_NO_MORE = More()


def pick(
    group: Group, language: Language, zone: tzinfo, today: date | None = None, *, full: bool = True
) -> Picked:
    """Select the values of a group to show, before cleaning.

    `moment` is in the reader's time zone and language. `today` is the reader's date, which
    determines the names of days; None shows dates only.
    """
    latest, actors = group.latest, group.actors
    entity = latest.entity
    named = group.people if group.people <= _NAMED + 1 else _NAMED
    return Picked(
        latest.category,
        group.count,
        tuple([actor.name for actor in actors[:named]]),
        group.people - named,
        entity.title,
        entity.url,
        latest.excerpt if full else "",
        language.moment(latest.occurred_at, zone, today),
        full and group.count > 1 and bool(actors) and latest.excerpt != "",
        _colour_of(actors[0].id) if actors else 0,
        _more(group),
    )


def _more(group: Group) -> More | None:
    latest, actors = group.latest, group.actors
    url, avatar = (actors[0].url, actors[0].avatar) if actors else ("", "")
    more = More(url, avatar, latest.entity.image, latest.importance, latest.data)
    return None if more == _NO_MORE else more


def show(group: Group, language: Language, zone: tzinfo) -> ShownGroup:
    """Return the cleaned values of a group. Raise RenderingFailed if its link is not a web link."""
    return clean(pick(group, language, zone), group.latest.entity, language)


def clean(picked: Picked, entity: Entity, language: Language) -> ShownGroup:
    """Return the cleaned values of a group of events on `entity`.

    Raises RenderingFailed if the group's link is not a web link.
    """
    if not is_web_link(picked.url):
        raise RenderingFailed(f"the link of {entity.key[:200]!r} is not an http(s) URL")
    people = tuple([_shown_name(name, language) for name in picked.people])
    more = picked.more or _NO_MORE
    return ShownGroup(
        category=picked.category,
        count=picked.events,
        people=picked.people if people == picked.people else people,
        others=picked.others,
        title=one_line(picked.title, _TITLE) or picked.url,
        url=picked.url,
        excerpt=_several_lines(picked.excerpt),
        moment=picked.moment,
        language=language.name,
        signer=people[0] if picked.is_signed else "",
        actor=_person(people[0], picked, more) if people else None,
        image=_image(more.image) if more.image else None,
        importance=more.importance,
        data=_seen_in(json.loads(more.data)) if more.data else _NO_DATA,
    )


_NO_DATA: Mapping[str, Any] = MappingProxyType({})


def _person(name: str, picked: Picked, more: More) -> Person:
    """Return the latest actor under the given display name. Omit URLs that are not web
    addresses.
    """
    return Person(
        name,
        more.url if is_web_link(more.url) else "",
        more.avatar if _is_picture(more.avatar) else "",
        initials(picked.people[0]),
        COLOURS[picked.colour],
    )


COLOURS = (
    "#1d4ed8",
    "#047857",
    "#b45309",
    "#be123c",
    "#7c3aed",
    "#0e7490",
    "#4d7c0f",
    "#a21caf",
)
"""Background colours of white initials, for light and dark mode, each with a contrast of 4.5 or
more."""


@lru_cache(maxsize=4096)
def _colour_of(actor: str) -> int:
    """Return the index of the colour for a person's id. The colour is the same in every process and
    email.
    """
    return crc32(actor.encode(errors="replace")) % len(COLOURS)


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


def _image(image: Image) -> Image | None:
    return Image(image.url, one_line(image.text, _TITLE)) if _is_picture(image.url) else None


def _is_picture(url: str) -> bool:
    """Return True if the image's URL is a web address of acceptable length.

    The limit prevents eight avatars in one block from making the block too long.
    """
    return is_web_link(url) and len(url) + 4 * url.count("&") <= _LONGEST_PICTURE


def _seen_in(value: Any) -> Any:
    """Return a copy of an event's custom data without hidden characters.

    The data is small, so it is not shortened.
    """
    if isinstance(value, str):
        return without_hidden(value)
    if isinstance(value, list):
        return FixedList([_seen_in(each) for each in value])
    if isinstance(value, dict):
        return FixedDict({without_hidden(name): _seen_in(each) for name, each in value.items()})
    return value


def _refuse(*_: object, **__: object) -> NoReturn:
    raise TypeError("the data of an event cannot be changed, because other readers share it")


class FixedDict(dict[str, Any]):
    """An immutable dictionary for an object in a service's data. Cached blocks of many readers
    share the data.
    """

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse


class FixedList(list[Any]):
    """An immutable list for an array in a service's data. Cached blocks of many readers share the
    data.
    """

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = _refuse
    remove = reverse = sort = _refuse


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
def _shown_name(name: str, language: Language) -> str:
    line = person(name, _NAME)
    return line if not line or _is_plain(line) else language.quoted(line)


def _is_plain(name: str) -> bool:
    """Return True if a name has only a few words of letters and digits, unlike a sentence.

    Other names are shown in quotation marks, because lines and subjects begin with names.
    """
    if len(name) <= _LETTERS and _USUAL.fullmatch(name):
        return True
    words = name.split(" ")
    return (
        len(words) <= _WORDS
        and len(name) <= _LETTERS
        and all(word[:1].isalnum() for word in words)
        and any(map(str.isalpha, name))
        and all(each in _IN_NAMES or category(each)[0] in "LMN" for each in name)
    )


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


def in_a_subject(group: ShownGroup, language: Language) -> ShownGroup:
    """Return the group without the people whose short names do not fit in a subject."""
    few = 1 if len(group.people) + group.others > _NAMED else _NAMED
    names = tuple([_short(name, language) for name in group.people[:few]])
    return group._replace(people=names, others=group.others + len(group.people) - len(names))


def _short(name: str, language: Language) -> str:
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
    return line + POP_ISOLATE * (line.count(FIRST_STRONG_ISOLATE) - line.count(POP_ISOLATE))


def _several_lines(text: str) -> str:
    if text.isprintable():
        return one_line(text, _EXCERPT)
    lines = (" ".join(line.split()) for line in _seen(text, _EXCERPT).splitlines())
    return _cut("\n".join(lines).strip(), _EXCERPT)


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
