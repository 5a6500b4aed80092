"""One group as HTML and text, made once for all the readers who see the same of it."""

from dataclasses import dataclass
from functools import lru_cache

from jinja2 import Environment

from gazette.adapters.rendering.brand import Brand
from gazette.adapters.rendering.language import Language
from gazette.adapters.rendering.lines import line_of
from gazette.adapters.rendering.showing import Shown
from gazette.domain.ports import CacheCount

KEPT = 2000
"""Fragments: some 6 MB at most, as each part is a few hundred bytes, seldom three thousand."""


@dataclass(frozen=True, slots=True)
class Fragment:
    """What one group adds to an email. `line` says what happened: `3 new comments from Bo`."""

    shown: Shown
    line: str
    html: str
    text: str


class Fragments:
    """Makes them, and remembers those that were asked for last.

    What they look like depends on the email, the language, the variation's templates and what is
    shown, and on nothing else: no reader's name, no link of theirs.
    """

    def __init__(self, brand: Brand) -> None:
        self._brand = brand
        self._made = lru_cache(maxsize=KEPT)(self._make)
        self._told = CacheCount(found=0, made=0)

    def of(
        self, email: str, shown: Shown, environment: Environment, language: Language
    ) -> Fragment:
        """The fragment of a group in an email of this kind."""
        return self._made(email, shown, environment, language)

    def take_count(self) -> CacheCount:
        """How often one was there already, and how often not, since this was asked last."""
        info, told = self._made.cache_info(), self._told
        self._told = CacheCount(found=info.hits, made=info.misses)
        return CacheCount(found=info.hits - told.found, made=info.misses - told.made)

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
