"""The values of a group that templates get: cleaned, cut to length, in the reader's language.

Text of services must not change the direction of the text beside it, overflow the page, or link
to anything but the web.
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
from gazette.domain.naming.visible import NEVER_SHOWN, is_visible, without_hidden

_NAME, _TITLE, _EXCERPT = 80, 200, 300
"""Characters. A title is as long as the contract allows."""

_IN_A_SUBJECT, LONGEST_HEADLINE, _SHORTEST_TITLE = 24, 60, 16
"""Characters of a subject: of each name, of what it says first, and of a title in it at least."""

_LONGEST_PICTURE = 1100
"""Characters of the address of a picture in HTML, where `&` is five: a long one as services make
them, but not one of ampersands."""

_NAMED = 2
"""How many people are named if more than one other is not."""

_LINKED = re.compile(r"(?<=\S)[.@](?=\S)|:(?=//)")
"""What makes an address of a name."""

_NEVER_IN_A_SUBJECT = re.compile(
    NEVER_SHOWN.replace(r"\u2060-\u206f", r"\u2060-\u2067\u206a-\u206f")
)
"""As `NEVER_SHOWN`, but without the isolates that templates add."""

_ENCODED_WORD = re.compile(r"=\?(?=[^?]*\?[bq]\?)", re.IGNORECASE)
"""The beginning of an encoded word (RFC 2047, section 2), as lenient programs read it."""


class Line(NamedTuple):
    """One line of a block. `line` says what happened: `3 new comments from Bo`."""

    shown: "Shown"
    line: str


class ShownBlock(NamedTuple):
    """A block as it is shown. `title`, `url`, `moment` and `image` are those of its latest event.

    `is_full`: with excerpts and the image; without, they are empty, and None. `events`: how many
    its lines stand for.
    """

    title: str
    url: str
    moment: str
    is_full: bool
    events: int
    lines: tuple[Line, ...]
    image: Image | None


_WORDS, _LETTERS = 3, 40
"""The most of a name that stands in a line without quotation marks."""

_USUAL = re.compile(r"[^\W\d_][\w'’-]*(?: [^\W_][\w'’-]*){0,2}")
"""Most names: a short way to know that they are plain."""

_IN_NAMES = frozenset(" '’.-‐_·׳״\u200c\u200d")


class Person(NamedTuple):
    """Somebody who is shown: `url` is the address of their page, `avatar` that of their picture.

    `initials` and `colour`, `#rrggbb` for white letters on it, stand for them without a picture.
    """

    name: str
    url: str
    avatar: str
    initials: str
    colour: str


class Shown(NamedTuple):
    """A group as it is shown. It is the same for all readers with the same fields.

    `count`: the number of updates. `people`: the names to show, empty for events without a named
    actor; `others`: how many more people there are. `moment`: the time of its latest event, in the
    reader's time zone. `language`: the CLDR name of the formats. `signer`: who wrote `excerpt`,
    where the line alone does not say it. `actor`: who acted last, None without a named actor.
    `image`: of the entity. `importance` and `data`: of the latest event; `data` is empty if it has
    none.
    """

    category: str
    count: int  # type: ignore[assignment] # templates use this name, and no code calls tuple.count
    people: tuple[str, ...]
    others: int
    title: str
    url: str
    excerpt: str
    moment: str
    language: str
    signer: str
    actor: Person | None
    image: Image | None
    importance: Importance
    data: Mapping[str, Any]


class Picked(NamedTuple):
    """What is shown of a group, as services wrote it. Groups with the same of it look the same.

    `colour`: the place in `COLOURS` of that of who acted last.
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
    more: "More | None"


class More(NamedTuple):
    """What is shown besides, of the few groups that say it. `url`, `avatar`: of who acted last."""

    url: str
    avatar: str
    image: Image | None
    importance: Importance
    data: str


def pick(
    group: Group, language: Language, zone: tzinfo, today: date | None = None, *, full: bool = True
) -> Picked:
    """What is shown of a group, not cleaned yet. `moment` is in the reader's zone and language.

    `today`: the reader's, by which days are called; None to give the date of each.
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
    image, importance, data = latest.entity.image, latest.importance, latest.data
    if url or avatar or image or data or importance is not Importance.NORMAL:
        return More(url, avatar, image, importance, data)
    return None


def show(group: Group, language: Language, zone: tzinfo) -> Shown:
    """What is shown of a group. Raises RenderingFailed if its link is not a web link."""
    return clean(pick(group, language, zone), group.latest.entity, language)


def clean(picked: Picked, entity: Entity, language: Language) -> Shown:
    """As `show`, of what was picked of a group about `entity`."""
    if not is_web_link(picked.url):
        raise RenderingFailed(f"the link of {entity.key[:200]!r} is not an http(s) URL")
    people, more = tuple([_shown_name(name, language) for name in picked.people]), picked.more
    return Shown(
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
        image=_image(more.image) if more and more.image else None,
        importance=more.importance if more else Importance.NORMAL,
        data=_seen_in(json.loads(more.data)) if more and more.data else _NO_DATA,
    )


_NO_DATA: Mapping[str, Any] = MappingProxyType({})


def _person(name: str, picked: Picked, more: More | None) -> Person:
    """Who acted last, under the name that is shown, without addresses that are not of the web."""
    letters, colour = initials(picked.people[0]), COLOURS[picked.colour]
    if more is None:
        return Person(name, "", "", letters, colour)
    return Person(
        name,
        more.url if is_web_link(more.url) else "",
        more.avatar if _is_picture(more.avatar) else "",
        letters,
        colour,
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
"""Behind white initials, in light mode and in dark, each with a contrast of 4.5 or more."""


@lru_cache(maxsize=4096)
def _colour_of(actor: str) -> int:
    """Always the same for an id, in every process and email."""
    return crc32(actor.encode(errors="replace")) % len(COLOURS)


@lru_cache(maxsize=4096)
def initials(name: str) -> str:
    """Up to two signs that stand for somebody: `BB` of `Bo Berg`, `Z` of `Zoë`, one of CJK names.

    One where letters are joined (Arabic) or stand for words, and of what is no letter. Each is what
    a reader takes for one sign, with its marks. Empty if nothing of the name is visible.
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
    """The word from its first visible sign on: a mark of direction may stand before it."""
    bare = word.strip(_ROUND_NAMES)
    while bare and not is_visible(bare[0]):
        bare = bare[1:].lstrip(_ROUND_NAMES)
    return bare


def _is_wide(word: str) -> bool:
    return east_asian_width(word[0]) in "WF"


_ROUND_NAMES = "\"'`´“”„‘’«»‹›()[]{}<>.,;:!?*_-–—·"
_JOINER = "\u200d"
_LONGEST_SIGN = 12
"""Code points: those of a family with skin tones, and an end to marks on marks."""


def _first_sign(word: str) -> str:
    """The first grapheme cluster, upper case, near enough to UAX #29 for names."""
    end = 1
    while end < min(len(word), _LONGEST_SIGN) and _goes_on(word, end):
        end += 1
    upper = word[:end].upper()
    return upper if len(upper) == end else word[:end]


def _goes_on(text: str, place: int) -> bool:
    """Return whether the character at `place` belongs to the one before, as a mark does."""
    each, before = text[place], text[place - 1]
    is_tone = "\U0001f3fb" <= each <= "\U0001f3ff"
    if category(each)[0] == "M" or each == _JOINER or before == _JOINER or is_tone:
        return True
    if "\U000e0020" <= each <= "\U000e007f":
        return True  # a tag character; those outside flags were removed
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
    """Whether a picture may be shown: eight avatars in one block must not make it too long."""
    return is_web_link(url) and len(url) + 4 * url.count("&") <= _LONGEST_PICTURE


def _seen_in(value: Any) -> Any:
    """The data of a service, its texts without what is never shown. It is small, so not cut."""
    if isinstance(value, str):
        return without_hidden(value)
    if isinstance(value, list):
        return FixedList([_seen_in(each) for each in value])
    if isinstance(value, dict):
        return FixedDict({without_hidden(name): _seen_in(each) for name, each in value.items()})
    return value


def _refuse(*_: object, **__: object) -> NoReturn:
    raise TypeError("the data of an event cannot be changed: others see it too")


class FixedDict(dict[str, Any]):
    """An object of a service's data, which the cached blocks of many readers share."""

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse


class FixedList(list[Any]):
    """A list of a service's data, as `FixedDict`."""

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = _refuse
    remove = reverse = sort = _refuse


def one_line(text: str, longest: int) -> str:
    """`text` without line breaks and invisible characters, cut to `longest` characters.

    Empty if nothing of it is visible.
    """
    if len(text) <= longest and text.isascii() and text.isprintable():
        is_tidy = "  " not in text and text[:1] != " " and text[-1:] != " "
        return text if is_tidy else " ".join(text.split())
    return _cut(" ".join(_seen(text, longest).split()), longest)


def person(name: str, longest: int) -> str:
    """The name of somebody on one line, which no mail program takes for an address.

    Anybody can call themself `example.com` or `bo@example.com`, and mail programs make a link of
    it. An invisible word joiner (Unicode 23.2) behind the sign tells them that it is none.
    """
    line = one_line(name, longest)
    if "." in line or "@" in line or ":" in line:
        return _LINKED.sub("\\g<0>\u2060", line)
    return line


def masked(address: str) -> str:
    """Enough for the reader to recognise it, but not for others to write to it."""
    local, _, domain = address.rpartition("@")
    return f"{local[:1]}•••@{domain}"


@lru_cache(maxsize=4096)
def _shown_name(name: str, language: Language) -> str:
    line = person(name, _NAME)
    return line if not line or _is_plain(line) else language.quoted(line)


def _is_plain(name: str) -> bool:
    """Whether a name cannot pass for a sentence of ours: a few words of letters and digits.

    What is none stands in quotation marks, because lines and subjects open with names.
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
    """How a reader is greeted: `Ann` of `Ann Weber`, or the whole name where that is not sure."""
    line = person(name, longest)
    first = line.partition(" ")[0]
    is_first = len(first) > 1 and first.isalpha()
    return first if is_first and locale[:2].lower() not in _FAMILY_FIRST else line


_FAMILY_FIRST = frozenset({"hu", "ja", "ko", "vi", "zh"})
"""Languages in which the family name comes first."""


def in_a_subject(shown: Shown, language: Language) -> Shown:
    """The group with the few people, under short names, who are named in a subject."""
    few = 1 if len(shown.people) + shown.others > _NAMED else _NAMED
    names = tuple([_short(name, language) for name in shown.people[:few]])
    return shown._replace(people=names, others=shown.others + len(shown.people) - len(names))


def _short(name: str, language: Language) -> str:
    if len(name) <= _IN_A_SUBJECT:
        return name
    inside = language.unquoted(name)
    short = _cut(inside, _IN_A_SUBJECT)
    return short if inside == name else language.quoted(short)


def thing(title: str, said: int, language: Language) -> str:
    """A title in quotation marks, cut so that it fits a subject beside `said` other characters."""
    return language.quoted(_cut(title, max(_SHORTEST_TITLE, LONGEST_HEADLINE - said - 2)))


def subject_line(text: str, longest: int) -> str:
    """A rendered subject on one line, cut to `longest` characters, with all isolates closed.

    Here alone a subject loses its control characters, whichever way it is sent. No program finds an
    encoded word in it, whose text nobody has cleaned: a word joiner (Unicode 23.2) is in its way.
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
    """The visible part of `text`. Only as much is read as can be shown."""
    seen = without_hidden(text[: 8 * longest])
    return seen if any(map(is_visible, seen)) else ""


def _cut(text: str, longest: int) -> str:
    """`text`, cut behind a word if that leaves more than half of it, and never within a sign."""
    if len(text) <= longest:
        return text
    end = longest - 1
    while end > longest // 2 and _goes_on(text, end):
        end -= 1
    kept = text[:end]
    if not text[end].isspace():
        words = kept.rsplit(maxsplit=1)[0]
        kept = words if len(words) > longest // 2 else kept
    return kept.rstrip() + "…"
