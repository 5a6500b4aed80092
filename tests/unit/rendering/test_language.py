"""Each reader reads their own language, in the formats of their region."""

from datetime import UTC, datetime, time
from gettext import NullTranslations
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from babel import Locale
from babel.dates import format_date, format_skeleton, format_time
from babel.lists import format_list
from babel.messages.catalog import Catalog
from babel.numbers import format_decimal
from gazette.adapters.rendering import language
from gazette.adapters.rendering.language import Language, Languages
from gazette.domain.window import naming
from hypothesis import given, settings
from hypothesis import strategies as st

from gazette_cdk.assets.templates.catalogues import extract, is_to_do, read_catalogue
from gazette_cdk.assets.templates.messages import TEMPLATES, catalogues

MORNING = datetime(2026, 11, 26, 7, 0, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")


@pytest.fixture(scope="session")
def languages(built_templates: Path) -> Languages:
    """Those of the repository."""
    return Languages(built_templates)


@pytest.mark.parametrize(
    ("tag", "spoken"),
    [
        ("de", "de"),
        ("de-AT", "de"),
        ("DE-at-1996", "de"),
        ("he", "he"),
        ("en", "en"),
        ("en-US", "en"),
        ("pt-BR", "en"),
        ("xx", "en"),
        ("", "en"),
        ("zh-Hant-TW", "en"),
        ("iw-IL", "he"),
        ("sh", "en"),
    ],
)
def test_closest_available_language_is_chosen(languages: Languages, tag: str, spoken: str) -> None:
    assert languages.of(tag).tag == spoken


@pytest.mark.parametrize(
    ("tag", "moment"),
    [
        ("en", "26 November, 08:00"),
        ("en-GB", "26 November, 08:00"),
        ("en-US", "November 26, 8:00\N{NARROW NO-BREAK SPACE}AM"),
        ("en-US-u-hc-h23", "November 26, 8:00\N{NARROW NO-BREAK SPACE}AM"),
        ("de-AT", "26. November, 08:00"),
        ("iw-IL", "26 בנובמבר, 8:00"),
        ("he", "26 בנובמבר, 8:00"),
        ("xx-US", "26 November, 08:00"),
    ],
)
def test_dates_and_times_follow_the_country_format(
    languages: Languages, tag: str, moment: str
) -> None:
    assert languages.of(tag).moment(MORNING, BERLIN) == moment


@pytest.mark.parametrize(
    ("tag", "day", "city", "number", "people"),
    [
        ("en", "Thursday, 26 November 2026, 08:00", "Berlin", "12,345", "Ann, Bo and Cy"),
        ("de", "Donnerstag, 26. November 2026, 08:00", "Berlin", "12.345", "Ann, Bo und Cy"),
        ("he", "יום חמישי, 26 בנובמבר 2026, 8:00", "ברלין", "12,345", "Ann, Bo וCy"),
    ],
)
def test_days_cities_numbers_and_lists_follow_the_country_format(
    languages: Languages, tag: str, day: str, city: str, number: str, people: str
) -> None:
    language = languages.of(tag)
    assert language.day_and_hour(MORNING, BERLIN) == day
    assert language.city(BERLIN) == city
    assert language.number(12345) == number
    assert language.listed(["Ann", "Bo", "Cy"]) == people


def test_page_renders_if_a_place_has_no_translated_name() -> None:
    tswana = Language("tn", Locale.parse("tn"), NullTranslations())
    assert tswana.city(BERLIN) == "Berlin"


def test_quotes_around_cldr_words_are_removed() -> None:
    corsican = Language("co", Locale.parse("co"), NullTranslations())
    assert corsican.moment(MORNING, BERLIN) == "26 di nuvembre à 08:00"


def test_only_text_of_the_opposite_direction_is_isolated(languages: Languages) -> None:
    english, hebrew = languages.of("en"), languages.of("he")
    assert english.isolated("Bo") == "Bo"
    assert english.isolated("נועה") == "\u2068נועה\u2069"
    assert hebrew.isolated("נועה") == "נועה"
    assert hebrew.isolated("Bo") == "\u2068Bo\u2069"
    assert hebrew.isolated("Bo ו") == "\u2068Bo ו\u2069"
    assert hebrew.isolated("") == ""
    for turning in ("\U0001e900", "\u200f5", "\u061c5"):  # Adlam, and marks that nobody sees
        assert english.isolated(turning) == f"\u2068{turning}\u2069"
    assert (english.direction, english.start) == ("ltr", "left")
    assert (hebrew.direction, hebrew.start) == ("rtl", "right")


@pytest.fixture(scope="session")
def sentences() -> Catalog:
    """Every sentence that a template has."""
    return extract(TEMPLATES)


@pytest.mark.parametrize("tag", ["de", "he"])
def test_every_catalogue_is_complete_and_has_no_unused_messages(
    sentences: Catalog, tag: str
) -> None:
    [file] = [file for file in catalogues(TEMPLATES) if file.parents[1].name == tag]
    catalogue = read_catalogue(file, tag)
    said = {message.id: message for message in catalogue if message.id}
    assert said.keys() == {message.id for message in sentences if message.id}
    assert not [message.id for message in said.values() if is_to_do(message)]


def test_translation_check_covers_every_catalogue() -> None:
    assert [file.parents[1].name for file in catalogues(TEMPLATES)] == ["de", "he"]


@pytest.mark.parametrize(
    ("header", "spoken"),
    [
        ("", "en"),
        ("de", "de"),
        ("DE-at", "de"),
        ("fr, de;q=0.5, he;q=0.9", "he"),
        ("fr;q=1, es", "en"),
        ("de;q=0, he;q=0.1", "he"),
        ("*", "en"),
        ("de;q=x, he", "he"),
        (";;;,,=", "en"),
        ("x," * 10_000 + "de", "en"),
        ("dee, he", "he"),
        ("iw", "he"),
    ],
)
def test_page_uses_the_browsers_first_supported_language(
    languages: Languages, header: str, spoken: str
) -> None:
    assert languages.accepted(header).tag == spoken


@pytest.mark.parametrize(
    ("name", "first"), [("en_GB", 1), ("en_US", 7), ("de", 1), ("he", 7), ("ar", 6), ("pt_BR", 7)]
)
def test_week_starts_as_in_the_country_or_the_languages_main_country(name: str, first: int) -> None:
    days = Language(name, Locale.parse(name), NullTranslations()).weekdays()
    assert days[0] == first
    assert sorted(days) == [1, 2, 3, 4, 5, 6, 7]


def test_format_cache_is_bounded() -> None:
    modules = (language, naming)
    memos = [one for each in modules for one in vars(each).values() if hasattr(one, "cache_info")]
    assert len(memos) == 12
    assert all(0 < memo.cache_info().maxsize <= 4096 for memo in memos)


@pytest.mark.parametrize(
    "name", ["en_GB", "en_US", "de_AT", "he", "fr_CA", "ar_EG", "oc_FR", "yo", "zh_Hant", "fa"]
)
@given(instant=st.datetimes(timezones=st.just(UTC)), number=st.integers(0, 10**7))
@settings(max_examples=30, deadline=None)
def test_cached_formats_equal_cldr_formats(name: str, instant: datetime, number: int) -> None:
    """Of a time its minute, which is all that is shown: some languages have a word for midnight."""
    locale = Locale.parse(name)
    spoken = Language(name, locale, NullTranslations())
    minute = instant.replace(second=0, microsecond=0)
    for _ in range(2):
        said = spoken.moment(instant, UTC)
        assert format_skeleton("MMMMd", instant, locale=locale) in said
        assert format_time(minute, "short", locale=locale) in said
        assert spoken.hour(instant) == format_time(minute, "short", locale=locale)
        day = spoken.weekday_and_day(instant.date())
        assert day.lower().startswith(format_date(instant, "cccc", locale=locale).lower())
        assert day.endswith(f", {format_skeleton('MMMMd', instant, locale=locale)}")
        assert spoken.number(number) == format_decimal(number, locale=locale)
        for names in (["Ann"], ["Ann", "{0}"], ["Ann", "Bo", "%s"], []):
            assert spoken.listed(names) == format_list(names, locale=locale)


@pytest.mark.parametrize("name", ["en", "en_US", "de", "he", "ar_EG", "yo", "bn", "zh_Hant", "ccp"])
def test_each_minute_is_written_as_cldr_does(name: str) -> None:
    for hour in range(24):
        for minute in (0, 1, 7, 9, 10, 37, 59):
            expected = format_time(time(hour, minute), "short", locale=name)
            assert language._time(name, hour, minute) == expected
