"""The days before a digest have names, by the reader's calendar on the day when it was due."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from gettext import NullTranslations
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from babel import Locale
from gazette.adapters.rendering.language import Language, Languages
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.domain.delivery.compose import compose
from gazette.domain.model import DAILY, Edition
from gazette.domain.scheduling.kinds import immediate_schedule
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import LINKS, a_subscriber, an_event

DUE = datetime(2026, 11, 26, 7, 0, tzinfo=UTC)
TODAY = DUE.date()
"""A Thursday."""


@pytest.fixture(scope="session")
def languages(built_templates: Path) -> Languages:
    return Languages(built_templates)


@pytest.fixture
def renderer(built_templates: Path) -> JinjaRenderer:
    """One that has made nothing yet."""
    return JinjaRenderer(built_templates)


@pytest.mark.parametrize(
    ("tag", "days_ago", "said"),
    [
        ("en", 0, "Today, 08:30"),
        ("en", 1, "Yesterday, 08:30"),
        ("en", 2, "Tuesday, 08:30"),
        ("en", 6, "Friday, 08:30"),
        ("en", 7, "19 November, 08:30"),
        ("en", 330, "31 December 2025, 08:30"),
        ("en", -1, "27 November, 08:30"),
        ("en", -40, "5 January 2027, 08:30"),
        ("en-US", 330, "December 31, 2025, 8:30\N{NARROW NO-BREAK SPACE}AM"),
        ("de", 0, "Heute, 08:30"),
        ("de", 1, "Gestern, 08:30"),
        ("de", 3, "Montag, 08:30"),
        ("de", 7, "19. November, 08:30"),
        ("de", 330, "31. Dezember 2025, 08:30"),
        ("he", 0, "היום, 8:30"),
        ("he", 1, "אתמול, 8:30"),
        ("he", 3, "יום שני, 8:30"),
        ("he", 7, "19 בנובמבר, 8:30"),
        ("he", 330, "31 בדצמבר 2025, 8:30"),
    ],
)
def test_instants_are_named_by_relative_day(
    languages: Languages, tag: str, days_ago: int, said: str
) -> None:
    instant = datetime(2026, 11, 26, 8, 30, tzinfo=UTC) - timedelta(days=days_ago)
    assert languages.of(tag).moment(instant, UTC, TODAY) == said


@pytest.mark.parametrize(
    ("days_ago", "said"),
    [(0, "26 novembre 08:30"), (1, "25 novembre 08:30"), (3, "Lundi 08:30")],
)
def test_languages_without_relative_day_words_use_dates_and_weekdays(
    days_ago: int, said: str
) -> None:
    """An English word among French ones would be worse."""
    french = Language("fr", Locale.parse("fr"), NullTranslations())
    instant = datetime(2026, 11, 26, 8, 30, tzinfo=UTC) - timedelta(days=days_ago)
    assert french.moment(instant, UTC, TODAY).replace(",", "") == said


@given(
    hours=st.integers(0, 43_000),
    zone=st.sampled_from(["UTC", "Asia/Kathmandu", "Pacific/Kiritimati", "America/New_York"]),
    today=st.dates(date(2024, 1, 8), date(2029, 1, 1)),
)
def test_instants_share_a_name_only_on_the_same_day(
    languages: Languages, hours: int, zone: str, today: date
) -> None:
    english, there = languages.of("en"), ZoneInfo(zone)
    instant = datetime(2024, 1, 1, tzinfo=UTC) + timedelta(hours=hours)
    said = english.moment(instant, there, today)
    local = instant.astimezone(there).date()
    for days in (*range(-370, -360), *range(-8, 0), *range(1, 9), *range(360, 370)):
        other = instant + timedelta(days=days)
        if other.astimezone(there).date() != local:
            assert english.moment(other, there, today) != said


def edition(
    renderer: JinjaRenderer, *, due_at: datetime | None, zone: str = "UTC", schedule: str = DAILY
) -> Edition:
    event = an_event(occurred_at=datetime(2026, 11, 25, 23, 30, tzinfo=UTC))
    reader = replace(a_subscriber(), time_zone=zone)
    digest = compose([event], max_blocks=1)
    return renderer.render(digest, reader, LINKS, schedule, due_at=due_at)


@pytest.mark.parametrize("schedule", [DAILY, immediate_schedule("post#post1")])
def test_cached_block_shows_the_day_of_each_reader(renderer: JinjaRenderer, schedule: str) -> None:
    expected = {
        ("UTC", 0): "Yesterday, 23:30",
        ("Asia/Kathmandu", 0): "Today, 05:15",
        ("UTC", 1): "Wednesday, 23:30",
        ("Asia/Kathmandu", 1): "Yesterday, 05:15",
        ("UTC", 7): "25 November, 23:30",
    }
    for _ in range(2):
        for (zone, later), said in expected.items():
            due_at = DUE + timedelta(days=later)
            made = edition(renderer, due_at=due_at, zone=zone, schedule=schedule)
            assert f"\n  {said}\n" in made.text
            assert f">{said}" in made.html
    assert renderer.take_count().misses == len(expected)


def test_relative_day_uses_the_readers_time_zone(renderer: JinjaRenderer) -> None:
    """In New York it is still the evening before when it is due."""
    made = edition(renderer, due_at=DUE.replace(hour=3), zone="America/New_York")
    assert "\n  Today, 18:30\n" in made.text


def test_instant_without_relative_day_is_shown_as_a_date(renderer: JinjaRenderer) -> None:
    assert "\n  25 November, 23:30\n" in edition(renderer, due_at=None).text
