"""Renders one group of an email, and caches it for all readers who see the same group."""

from collections import OrderedDict
from dataclasses import dataclass
from sys import getsizeof

from jinja2 import Environment, Template, TemplateNotFound

from gazette.adapters.rendering.brand import Brand
from gazette.adapters.rendering.language import Language
from gazette.adapters.rendering.view_models import Shown
from gazette.domain.ports.rendering import CacheCount

CACHED_BYTES = 12_000_000
"""The size of the cache, counted by its texts: some 6,000 usual groups, or 180 of the longest."""


@dataclass(frozen=True, slots=True)
class Fragment:
    """A rendered group. `line` says what happened: `3 new comments from Bo`."""

    shown: Shown
    line: str
    html: str
    text: str


_Key = tuple[str, Shown, Environment, Language]


class Fragments:
    """Renders fragments, and caches the most recently used ones.

    A fragment depends only on the kind of email, the language, the variation's templates and what
    is shown. It contains no reader's name and no reader's links.
    """

    def __init__(self, brand: Brand) -> None:
        self._brand = brand
        self._kept: OrderedDict[_Key, Fragment] = OrderedDict()
        self._bytes = 0
        self._found = self._new = 0

    def of(
        self, email: str, shown: Shown, environment: Environment, language: Language
    ) -> Fragment:
        """The fragment of a group in an email of this kind."""
        key = (email, shown, environment, language)
        fragment = self._kept.get(key)
        if fragment is not None:
            self._found += 1
            self._kept.move_to_end(key)
            return fragment
        self._new += 1
        fragment = self._kept[key] = self._make(*key)
        self._bytes += _bytes_of(fragment)
        while self._bytes > CACHED_BYTES:
            _, forgotten = self._kept.popitem(last=False)
            self._bytes -= _bytes_of(forgotten)
        return fragment

    def take_count(self) -> CacheCount:
        """How many came from the cache, and how many were rendered, since the last call."""
        count = CacheCount(found=self._found, made=self._new)
        self._found = self._new = 0
        return count

    def _make(
        self, email: str, shown: Shown, environment: Environment, language: Language
    ) -> Fragment:
        line = line_of(shown, environment, language)
        values = {**language.values(), "brand": self._brand, "group": shown, "line": line}
        html, text = (
            environment.get_template(f"{email}/group.{kind}").render(values)
            for kind in ("html", "txt")
        )
        return Fragment(shown, line, html, text)


def _bytes_of(fragment: Fragment) -> int:
    shown = fragment.shown
    texts = (fragment.line, fragment.html, fragment.text, shown.title, shown.url, shown.excerpt)
    return sum(map(getsizeof, (*texts, *shown.people)))


OTHER = "other"
"""The folder of categories without a folder of their own."""


def line_of(shown: Shown, environment: Environment, language: Language) -> str:
    """`3 new comments from Ann, Bo and 2 others`, as plain text on one line."""
    values = {**language.values(), "group": shown}
    people = environment.get_template("parts/people.txt").render(values)
    template = template_of(shown.category, "line.txt", environment)
    said = template.render(**values, people=" ".join(people.split()))
    return " ".join(said.split())


def template_of(category: str, name: str, environment: Environment) -> Template:
    """The file `name` of a category, or of `other` if the category has none."""
    try:
        return environment.get_template(f"categories/{category}/{name}")
    except TemplateNotFound:
        return environment.get_template(f"categories/{OTHER}/{name}")
