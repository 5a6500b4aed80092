"""The time zones that the preference page offers, by region, in the reader's language."""

from functools import cache, lru_cache
from unicodedata import combining, normalize
from zoneinfo import available_timezones

from babel.core import get_global

from gazette.adapters.rendering.language import Language

_CONTINENTS = {
    "Africa": "002",
    "America": "019",
    "Antarctica": "AQ",
    "Arctic": "150",
    "Asia": "142",
    "Australia": "AU",
    "Europe": "150",
}
"""CLDR codes (UN M49, ISO 3166) of the continents in time zone names. The Arctic is listed under
Europe, because its only zone is that of Svalbard."""

_OCEANS = ("Atlantic", "Indian", "Pacific")
"""The English names of the oceans, which CLDR does not contain."""

_REMEMBERED = 20
"""The maximum number of cached languages. Each takes about 60 KB."""

Region = tuple[str, str, tuple[tuple[str, str], ...]]
"""A continent or ocean with its time zones: the ocean's name, the continent's name, and each zone
with its city. One of the names is empty.
"""


@cache
def zones() -> tuple[str, ...]:
    """Return the time zones that are named after places, such as `Europe/Berlin`.

    `Etc/…` and abbreviations are excluded.
    """
    regions = {*_CONTINENTS, *_OCEANS}
    return tuple(
        sorted(name for name in available_timezones() if name.partition("/")[0] in regions)
    )


def regions(language: Language, now: str) -> list[Region]:
    """Return the time zones by region. Each place is listed once.

    The reader's current zone `now` is listed under that name. `Asia/Calcutta` and `Asia/Kolkata`
    are the same place.
    """
    own = _canonical(now)
    return [
        (
            ocean,
            continent,
            tuple((now if _canonical(zone) == own else zone, city) for zone, city in places),
        )
        for ocean, continent, places in _regions(language)
    ]


@lru_cache(maxsize=_REMEMBERED)
def _regions(language: Language) -> tuple[Region, ...]:
    """Return the continents by name, then the oceans. Each region's cities are sorted by name."""
    cities: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for names in _places():
        region = names[0].partition("/")[0]
        code = _CONTINENTS.get(region)
        key = ("", language.territory(code)) if code else (region, "")
        cities.setdefault(key, []).append((names[0], language.place(*names)))
    in_order = sorted(cities, key=lambda key: (key[0], _alphabetic(key[1])))
    return tuple(
        (*key, tuple(sorted(cities[key], key=lambda each: _alphabetic(each[1]))))
        for key in in_order
    )


def _places() -> list[tuple[str, ...]]:
    """Return the names of each zone, starting with the canonical name.

    CLDR may list the city under an older name of the zone.
    """
    places: dict[str, list[str]] = {}
    for name in zones():
        places.setdefault(_canonical(name), []).append(name)
    return [
        tuple(sorted(names, key=lambda name: (name != canonical, name)))
        for canonical, names in places.items()
    ]


def _canonical(zone: str) -> str:
    """Return CLDR's canonical name of a zone."""
    name: str = get_global("zone_aliases").get(zone, zone)
    return name


def _alphabetic(text: str) -> str:
    """Return the text without accents and in lower case, so that Ägypten sorts before Algerien."""
    return "".join(each for each in normalize("NFKD", text.casefold()) if not combining(each))
