"""Renders the blocks of an email, and caches each for all readers who see the same block."""

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from datetime import date, tzinfo
from functools import lru_cache
from sys import getsizeof
from threading import Lock
from typing import Any, NamedTuple

from jinja2 import Environment, Template, TemplateNotFound
from markupsafe import Markup

from gazette.adapters.rendering.brand import Brand
from gazette.adapters.rendering.environment import Parted, Press, parted
from gazette.adapters.rendering.language import Language
from gazette.adapters.rendering.view_models import (
    LONGEST_HEADLINE,
    Line,
    Picked,
    Shown,
    ShownBlock,
    clean,
    in_a_subject,
    pick,
    thing,
)
from gazette.domain.delivery.compose import Block
from gazette.domain.ports.rendering import CacheCount

CACHED_BYTES = 12_000_000
"""The size of the cache, counted by its texts: some 6,000 usual blocks, or 180 of the longest."""


_ROWS = 512
"""How many rows of own links are cached: there is one for the categories of a block."""

DIGEST = "digest"
"""The folder of the templates of a digest: the only email whose blocks may be compact."""


class Fragment(NamedTuple):
    """A rendered block, without the reader's own links: `with_own` puts them in.

    `size`: the bytes of its texts, and of those by which it is found.
    """

    block: ShownBlock
    html: Parted
    text: Parted
    size: int


_Key = tuple[str, Environment, Language, bool, int, tuple[Picked, ...]]
"""What a fragment depends on: with the number, which of the lines has the latest event."""


class FragmentCount:
    """Hits and misses of the caches of several renderers, since they were last taken."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._found = self._made = 0

    def add(self, *, found: int, made: int) -> None:
        """Count what came from a cache, and what was rendered."""
        with self._lock:
            self._found += found
            self._made += made

    def take(self) -> CacheCount:
        """How many came from a cache, and how many were rendered, since the last call."""
        with self._lock:
            count = CacheCount(hits=self._found, misses=self._made)
            self._found = self._made = 0
        return count


class Fragments:
    """Renders fragments, and caches the most recently used ones. Threads may share it.

    A fragment depends only on the kind of email, the language, the variation's templates and what
    is shown. It contains no reader's name and no reader's links. Where several threads miss the
    same fragment at once, each renders it, and the first one is kept.
    """

    def __init__(self, brand: Brand, count: FragmentCount) -> None:
        self._brand = brand
        self._count = count
        self._lock = Lock()
        self._kept: OrderedDict[_Key, Fragment] = OrderedDict()
        self._bytes = 0
        self._leave = lru_cache(maxsize=_ROWS)(self._rendered_leave)

    def of(
        self,
        email: str,
        blocks: Sequence[Block],
        environment: Environment,
        language: Language,
        zone: tzinfo,
        today: date | None = None,
    ) -> list[Fragment]:
        """The fragments of blocks in an email of this kind, in their order.

        `today`: the reader's, by which days are called. Raises RenderingFailed if a link is not a
        web link, and what a template may raise.
        """
        keys: list[_Key] = []
        for block in blocks:
            full = block.is_full or email != DIGEST
            picked = tuple([pick(each, language, zone, today, full=full) for each in block.groups])
            keys.append((email, environment, language, full, block.latest_place, picked))
        known = self._look_up(keys)
        missed = [place for place, fragment in enumerate(known) if fragment is None]
        made: dict[_Key, Fragment] = {}
        if missed:
            printer = _Printer(email, environment, language, self._brand, self._leave)
            for place in missed:
                key = keys[place]
                fragment = made.get(key)
                if fragment is None:
                    fragment = made[key] = printer.fragment(key, blocks[place])
                known[place] = fragment
            self._keep(made)
        self._count.add(found=len(blocks) - len(made), made=len(made))
        return [fragment for fragment in known if fragment is not None]

    def _rendered_leave(
        self, environment: Environment, language: Language, categories: tuple[str, ...]
    ) -> tuple[Markup, str]:
        """What is the reader's own in a block: the same in all blocks of these categories.

        As HTML, on one line, and as text.
        """
        values = {**language.values(), "brand": self._brand, "categories": categories}
        press = Press(environment, values)
        html, text = (
            press.render(environment.get_template(f"parts/leave.{kind}"))
            for kind in ("html", "txt")
        )
        return Markup(" ".join(html.split())), text  # noqa: S704 -- escaped by its template

    def _look_up(self, keys: Sequence[_Key]) -> list[Fragment | None]:
        with self._lock:
            found = list(map(self._kept.get, keys))
            for key, fragment in zip(keys, found, strict=True):
                if fragment is not None:
                    self._kept.move_to_end(key)
        return found

    def _keep(self, made: Mapping[_Key, Fragment]) -> None:
        """Cache what was made."""
        with self._lock:
            for key, fragment in made.items():
                if self._kept.setdefault(key, fragment) is fragment:
                    self._bytes += fragment.size
            while self._bytes > CACHED_BYTES:
                self._bytes -= self._kept.popitem(last=False)[1].size


def _bytes_of(picked: Picked, shown: Shown, line: str) -> int:
    """The texts of a line; those that are the same object in both count once."""
    texts = [line, picked.title, picked.url, picked.excerpt, *picked.people]
    if shown.title is not picked.title:
        texts.append(shown.title)
    if shown.excerpt is not picked.excerpt:
        texts.append(shown.excerpt)
    if shown.people is not picked.people:
        texts += shown.people
    if more := picked.more:
        texts += (more.url, more.avatar, more.data)
        if more.image:
            texts += (more.image.url, more.image.text, more.image.text)
    size = sum(map(getsizeof, texts))
    return size + _bytes_in(shown.data) if more and more.data else size


def _bytes_in(value: Any) -> int:
    """Of parsed JSON, with all that is in it."""
    size = getsizeof(value)
    if isinstance(value, dict):
        return size + sum(_bytes_in(each) for pair in value.items() for each in pair)
    return size + sum(map(_bytes_in, value)) if isinstance(value, list) else size


class _Printer:
    """Renders the fragments of one email."""

    def __init__(
        self,
        email: str,
        environment: Environment,
        language: Language,
        brand: Brand,
        leave: Callable[[Environment, Language, tuple[str, ...]], tuple[Markup, str]],
    ) -> None:
        self._press = Press(environment, {**language.values(), "brand": brand})
        self._values = dict(self._press.values)
        self._lines = Lines(self._press)
        self._has_button = email == ALONE
        self._html, self._text = (
            environment.get_template(f"{email}/block.{kind}") for kind in ("html", "txt")
        )
        self._language, self._leave = language, leave

    def fragment(self, key: _Key, block: Block) -> Fragment:
        *_, is_full, latest_place, found = key
        # A block depends on its key alone: it must not see what the one before it has shown.
        values = self._press.values
        values.clear()
        values.update(self._values)
        entity, lines = block.groups[0].latest.entity, []
        for picked in found:
            shown = clean(picked, entity, self._language)
            lines.append(Line(shown, self._lines.of(shown)))
        latest = lines[latest_place].shown
        events = latest.count if len(lines) == 1 else sum([shown.count for shown, _ in lines])
        image = latest.image if is_full else None
        made = ShownBlock(
            latest.title, latest.url, latest.moment, is_full, events, tuple(lines), image
        )
        values["block"] = made
        if self._has_button:
            values["button"] = self._lines.button(lines[0].shown)
        values["group"], values["line"] = lines[0]
        shown_lines = lines if is_full else lines[:1]
        names = tuple(dict.fromkeys([shown.category for shown, _ in shown_lines]))
        values["leave"], in_text = self._leave(self._press.environment, self._language, names)
        html = self._press.render(self._html)
        values["leave"] = in_text
        text = self._press.render(self._text)
        size = getsizeof(html) + getsizeof(text)
        for picked, (shown, line) in zip(found, lines, strict=True):
            size += _bytes_of(picked, shown, line)
        return Fragment(made, parted(html), parted(text), size)


ALONE = "immediate"
"""The folder of templates that show one group at length, with a button."""

OTHER = "other"
"""The folder of categories without a folder of their own."""


class Lines:
    """Says what happened in a group. `press` renders it, and has the language and the brand."""

    def __init__(self, press: Press) -> None:
        self._press = press
        self._people = press.environment.get_template("parts/people.txt")
        self._by_category: dict[str, Template] = {}

    def of(self, shown: Shown) -> str:
        """`3 new comments from Ann, Bo and 2 others`, as plain text on one line."""
        template = self._by_category.get(shown.category)
        if template is None:
            template = template_of(shown.category, "line.txt", self._press.environment)
            self._by_category[shown.category] = template
        self._press.values["people"] = self._named(shown)
        return " ".join(self._press.render(template).split())

    def headline(self, shown: Shown, line: str, language: Language) -> str:
        """`Bo mentioned you in “Release 4.2”`: what a subject says of a group, and about what.

        A category that has a `line.txt` of its own and no `headline.txt` says its line.
        """
        short = in_a_subject(shown, language)
        line = line if len(line) <= LONGEST_HEADLINE else self.of(short)
        environment, values = self._press.environment, self._press.values
        values["group"], values["people"] = short, self._named(short)
        values["line"], values["thing"] = line, ""
        template = template_of(shown.category, "headline.txt", environment)
        said = " ".join(self._press.render(template).split())
        values["thing"] = thing(short.title, len(said), language)
        return " ".join(self._press.render(template).split())

    def in_a_thread(self, shown: Shown, language: Language) -> tuple[str, str]:
        """Who acted, under short names, and the title as it is in each subject of a thread."""
        short = in_a_subject(shown, language)
        return self._named(short), thing(short.title, 0, language)

    def _named(self, shown: Shown) -> str:
        self._press.values["group"] = shown
        return " ".join(self._press.render(self._people).split())

    def button(self, shown: Shown) -> str:
        """What the button of a group does: `Reply`."""
        self._press.values["group"] = shown
        template = template_of(shown.category, "button.txt", self._press.environment)
        return " ".join(self._press.render(template).split())


def template_of(category: str, name: str, environment: Environment) -> Template:
    """The file `name` of a category, or of `other` if the category has none."""
    try:
        return environment.get_template(f"categories/{category}/{name}")
    except TemplateNotFound:
        return environment.get_template(f"categories/{OTHER}/{name}")
