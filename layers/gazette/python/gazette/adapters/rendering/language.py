"""A reader's language: sentences from a catalogue; dates, numbers and lists from CLDR."""

from collections.abc import Iterator, Sequence
from datetime import date, datetime, tzinfo
from functools import lru_cache
from gettext import GNUTranslations, NullTranslations
from pathlib import Path
from typing import Any
from unicodedata import bidirectional

from babel import Locale, UnknownLocaleError
from babel.core import get_global
from babel.dates import (
    format_date,
    format_skeleton,
    format_time,
    get_day_names,
    get_timezone_location,
)
from babel.lists import format_list
from babel.numbers import format_decimal
from jinja2 import pass_context
from jinja2.runtime import Context
from markupsafe import Markup

SOURCE = "en"
"""The language of the templates, which needs no catalogue."""

CATALOGUE = "messages"

_REMEMBERED = 200
"""How many locales are cached; a bound, because their names come from outside."""

_LONGEST_HEADER = 200

_LIKELY = {"en": "en-GB"}
"""English without a country writes the day before the month and 24 hours, as in `en-GB`."""

FIRST_STRONG_ISOLATE = "\u2068"
POP_ISOLATE = "\u2069"
_RIGHT_TO_LEFT = {"R", "AL"}
"""https://www.unicode.org/reports/tr9/#Bidirectional_Character_Types"""


class Language:
    """One language, with the formats of a country if the reader's locale names one.

    `tag` is the BCP 47 tag of the sentences, `direction` is `ltr` or `rtl`.
    """

    def __init__(self, tag: str, locale: Locale, translations: NullTranslations) -> None:
        self.tag = tag
        self.direction: str = locale.text_direction
        self._locale = locale
        self._translations = translations

    def values(self) -> dict[str, Any]:
        """Values for a template's context: `language`, and what Jinja's `trans` and `_` call."""
        return {
            "language": self,
            "gettext": self._gettext,
            "_": self._gettext,
            "ngettext": self._ngettext,
        }

    @property
    def start(self) -> str:
        """The side on which lines begin: `left` or `right`."""
        return "right" if self.direction == "rtl" else "left"

    @property
    def name(self) -> str:
        """The CLDR name, which distinguishes countries: `en_GB`, `en_US`."""
        return str(self._locale)

    def number(self, number: int) -> str:
        """`1,234`."""
        return str(format_decimal(number, locale=self._locale))

    def moment(self, instant: datetime, zone: tzinfo) -> str:
        """Date and time in `zone`: `22 November, 08:30`."""
        local = instant.astimezone(zone)
        date = format_skeleton("MMMMd", local, locale=self._locale)
        return self._joined(date, self.hour(local))

    def day_and_hour(self, instant: datetime, zone: tzinfo) -> str:
        """Date with the day of the week, and time: `Thursday, 26 November 2026, 08:00`."""
        local = instant.astimezone(zone)
        return self._joined(format_date(local, "full", locale=self._locale), self.hour(local))

    def date(self, day: date) -> str:
        """`14 December 2026`."""
        return str(format_date(day, "long", locale=self._locale))

    def weekday(self, number: int) -> str:
        """The name of a day of the week, `Monday` for 1."""
        names = get_day_names("wide", "stand-alone", locale=self._locale)
        return str(names[number - 1])

    def hour(self, local: datetime) -> str:
        """The time of day: `08:30`, `8:30 am`."""
        return str(format_time(local, "short", locale=self._locale))

    def city(self, zone: tzinfo) -> str:
        """The city of a time zone: `Berlin`."""
        try:
            return str(get_timezone_location(zone, locale=self._locale, return_city=True))
        except KeyError:  # few languages have a name for an unknown region
            return str(get_timezone_location(zone, locale=SOURCE, return_city=True))

    def listed(self, parts: Sequence[str]) -> str:
        """`Ann, Bo and 12 others`."""
        return str(format_list(parts, locale=self._locale))

    def isolated(self, text: str) -> str:
        """`text`, isolated so that it does not change the direction of the text beside it.

        Only text that runs against the direction of the language is put between Unicode isolates.
        HTML that puts it into its own element uses `dir="auto"` instead.
        """
        ways = set(map(bidirectional, text))
        right_to_left = not ways.isdisjoint(_RIGHT_TO_LEFT)
        runs_along = (
            right_to_left and "L" not in ways if self.direction == "rtl" else not right_to_left
        )
        if runs_along or not text:
            return text
        return f"{FIRST_STRONG_ISOLATE}{text}{POP_ISOLATE}"

    def _joined(self, date: str, time: str) -> str:
        pattern = str(self._locale.datetime_formats["medium"]).replace("'", "")
        return pattern.replace("{1}", date).replace("{0}", time)

    @pass_context
    def _gettext(self, context: Context, message: str, /, **values: object) -> str:
        return _filled(context, self._translations.gettext(message), values)

    @pass_context
    def _ngettext(
        self, context: Context, one: str, many: str, number: int, /, **values: object
    ) -> str:
        said = self._translations.ngettext(one, many, number)
        return _filled(context, said, {"num": number, **values})


class Languages:
    """The languages of a folder of built templates."""

    def __init__(self, templates: Path) -> None:
        self._folders = {
            folder.name.lower(): folder
            for folder in (templates / "locales").glob("*")
            if folder.is_dir()
        }
        self._of = lru_cache(maxsize=_REMEMBERED)(self._negotiate)

    @property
    def tags(self) -> frozenset[str]:
        """Their BCP 47 tags, in lower case."""
        return frozenset({SOURCE, *self._folders})

    def of(self, tag: str) -> Language:
        """The best match for a BCP 47 tag: `de-AT` is German as in Austria. English if none."""
        return self._of(tag.lower())

    def accepted(self, header: str) -> Language:
        """The best available language of an Accept-Language header, or English.

        By weight (RFC 9110, section 12.5.4). Malformed parts are ignored.
        """
        wanted = sorted(_weighted(header), key=lambda each: -each[0])
        spoken = (tag for weight, tag in wanted if weight and self._is_spoken(tag))
        return self.of(next(spoken, SOURCE))

    def _is_spoken(self, tag: str) -> bool:
        return self.of(tag).tag != SOURCE or tag.partition("-")[0] == SOURCE

    def _negotiate(self, tag: str) -> Language:
        """Lookup (RFC 4647, section 3.4): the tag is shortened from its end until one is available.

        A language whose code has changed is also found by its old code: `iw` is Hebrew in the
        tags of older Java. https://www.rfc-editor.org/rfc/rfc5646#section-4.5
        """
        for wanted in _shortened(tag):
            if wanted in self.tags:
                return Language(wanted, _locale(tag, wanted), self._translations(wanted))
        language, dash, rest = tag.partition("-")
        renamed = get_global("language_aliases").get(language)
        if renamed is None:
            return self._negotiate(SOURCE)
        return self._negotiate(renamed.replace("_", "-").lower() + dash + rest)

    def _translations(self, tag: str) -> NullTranslations:
        if tag not in self._folders:
            return NullTranslations()
        with (self._folders[tag] / "LC_MESSAGES" / f"{CATALOGUE}.mo").open("rb") as catalogue:
            return GNUTranslations(catalogue)


def _weighted(header: str) -> Iterator[tuple[float, str]]:
    """The first few languages of an Accept-Language header, in lower case, with their weights."""
    for part in header[:_LONGEST_HEADER].split(","):
        tag, _, weight = part.partition(";")
        try:
            yield float(weight.strip().removeprefix("q=") or 1), tag.strip().lower()
        except ValueError:
            continue


def _shortened(tag: str) -> Iterator[str]:
    """`de-at-1996`, `de-at`, `de`."""
    while tag:
        yield tag
        tag = tag.rpartition("-")[0]


def _locale(tag: str, spoken: str) -> Locale:
    """The locale with the country of `tag`, if CLDR has it; extensions are ignored."""
    for name in _shortened(tag):
        if len(name) < len(spoken):
            break
        try:
            return Locale.parse(_LIKELY.get(name, name), sep="-")
        except (UnknownLocaleError, ValueError):
            continue
    return Locale.parse(_LIKELY[SOURCE], sep="-")


def _filled(context: Context, said: str, values: dict[str, object]) -> str:
    """Fill `values` into a sentence. In HTML, values are escaped; the sentence itself is not."""
    words = Markup(said) if context.eval_ctx.autoescape else said  # noqa: S704 -- see above
    return words % values
