"""The reader's language: sentences from a catalogue; dates, numbers and lists from CLDR."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, tzinfo
from functools import lru_cache
from gettext import GNUTranslations, NullTranslations
from pathlib import Path
from threading import Lock
from typing import Any

from babel import Locale, UnknownLocaleError
from babel.core import get_global
from babel.dates import (
    format_date,
    format_interval,
    format_skeleton,
    format_time,
    get_day_names,
    get_timezone_location,
)
from babel.lists import format_list
from babel.numbers import format_decimal
from jinja2 import pass_eval_context
from jinja2.nodes import EvalContext
from markupsafe import Markup

from gazette.domain.window import naming

SOURCE = "en"
"""The language of the templates, which does not need a catalogue."""

CATALOGUE = "messages"

_QUOTATION = "“%(quoted)s”"
"""The sentence in `parts/quoted.txt`. Its translations define the quotation marks of each
language."""

_CAPITAL_NOUNS = {"de", "lb"}
"""The languages that always capitalise nouns."""

_NAMED_DAYS = 7
"""The number of days that are shown by name: today, yesterday and the five preceding days."""

_REMEMBERED = 200
"""The maximum number of cached locales. A limit is required because other services choose locale
names."""

_LONGEST_HEADER = 200

_LIKELY = {"en": "en-GB"}
"""The default locales of languages without a country. English without a country uses the formats of
`en-GB`, such as the 24-hour clock.
"""


class Language:
    """A language, with the formats of a country if the reader's locale includes one.

    `tag` is the BCP 47 tag of the sentences. `direction` is `ltr` or `rtl`. `start` is the side on
    which lines begin. `name` is the CLDR name, which distinguishes countries: `en_GB`, `en_US`.
    """

    def __init__(self, tag: str, locale: Locale, translations: NullTranslations) -> None:
        self.tag = tag
        self.direction: str = locale.text_direction
        self.start = "right" if self.direction == "rtl" else "left"
        self.name = str(locale)
        self._locale = locale
        self._translations = translations
        self._date_and_time = str(locale.datetime_formats["medium"]).replace("'", "")
        self._today = _translated_or_empty("Today", tag, translations)
        self._yesterday = _translated_or_empty("Yesterday", tag, translations)
        self._quote = translations.gettext(_QUOTATION).partition("%(quoted)s")

    def values(self) -> dict[str, Any]:
        """Return the values that templates need: `language`, and the functions for `trans` and
        `_`.
        """
        return {
            "language": self,
            "gettext": self._gettext,
            "_": self._gettext,
            "ngettext": self._ngettext,
        }

    def number(self, number: int) -> str:
        """Return a formatted number, such as `1,234`."""
        return _number(self.name, number)

    def moment(self, instant: datetime, zone: tzinfo, today: date | None = None) -> str:
        """Return the date and time in `zone`, such as `22 November, 08:30`.

        `today` is a date in `zone`. If it is specified, the last seven days are shown by name
        (`Yesterday, 08:30` or `Monday, 08:30`). Dates outside the current year then include the
        year (`22 November 2025, 08:30`).
        """
        local = instant.astimezone(zone)
        return self._joined(self._day_name(local, today), self.hour(local))

    def _day_name(self, local: datetime, today: date | None) -> str:
        if today is None:
            return _day(self.name, local.year, local.month, local.day)
        ago = today.toordinal() - local.toordinal()
        if 0 <= ago < _NAMED_DAYS:
            name = (self._today, self._yesterday)[ago] if ago < 2 else self._weekday(local)
            if name:
                return name
        if local.year != today.year:
            return _day_of_a_year(self.name, local.year, local.month, local.day)
        return _day(self.name, local.year, local.month, local.day)

    def _weekday(self, day: date) -> str:
        """Return the name of a day for use without a date, in sentence case."""
        name = _name_of_weekday(self.name, day.weekday())
        return name[:1].upper() + name[1:]

    def day_and_hour(self, instant: datetime, zone: tzinfo) -> str:
        """Return the full date and time, such as `Thursday, 26 November 2026, 08:00`."""
        local = instant.astimezone(zone)
        return self._joined(format_date(local, "full", locale=self._locale), self.hour(local))

    def weekday_and_day(self, day: date) -> str:
        """Return a date with the day of the week, such as `Thursday, 26 November`."""
        return f"{self._weekday(day)}, {_day(self.name, day.year, day.month, day.day)}"

    def between(self, first: date, last: date) -> str:
        """Return two dates of one period, such as the 19th and 26th of November."""
        return _between(self.name, first, last)

    def date(self, day: date) -> str:
        """Return a formatted date, such as `14 December 2026`."""
        return str(format_date(day, "long", locale=self._locale))

    def weekday(self, number: int) -> str:
        """Return the name of a day of the week, such as `Monday` for 1."""
        return _name_of_weekday(self.name, number - 1)

    def weekdays(self) -> tuple[int, ...]:
        """Return the days of the week, 1 for Monday, in the order used in the reader's country."""
        first = _first_weekday(self.name)
        return tuple((first + day) % 7 + 1 for day in range(7))

    def territory(self, code: str) -> str:
        """Return the name of a country or continent by UN M49 code, such as `Europe` for 150."""
        return str(self._locale.territories[code])

    def place(self, *names: str) -> str:
        """Return the city of a time zone with these names, from CLDR if possible. Otherwise, derive
        the city from the first name.
        """
        known = self._locale.time_zones
        cities = (known[name]["city"] for name in names if "city" in known.get(name, {}))
        return str(next(cities, names[0].rpartition("/")[2].replace("_", " ")))

    def hour(self, local: datetime | time) -> str:
        """Return a time of day, such as `08:30` or `8:30 am`."""
        return _time(self.name, local.hour, local.minute)

    def city(self, zone: tzinfo) -> str:
        """Return the city of a time zone, such as `Berlin`."""
        try:
            return str(get_timezone_location(zone, locale=self._locale, return_city=True))
        except KeyError:  # few languages have a name for an unknown region
            return str(get_timezone_location(zone, locale=SOURCE, return_city=True))

    def listed(self, parts: Sequence[str]) -> str:
        """Return a formatted list, such as `Ann, Bo and 12 others`."""
        return _list(self.name, len(parts)).format(*parts)

    def named(self, names: Sequence[str], *others: str) -> str:
        """Return a formatted list of names, such as `Ann, Bo and 12 others`. Each name is isolated
        so that it cannot change the direction of adjacent text.
        """
        if len(names) == 1 and not others:
            return self.isolated(names[0])
        return self.listed([*map(self.isolated, names), *others])

    def quoted(self, text: str) -> str:
        """Return `text` in the language's quotation marks, isolated from the direction of adjacent
        text.

        `text` cannot close the quotation.
        """
        before, _, after = self._quote
        return before + self.isolated(text.replace(after, "'")) + after

    def unquoted(self, text: str) -> str:
        """Return the text that `quoted` put in quotation marks. Return any other text unchanged."""
        before, _, after = self._quote
        if not (text.startswith(before) and text.endswith(after)):
            return text
        inside = text.removeprefix(before).removesuffix(after)
        return inside.strip(naming.ISOLATES + naming.POP_ISOLATE)

    def inside(self, noun: str) -> str:
        """Return a noun as written within a sentence, such as `mentions` for `Mentions`. `CI
        builds` keeps its capitals.
        """
        if self.tag.partition("-")[0] in _CAPITAL_NOUNS or noun[1:2].isupper():
            return noun
        return noun[:1].lower() + noun[1:]

    def day(self, instant: datetime, zone: tzinfo) -> str:
        """Return a short date in `zone`, such as `22 Nov`."""
        local = instant.astimezone(zone)
        return _short_day(self.name, local.year, local.month, local.day)

    def long_day(self, instant: datetime, zone: tzinfo) -> str:
        """Return a date in `zone` with the full name of the month, such as `22 November`."""
        local = instant.astimezone(zone)
        return _day(self.name, local.year, local.month, local.day)

    def isolated(self, text: str) -> str:
        """Return `text`, isolated so that it cannot change the direction of adjacent text.

        Unicode isolates are added only around text whose direction differs from the language's.
        HTML that puts the text into an element of its own uses `direction_of` instead.
        """
        return naming.isolated(text, self.direction)

    def direction_of(self, text: str) -> str:
        """Return the direction of most letters in `text`, `ltr` or `rtl`, for the attribute `dir`.

        Return the direction of the language for a text without letters.
        """
        return naming.direction_of(text, self.direction)

    def _joined(self, date: str, time: str) -> str:
        return self._date_and_time.replace("{1}", date).replace("{0}", time)

    def sentences(self) -> Iterable[str]:
        """Return the catalogue's sentences, so that callers can check them."""
        catalogue: Mapping[object, str] = vars(self._translations).get("_catalog", {})
        return catalogue.values()

    @pass_eval_context
    def _gettext(self, context: EvalContext, message: str, /, **values: object) -> str:
        return _filled(context, self._translations.gettext(message), values)

    @pass_eval_context
    def _ngettext(
        self, context: EvalContext, one: str, many: str, number: int, /, **values: object
    ) -> str:
        sentence = self._translations.ngettext(one, many, number)
        return _filled(context, sentence, {"num": number, **values})


# Babel takes about 30 microseconds for each of these. The caches take 2 MB at most.


@lru_cache(maxsize=4096)
def _number(locale: str, number: int) -> str:
    return str(format_decimal(number, locale=locale))


@lru_cache(maxsize=1024)
def _day(locale: str, year: int, month: int, day: int) -> str:
    return str(format_skeleton("MMMMd", datetime(year, month, day, tzinfo=UTC), locale=locale))


@lru_cache(maxsize=1024)
def _day_of_a_year(locale: str, year: int, month: int, day: int) -> str:
    return str(format_date(date(year, month, day), "long", locale=locale))


@lru_cache(maxsize=1024)
def _name_of_weekday(locale: str, number: int) -> str:
    return str(get_day_names("wide", "stand-alone", locale=locale)[number])


@lru_cache(maxsize=1024)
def _short_day(locale: str, year: int, month: int, day: int) -> str:
    return str(format_skeleton("MMMd", datetime(year, month, day, tzinfo=UTC), locale=locale))


@lru_cache(maxsize=1024)
def _between(locale: str, first: date, last: date) -> str:
    """Return two dates in CLDR's format for short intervals, with the full names of months."""
    formats = Locale.parse(locale).interval_formats.get("MMMd", {})
    patterns = formats.get("d" if first.month == last.month else "M")
    if not patterns or len(patterns) != 2:
        return str(format_interval(first, last, "MMMd", locale=locale))
    dates = zip((first, last), patterns, strict=True)
    return "".join(
        format_date(day, part.replace("MMM", "MMMM"), locale=locale) for day, part in dates
    )


_TWO_DIGITS = 10
"""The first minute of two digits."""


@lru_cache(maxsize=2048)
def _time(locale: str, hour: int, minute: int) -> str:
    """Return a time of day.

    Babel formats three times of each hour instead of all, because a digest has times of many
    minutes, and Babel takes as long for a time as for the rest of its block. Some languages have
    words for noon and midnight, or write one digit for a minute before 10.
    """
    sample = "37" if minute >= _TWO_DIGITS else "07"
    pattern = _cldr_time(locale, hour, int(sample)) if minute else ""
    if pattern.count(sample) == 1:
        return pattern.replace(sample, f"{minute:02}")
    return _cldr_time(locale, hour, minute)


@lru_cache(maxsize=512)
def _cldr_time(locale: str, hour: int, minute: int) -> str:
    return str(format_time(time(hour, minute), "short", locale=locale))


@lru_cache(maxsize=_REMEMBERED)
def _first_weekday(locale: str) -> int:
    """Return the first day of the week, 0 for Monday.

    A language without a country uses the country of most of its speakers.
    """
    likely = get_global("likely_subtags").get(locale, locale)
    return int(Locale.parse(likely).first_week_day)


@lru_cache(maxsize=512)
def _list(locale: str, length: int) -> str:
    """Return CLDR's list pattern with a placeholder for each item, such as `{0}, {1} and {2}`."""
    return str(format_list([f"{{{place}}}" for place in range(length)], locale=locale))


def _translated_or_empty(word: str, tag: str, translations: NullTranslations) -> str:
    """Return the translation of a word, or an empty string if the catalogue lacks the word."""
    translation = translations.gettext(word)
    return translation if translation != word or tag.partition("-")[0] == SOURCE else ""


class Languages:
    """The available languages in a folder of built templates."""

    def __init__(self, templates: Path) -> None:
        self._folders = {
            folder.name.lower(): folder
            for folder in (templates / "locales").glob("*")
            if folder.is_dir()
        }
        self._of = lru_cache(maxsize=_REMEMBERED)(self._negotiate)
        self._lock = Lock()

    @property
    def tags(self) -> frozenset[str]:
        """The BCP 47 tags of the languages in lower case."""
        return frozenset({SOURCE, *self._folders})

    def of(self, tag: str) -> Language:
        """Return the best available language for a BCP 47 tag, or English.

        For example, `de-AT` returns German with Austrian formats.
        """
        # One object per language, because the language is part of the fragments' keys.
        with self._lock:
            return self._of(tag.lower())

    def accepted(self, header: str) -> Language:
        """Return the best available language for an Accept-Language header, or English.

        Languages are tried by weight (RFC 9110, section 12.5.4). Malformed parts are ignored.
        """
        languages = sorted(_weighted(header), key=lambda each: -each[0])
        spoken = (tag for weight, tag in languages if weight and self._is_spoken(tag))
        return self.of(next(spoken, SOURCE))

    def _is_spoken(self, tag: str) -> bool:
        return self.of(tag).tag != SOURCE or tag.partition("-")[0] == SOURCE

    def _negotiate(self, tag: str) -> Language:
        """Shorten the tag from the end until a language is available (lookup, RFC 4647, section
        3.4).

        A language whose code has changed is also found by its old code. Older Java versions use
        `iw` for Hebrew. https://www.rfc-editor.org/rfc/rfc5646#section-4.5
        """
        for available in _shortened(tag):
            if available in self.tags:
                return Language(available, _locale(tag, available), self._translations(available))
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
    """Yield the first few languages of an Accept-Language header in lower case, with their
    weights.
    """
    for part in header[:_LONGEST_HEADER].split(","):
        tag, _, weight = part.partition(";")
        try:
            yield float(weight.strip().removeprefix("q=") or 1), tag.strip().lower()
        except ValueError:
            continue


def _shortened(tag: str) -> Iterator[str]:
    """Yield the tag and its prefixes, such as `de-at-1996`, `de-at`, `de`."""
    while tag:
        yield tag
        tag = tag.rpartition("-")[0]


def _locale(tag: str, spoken: str) -> Locale:
    """Return the locale with the country in `tag`, if CLDR has this locale.

    Extensions are ignored.
    """
    for name in _shortened(tag):
        if len(name) < len(spoken):
            break
        try:
            return Locale.parse(_LIKELY.get(name, name), sep="-")
        except (UnknownLocaleError, ValueError):
            continue
    return Locale.parse(_LIKELY[SOURCE], sep="-")


def _filled(context: EvalContext, sentence: str, values: dict[str, object]) -> str:
    """Insert `values` into a sentence. In HTML, the values are escaped, but not the sentence."""
    words = Markup(sentence) if context.autoescape else sentence  # noqa: S704 -- see above
    return words % values if "%" in sentence else words
