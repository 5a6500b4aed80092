"""The time zones of the preference page: each place once, under the name that the reader knows."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from gazette.adapters.rendering.language import Language, Languages
from gazette.adapters.rendering.places import regions, zones


@pytest.fixture(scope="module")
def languages(built_templates: Path) -> Languages:
    return Languages(built_templates)


def places(language: Language, now: str = "Europe/Berlin") -> Iterator[tuple[str, str]]:
    for _, _, those in regions(language, now):
        yield from those


@pytest.mark.parametrize("tag", ["en", "de", "he", "en-US"])
def test_each_place_is_offered_once_with_a_valid_zone(languages: Languages, tag: str) -> None:
    found = dict(places(languages.of(tag)))
    assert len(found) > 300
    assert found.keys() <= set(zones())
    assert len(set(found.values())) == len(found), "no two places with one name"


@pytest.mark.parametrize("own", ["Asia/Calcutta", "Asia/Kolkata", "US/Eastern", "Europe/Kiev"])
def test_zone_alias_of_the_reader_is_kept(languages: Languages, own: str) -> None:
    found = dict(places(languages.of("en"), own))
    assert own in found
    assert len(found) == len(dict(places(languages.of("en"))))


def test_zone_without_a_place_is_kept(languages: Languages) -> None:
    language = languages.of("en")
    assert regions(language, "Etc/GMT+3") == regions(language, "Europe/Berlin")


def test_regions_and_cities_are_named_in_the_readers_language(languages: Languages) -> None:
    german = regions(languages.of("de"), "Europe/Berlin")
    assert [continent for ocean, continent, _ in german if not ocean] == [
        *("Afrika", "Amerika", "Antarktis", "Asien", "Australien", "Europa")
    ]
    assert [ocean for ocean, _, _ in german if ocean] == ["Atlantic", "Indian", "Pacific"]
    cities = dict(places(languages.of("de")))
    assert cities["Europe/Vienna"] == "Wien"
    hebrew = dict(places(languages.of("he")))
    assert hebrew["Europe/Berlin"] == "ברלין"
    assert hebrew["Europe/Kyiv"] == "קייב", "CLDR knows it by the older name"


def test_cities_are_sorted_alphabetically_ignoring_accents(languages: Languages) -> None:
    (europe,) = [those for _, name, those in regions(languages.of("de"), "") if name == "Europa"]
    names = [city for _, city in europe]
    assert names.index("Warschau") < names.index("Wien") < names.index("Zürich")
    (africa,) = [those for _, name, those in regions(languages.of("fr"), "") if name == "Africa"]
    assert [city for _, city in africa] == sorted((city for _, city in africa), key=str.casefold)
