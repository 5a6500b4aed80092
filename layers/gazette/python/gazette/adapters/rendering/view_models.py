"""The values of a group for templates: cleaned, shortened, and in the reader's language."""

import json
from collections.abc import Mapping
from datetime import date, tzinfo
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple
from zlib import crc32

from gazette.adapters.rendering.event_data import seen_in
from gazette.adapters.rendering.language import Language
from gazette.adapters.rendering.texts import (
    beginning,
    initials,
    one_line,
    several_lines,
    short_name,
    shown_name,
)
from gazette.domain.delivery.compose import Group, Part
from gazette.domain.errors import RenderingFailed
from gazette.domain.links import is_web_link
from gazette.domain.model import Entity, Image, Importance

_TITLE, _EXCERPT, _SNIPPET = 200, 300, 120
"""The maximum lengths of titles, excerpts and snippets in characters. The contract has the same
limit for titles."""

_LONGEST_PICTURE = 1100
"""The maximum length in characters of an image URL in HTML, in which `&` becomes `&amp;`. The limit
allows the long URLs of services, but not URLs consisting of ampersands."""

_NAMED = 2
"""The number of named people in a line that counts the remaining people, as in `Ann, Bo and 12
others`."""


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
    part: Part | None = None
    """The part of a digest that the block is in; None in other emails."""

    leads: bool = False
    """True if the block has a face and a link to reply. Other blocks of a digest are short rows."""

    is_important: bool = False
    """True if one of the events has a high importance."""

    is_first: bool = False
    """True for the most relevant block that leads. Only this block shows several quotes."""


class Quote(NamedTuple):
    """An excerpt in a block with quotes."""

    signer: str
    """The author, if the line does not already identify the author."""

    text: str


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

    quotes: tuple[Quote, ...] = ()
    """The excerpts of the latest events, latest first: up to three in the first line of a block for
    the reader, otherwise one. Events without an excerpt are omitted."""

    snippet: str = ""
    """The beginning of the latest quote, on one line."""

    snippet_signer: str = ""
    """The author of `snippet`, if the line names several people."""


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
    quoted: tuple[tuple[str, str], ...] = ()
    """The names and the excerpts of the events to quote, if there are several."""


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
        _quoted(group) if full else (),
    )


def _quoted(group: Group) -> tuple[tuple[str, str], ...]:
    """Return the names and the excerpts of the events to quote. The names are empty if the line
    identifies the only author."""
    if len(group.quoted) < 2:
        return ()
    return tuple(
        [
            (event.actor.name if event.actor and group.people > 1 else "", event.excerpt)
            for event in group.quoted
            if event.excerpt
        ]
    )


def _more(group: Group) -> More | None:
    latest, actors = group.latest, group.actors
    url, avatar = (actors[0].url, actors[0].avatar) if actors else ("", "")
    image, importance, data = latest.entity.image, latest.importance, latest.data
    if not (url or avatar or image or data) and importance is Importance.NORMAL:
        return None
    return More(url, avatar, image, importance, data)


def show(group: Group, language: Language, zone: tzinfo) -> ShownGroup:
    """Return the cleaned values of a group. Raise RenderingFailed if its link is not a web link."""
    return clean(pick(group, language, zone), group.latest.entity, language)


def clean(picked: Picked, entity: Entity, language: Language) -> ShownGroup:
    """Return the cleaned values of a group of events on `entity`.

    Raises RenderingFailed if the group's link is not a web link.
    """
    if not is_web_link(picked.url):
        raise RenderingFailed(f"the link of {entity.key[:200]!r} is not an http(s) URL")
    people = tuple([shown_name(name, language) for name in picked.people])
    more = picked.more or _NO_MORE
    excerpt = several_lines(picked.excerpt, _EXCERPT)
    signer = people[0] if picked.is_signed else ""
    quotes: tuple[Quote, ...] = (Quote(signer, excerpt),) if excerpt else ()
    if picked.quoted:
        several = [
            Quote(shown_name(name, language) if name else "", several_lines(text, _EXCERPT))
            for name, text in picked.quoted
        ]
        quotes = tuple([quote for quote in several if quote.text])
    latest = quotes[0] if quotes else _NO_QUOTE
    return ShownGroup(
        picked.category,
        picked.events,
        picked.people if people == picked.people else people,
        picked.others,
        one_line(picked.title, _TITLE) or picked.url,
        picked.url,
        excerpt,
        picked.moment,
        language.name,
        signer,
        _person(people[0], picked, more) if people else None,
        _image(more.image) if more.image else None,
        more.importance,
        seen_in(json.loads(more.data)) if more.data else _NO_DATA,
        quotes,
        beginning(latest.text, _SNIPPET),
        latest.signer if len(people) + picked.others > 1 else "",
    )


_NO_DATA: Mapping[str, Any] = MappingProxyType({})
_NO_QUOTE = Quote("", "")


def _person(name: str, picked: Picked, more: More) -> Person:
    """Return the latest actor under the given display name. Omit URLs that are not web
    addresses.
    """
    return Person(
        name,
        more.url if more.url and is_web_link(more.url) else "",
        more.avatar if more.avatar and _is_picture(more.avatar) else "",
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


def _image(image: Image) -> Image | None:
    return Image(image.url, one_line(image.text, _TITLE)) if _is_picture(image.url) else None


def _is_picture(url: str) -> bool:
    """Return True if the image's URL is a web address of acceptable length.

    The limit prevents eight avatars in one block from making the block too long.
    """
    return is_web_link(url) and len(url) + 4 * url.count("&") <= _LONGEST_PICTURE


def in_a_subject(group: ShownGroup, language: Language) -> ShownGroup:
    """Return the group without the people whose short names do not fit in a subject."""
    few = 1 if len(group.people) + group.others > _NAMED else _NAMED
    names = tuple([short_name(name, language) for name in group.people[:few]])
    return group._replace(people=names, others=group.others + len(group.people) - len(names))
