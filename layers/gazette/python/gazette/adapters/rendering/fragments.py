"""Rendering of an email's blocks. Readers who get the same block share a cached fragment."""

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
from gazette.adapters.rendering.environment import Press, SplitBlock, split_block
from gazette.adapters.rendering.language import Language
from gazette.adapters.rendering.texts import LONGEST_HEADLINE, thing
from gazette.adapters.rendering.view_models import (
    Picked,
    ShownBlock,
    ShownGroup,
    ShownLine,
    clean,
    in_a_subject,
    pick,
)
from gazette.domain.delivery.compose import Block, Part
from gazette.domain.ports.rendering import CacheCount

CACHED_BYTES = 12_000_000
"""The maximum size of the cached texts in bytes: about 6,000 typical blocks, or 180 of the
longest."""


_ROWS = 512
"""The maximum number of cached rows of personal links. A row is cached for each set of categories
in a block."""

DIGEST = "digest"
"""The folder of digest templates. Only digests may have compact blocks."""


class Fragment(NamedTuple):
    """A rendered block without the reader's personal links, which `insert_own_links` inserts."""

    block: ShownBlock
    html: SplitBlock
    text: SplitBlock
    size: int
    """The size in bytes of the fragment's texts and of the texts in its key."""


_Key = tuple[str, bool, Environment, Language, "_Look", int, tuple[Picked, ...]]
"""The key of a cached fragment, with all values that determine its content. The flag is True for
critical email. The number is the index of the line with the latest event."""


class _Look(NamedTuple):
    """The properties of a block, in addition to its lines, that determine how it looks."""

    is_full: bool
    part: Part | None
    leads: bool
    is_important: bool
    is_first: bool


class FragmentCount:
    """A counter of cache hits and misses for the caches of several renderers."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._found = self._made = 0

    def add(self, *, found: int, made: int) -> None:
        """Count fragments that came from a cache and fragments that were rendered."""
        with self._lock:
            self._found += found
            self._made += made

    def take(self) -> CacheCount:
        """Return the numbers of cached and rendered fragments since the last call."""
        with self._lock:
            count = CacheCount(hits=self._found, misses=self._made)
            self._found = self._made = 0
        return count


class Fragments:
    """A renderer of fragments that caches the most recently used ones. Thread-safe.

    A fragment depends only on the kind of email, the language, the variation's templates and the
    content. It contains neither a reader's name nor a reader's links. If several threads miss the
    same fragment at once, each thread renders the fragment, and the first result is cached.
    """

    def __init__(self, brand: Brand, count: FragmentCount) -> None:
        self._brand = brand
        self._count = count
        self._lock = Lock()
        self._cached: OrderedDict[_Key, Fragment] = OrderedDict()
        self._bytes = 0
        self._leave = lru_cache(maxsize=_ROWS)(self._rendered_leave)
        self.name_of = lru_cache(maxsize=_ROWS)(self._rendered_name)
        """The cached names of categories, as `_rendered_name` returns them."""

    def of(
        self,
        email: str,
        blocks: Sequence[Block],
        environment: Environment,
        language: Language,
        zone: tzinfo,
        today: date | None = None,
        *,
        critical: bool = False,
        has_parts: bool = False,
    ) -> list[Fragment]:
        """Return the fragment of each block in an email of this kind, in the order of the blocks.

        `today` is the reader's date, which determines the names of days. In critical email, times
        name their zone. `has_parts` is True for a digest without sections. Raises RenderingFailed
        if a link is not a web link. Also raises the errors of templates.
        """
        keys: list[_Key] = []
        for block, look in zip(blocks, _looks(email, blocks, has_parts=has_parts), strict=True):
            full = look.is_full
            picked = tuple([pick(each, language, zone, today, full=full) for each in block.groups])
            if critical:
                picked = tuple([_with_zone(each, environment, language, zone) for each in picked])
            keys.append((email, critical, environment, language, look, block.latest_place, picked))
        known = self._look_up(keys)
        missed = [place for place, fragment in enumerate(known) if fragment is None]
        new: dict[_Key, Fragment] = {}
        if missed:
            values = {"brand": self._brand, "critical": critical}
            printer = _Printer(email, environment, language, values, self._leave)
            for place in missed:
                key = keys[place]
                fragment = new.get(key)
                if fragment is None:
                    fragment = new[key] = printer.fragment(key, blocks[place])
                known[place] = fragment
            self._keep(new)
        self._count.add(found=len(blocks) - len(new), made=len(new))
        return [fragment for fragment in known if fragment is not None]

    def _rendered_leave(
        self, environment: Environment, language: Language, categories: tuple[str, ...]
    ) -> tuple[Markup, str]:
        """Return a block's row of personal links, once as one line of HTML and once as text.

        All blocks of the same categories have the same row.
        """
        values = {**language.values(), "brand": self._brand, "categories": categories}
        press = Press(environment, values)
        html, text = (
            press.render(environment.get_template(f"parts/leave.{kind}"))
            for kind in ("html", "txt")
        )
        return Markup(" ".join(html.split())), text  # noqa: S704 -- escaped by its template

    def _rendered_name(self, environment: Environment, language: Language, category: str) -> str:
        """Return the name of a category in the form for the middle of a sentence."""
        press = Press(
            environment, {**language.values(), "brand": self._brand, "category": category}
        )
        name = press.render(template_of(category, "name.txt", environment))
        return language.inside(" ".join(name.split()))

    def _look_up(self, keys: Sequence[_Key]) -> list[Fragment | None]:
        with self._lock:
            fragments = list(map(self._cached.get, keys))
            for key, fragment in zip(keys, fragments, strict=True):
                if fragment is not None:
                    self._cached.move_to_end(key)
        return fragments

    def _keep(self, new: Mapping[_Key, Fragment]) -> None:
        """Cache new fragments, and evict the least recently used ones."""
        with self._lock:
            for key, fragment in new.items():
                if self._cached.setdefault(key, fragment) is fragment:
                    self._bytes += fragment.size
            while self._bytes > CACHED_BYTES:
                self._bytes -= self._cached.popitem(last=False)[1].size


def _looks(email: str, blocks: Sequence[Block], *, has_parts: bool) -> list[_Look]:
    """Return how each block looks. The blocks for the reader lead a digest, or else the first.

    Blocks of a digest with sections are in no part. Recommendations never lead.
    """
    if email != DIGEST:
        return [_Look(True, None, True, block.is_important, True) for block in blocks]
    parts = [block.part for block in blocks]
    has_lead = Part.FOR_YOU in parts
    looks, is_first = list[_Look](), True
    for place, (block, part) in enumerate(zip(blocks, parts, strict=True)):
        leads = part is Part.FOR_YOU if has_lead else place == 0 and part is Part.ALSO
        leads = leads and block.is_full
        shown_part = part if has_parts else None
        looks.append(
            _Look(block.is_full, shown_part, leads, block.is_important, leads and is_first)
        )
        is_first = is_first and not leads
    return looks


_BYTES_OF_SHORT_TEXTS = 500
"""The bytes of the short texts of a line, such as its link and its names, beyond a copy of the
text part."""


def _bytes_of(picked: Picked, group: ShownGroup) -> int:
    """Return the size of a line's texts in bytes, without the short ones.

    A text that occurs twice as the same object is counted once.
    """
    excerpt = group.excerpt
    size = getsizeof(picked.excerpt)
    if excerpt is not picked.excerpt:
        size += getsizeof(excerpt)
    if group.title is not picked.title:
        size += getsizeof(picked.title)
    if group.people is not picked.people:
        size += sum(map(getsizeof, picked.people))
    if picked.quoted:
        size += sum([getsizeof(text) for _, text in picked.quoted])
        size += sum([getsizeof(each.text) for each in group.quotes if each.text is not excerpt])
    if more := picked.more:
        texts = (more.url, more.avatar, more.data)
        size += sum(map(getsizeof, texts)) + _bytes_in(group.data)
        if more.image:
            size += getsizeof(more.image.url) + 2 * getsizeof(more.image.text)
    return size


def _bytes_in(value: Any) -> int:
    """Return the size in bytes of parsed JSON, including nested content."""
    size = getsizeof(value)
    if isinstance(value, dict):
        return size + sum(_bytes_in(each) for pair in value.items() for each in pair)
    return size + sum(map(_bytes_in, value)) if isinstance(value, list) else size


class _Printer:
    """A renderer of the fragments of one email."""

    def __init__(
        self,
        email: str,
        environment: Environment,
        language: Language,
        values: Mapping[str, Any],
        leave: Callable[[Environment, Language, tuple[str, ...]], tuple[Markup, str]],
    ) -> None:
        self._press = Press(environment, {**language.values(), **values})
        self._values = dict(self._press.values)
        self._lines = Lines(self._press)
        self._has_button = email == ALONE
        self._html, self._text = (
            environment.get_template(f"{email}/block.{kind}") for kind in ("html", "txt")
        )
        self._language, self._leave = language, leave

    def fragment(self, key: _Key, block: Block) -> Fragment:
        *_, look, latest_place, picked_groups = key
        # A block depends on its key alone, so it must not see values of the previous block.
        values = self._press.values
        values.clear()
        values.update(self._values)
        entity, lines = block.groups[0].latest.entity, []
        for picked in picked_groups:
            group = clean(picked, entity, self._language)
            lines.append(ShownLine(group, self._lines.of(group)))
        latest = lines[latest_place].shown
        events = latest.count if len(lines) == 1 else sum([group.count for group, _ in lines])
        image = latest.image if look.is_full else None
        shown_block = ShownBlock(
            latest.title,
            latest.url,
            latest.moment,
            look.is_full,
            events,
            tuple(lines),
            image,
            look.part,
            look.leads,
            look.is_important,
            look.is_first,
        )
        values["block"] = shown_block
        if self._has_button or look.leads:
            values["button"] = self._lines.button(lines[0].shown)
        if self._has_button:
            values["sentence"] = self._sentence(shown_block)
        values["group"], values["line"] = lines[0]
        names: tuple[str, ...] = (lines[0].shown.category,)
        if look.is_full and len(lines) > 1:
            names = tuple(dict.fromkeys([group.category for group, _ in lines]))
        values["leave"], in_text = self._leave(self._press.environment, self._language, names)
        html = self._press.render(self._html)
        values["leave"] = in_text
        text = self._press.render(self._text)
        size = getsizeof(html) + getsizeof(text) + _BYTES_OF_SHORT_TEXTS * len(lines)
        for picked, (group, _) in zip(picked_groups, lines, strict=True):
            size += _bytes_of(picked, group)
        return Fragment(shown_block, split_block(html), split_block(text), size)

    def _sentence(self, block: ShownBlock) -> "Sentence":
        """Return the headline of an email about one entity. In critical email, the headline is the
        title.
        """
        if self._values["critical"]:
            return Sentence("", block.title, "", block.title)
        return self._lines.sentence(*block.lines[0], block.title, self._language)


def _with_zone(
    picked: Picked, environment: Environment, language: Language, zone: tzinfo
) -> Picked:
    """Return the values with the time zone behind the time, such as `Today, 05:10, Berlin time`.

    Versions of the templates that were pushed earlier have no words for this. Their times are
    unchanged.
    """
    try:
        template = environment.get_template("parts/zone.txt")
    except TemplateNotFound:
        return picked
    values = {
        **language.values(),
        "moment": picked.moment,
        "zone": zone,
        "city": language.city(zone),
    }
    return picked._replace(moment=" ".join(template.render(values).split()))


class Sentence(NamedTuple):
    """A sentence about an entity, in three parts. Templates emphasise the entity."""

    before: str
    thing: str
    """The entity's title. Empty if the sentence does not name the entity."""

    after: str
    text: str
    """The whole sentence, with the title in quotation marks."""


_THING = "\x00"
"""The placeholder for a title while a sentence is rendered. It cannot occur in texts from
services."""


ALONE = "immediate"
"""The folder of the templates for showing a single group in detail, with a button."""

OTHER = "other"
"""The template folder for all categories without a separate folder."""


class Lines:
    """A renderer that describes groups in sentences.

    `press` renders the sentences, and has the language and the brand.
    """

    def __init__(self, press: Press) -> None:
        self._press = press
        self._people = press.environment.get_template("parts/people.txt")
        self._by_category: dict[str, Template] = {}

    def of(self, group: ShownGroup) -> str:
        """Return a group's line as plain text, such as `3 new comments from Ann and 2 others`."""
        template = self._by_category.get(group.category)
        if template is None:
            template = template_of(group.category, "line.txt", self._press.environment)
            self._by_category[group.category] = template
        self._press.values["people"] = self._named(group)
        return " ".join(self._press.render(template).split())

    def headline(self, group: ShownGroup, line: str, language: Language) -> str:
        """Return the text that describes a group in a subject, such as `Bo mentioned you in
        “Release 4.2”`.

        A category that has `line.txt` but no `headline.txt` uses its line.
        """
        short = in_a_subject(group, language)
        line = line if len(line) <= LONGEST_HEADLINE else self.of(short)
        environment, values = self._press.environment, self._press.values
        values["group"], values["people"] = short, self._named(short)
        values["line"], values["thing"] = line, ""
        template = template_of(group.category, "headline.txt", environment)
        text = " ".join(self._press.render(template).split())
        values["thing"] = thing(short.title, len(text), language)
        return " ".join(self._press.render(template).split())

    def sentence(self, group: ShownGroup, line: str, title: str, language: Language) -> Sentence:
        """Return the sentence that describes a group with the title of its entity, such as `Bo
        mentioned you in Release 4.2`.

        The sentence is in `sentence.txt` of the category. A category without this file uses its
        `headline.txt`, without its limits of length.
        """
        environment, values = self._press.environment, self._press.values
        values["people"] = self._named(group)
        values["line"], values["thing"] = line, _THING
        try:
            template = environment.get_template(f"categories/{group.category}/sentence.txt")
        except TemplateNotFound:
            template = template_of(group.category, "headline.txt", environment)
        whole = " ".join(self._press.render(template).split())
        before, separator, after = whole.partition(_THING)
        quoted = language.quoted(title)
        after = after.replace(_THING, quoted)
        text = f"{before}{quoted}{after}" if separator else before
        return Sentence(before, title if separator else "", after, text)

    def in_a_thread(self, group: ShownGroup, language: Language) -> tuple[str, str]:
        """Return the actors' short names, and the title that all subjects of the thread share."""
        short = in_a_subject(group, language)
        return self._named(short), thing(short.title, 0, language)

    def _named(self, group: ShownGroup) -> str:
        self._press.values["group"] = group
        return " ".join(self._press.render(self._people).split())

    def counted(self, category: str, count: int, *, others: bool = False) -> str:
        """Return a number of updates, such as `3 replies`; empty if the category has no such text.

        `others` is True for a number that follows other numbers, such as `2 other updates`.
        """
        try:
            template = self._press.environment.get_template(f"categories/{category}/count.txt")
        except TemplateNotFound:
            return ""
        self._press.values.update(count=count, others=others)
        return " ".join(self._press.render(template).split())

    def button(self, group: ShownGroup) -> str:
        """Return the text of a group's button, such as `Reply`."""
        self._press.values["group"] = group
        template = template_of(group.category, "button.txt", self._press.environment)
        return " ".join(self._press.render(template).split())


def template_of(category: str, name: str, environment: Environment) -> Template:
    """Return a category's template `name`. If the category has no such template, return the
    template of the category `other`.
    """
    try:
        return environment.get_template(f"categories/{category}/{name}")
    except TemplateNotFound:
        return environment.get_template(f"categories/{OTHER}/{name}")
