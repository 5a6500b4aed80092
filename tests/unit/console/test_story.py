"""The story of a stage: its verdict, its words, and its page."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from gazette.adapters.console.story import story_page
from gazette.domain.console.levels import Level, Line
from gazette.domain.console.story import (
    COUNTS,
    HELD,
    METRICS,
    OLDEST,
    SILENT,
    TICKS,
    Measures,
    Part,
    Story,
    verdict,
)
from gazette.domain.delivery.circuit_breaker import OpenBreaker
from gazette.domain.delivery.pace import EVER, PaceReading
from gazette.domain.delivery.streams import Streams
from gazette.steps.support.story import Readings, story_of

from tests.builders import NOW
from tests.unit.console.pages import ARN, BUTTONS, HOSTILE, Parsed
from tests.unit.console.test_pages import ALLOWED
from tests.unit.house.test_metrics_page import documented

PACE = PaceReading(
    rate=20, full_rate=20, taken=7, cap=None, quota=None, free_since=EVER, breaker=None
)
CALM = Readings(
    measures=Measures(
        counts={
            **dict.fromkeys(COUNTS, 0),
            "due": 1204,
            "run_sent": 1310,
            "run_skipped": 20,
            "mail_sent": 1310,
            "mail_delivered": 1301,
            "mail_bounced": 4,
            "unsubscribed": 1,
        },
        oldest=timedelta(0),
        held_by_day=0,
        is_ticking=True,
    ),
    streams=Streams(digest=PACE, immediate=PACE),
    dead={"failed": 0, "generate-dead": 0},
    quarantine=0,
)


def story(readings: Readings = CALM, *, ticks: bool = True, stage: str = "prod") -> Story:
    return story_of(readings, stage=stage, at=NOW, ticks=ticks)


def measured(oldest: timedelta | None = timedelta(0), **counts: int) -> Readings:
    """The readings of a calm stage, except for these measurements."""
    assert CALM.measures
    held, ticking = counts.pop("held_by_day", 0), bool(counts.pop("is_ticking", 1))
    measures = replace(
        CALM.measures,
        counts={**CALM.measures.counts, **counts},
        oldest=oldest,
        held_by_day=held,
        is_ticking=ticking,
    )
    return replace(CALM, measures=measures)


def test_calm_stage_is_on_time_and_every_part_states_its_numbers() -> None:
    calm = story()
    assert verdict(calm) == "Everything is on time."
    assert [(part.title, part.lines) for part in calm.parts] == [
        ("On time", ()),
        ("Stuck", []),
        ("Readers", []),
    ]
    assert "\n".join(sentence for part in calm.parts for sentence in part.sentences) == (
        "In the last 24 hours, 1,204 digests became due. 1,310 emails were sent, including "
        "immediate emails, and 20 runs ended without an email.\n"
        "No email that is due waits to be sent.\n"
        "In the last 24 hours, 0 emails failed, and 0 attempts had an unknown outcome.\n"
        "All queues that must be empty are empty.\n"
        "In the last 24 hours, 1,301 of 1,310 emails were reported as delivered. 4 emails "
        "bounced, and 0 complaints arrived.\n"
        "1 reader unsubscribed from all email."
    )


def test_verdict_names_the_worst_first_and_counts_each_level() -> None:
    breaker = OpenBreaker(since=NOW, why="throttled", until=NOW, step=timedelta(minutes=1))
    streams = Streams(digest=replace(PACE, breaker=breaker), immediate=PACE)
    bad = replace(
        measured(oldest=timedelta(minutes=80), run_unknown=2, held_by_day=7),
        streams=streams,
        dead={"failed": 0, "generate-dead": 5},
    )
    assert verdict(story(bad)) == (
        "3 problems and 2 warnings: oldest email: due for 1 hour and 20 minutes and not sent; "
        f"{stopped(story(bad))}; dead letters: 5 in generate-dead; and 2 more."
    )
    assert [line.command for line in story(bad, stage="test").lines] == [
        "gazette overview --stage test",
        "gazette sending status --stage test",
        "gazette dlq show generate-dead --stage test",
        "gazette sending status --stage test",
        "see docs/unknown-outcomes.md",
    ]


def stopped(told: Story) -> str:
    (line,) = (line for line in told.lines if line.area == "stopped")
    return f"{line.area}: {line.text}"


@pytest.mark.parametrize(
    ("age", "level"), [(15, None), (16, Level.WARNING), (60, Level.WARNING), (61, Level.PROBLEM)]
)
def test_age_of_the_oldest_email_has_the_levels_of_the_overview(
    age: int, level: Level | None
) -> None:
    lines = story(measured(oldest=timedelta(minutes=age))).lines
    assert [line.level for line in lines] == ([level] if level else [])


def test_stopped_clock_is_a_problem_and_one_that_is_turned_off_a_warning() -> None:
    silent = story(measured(oldest=None, is_ticking=0))
    assert [(line.level, line.area) for line in silent.lines] == [(Level.PROBLEM, "clock")] * 2
    assert "no tick in the last 25 minutes" in verdict(silent)
    assert "no sweep has reported" in silent.parts[0].sentences[1]
    off = story(measured(oldest=None, is_ticking=0), ticks=False)
    assert [line.level for line in off.lines] == [Level.WARNING]


@pytest.mark.parametrize(
    ("counts", "level"),
    [
        ({"mail_bounced": 65}, None),
        ({"mail_bounced": 66}, Level.PROBLEM),
        ({"mail_complained": 1}, None),
        ({"mail_complained": 2}, Level.PROBLEM),
        ({"mail_sent": 10, "mail_bounced": 1}, Level.WARNING),
    ],
)
def test_shares_of_bounces_and_complaints(counts: dict[str, int], level: Level | None) -> None:
    lines = story(measured(timedelta(0), **counts)).lines
    assert [line.level for line in lines] == ([level] if level else [])


def test_part_that_cannot_be_read_says_so_and_the_others_are_shown() -> None:
    blind = story(replace(CALM, measures=None, dead={"failed": None, "generate-dead": 2}))
    assert [bool(part.unread) for part in blind.parts] == [True, True, True]
    assert blind.parts[1].unread[-1] == "These queues cannot be read: failed."
    assert verdict(blind) == (
        "1 problem: dead letters: 2 in generate-dead. Not everything can be read."
    )
    unread = story(replace(CALM, streams=None, quarantine=None))
    assert verdict(unread) == "Not everything can be read. No problem is known."
    assert unread.parts[0].sentences == story().parts[0].sentences


def test_emails_without_delivery_events_are_not_reported_as_lost() -> None:
    told = story(measured(mail_sent=0, mail_delivered=0, mail_bounced=0))
    assert "no delivery event was counted" in told.parts[2].sentences[0]


def test_measures_are_sums_of_a_day_and_the_latest_values() -> None:
    now = datetime(2026, 11, 23, 12, tzinfo=UTC)
    before = now - timedelta(minutes=5)
    points = {
        "due": [(now - timedelta(hours=20), 3.0), (before, 4.0)],
        OLDEST: [(now - timedelta(minutes=20), 9000.0), (before, 60.0), (now, 0.0)],
        HELD: [(now - timedelta(hours=20), 50.0)],
        TICKS: [(now - SILENT - timedelta(seconds=1), 1.0)],
    }
    measures = Measures.of(points, now=now)
    assert measures.counts["due"] == 7
    assert measures.counts["run_sent"] == 0
    assert measures.oldest == timedelta(minutes=1)
    assert measures.held_by_day == 0
    assert not measures.is_ticking
    assert Measures.of({TICKS: [(now - SILENT, 1.0)]}, now=now).is_ticking


def test_metrics_of_the_story_are_documented() -> None:
    assert METRICS.keys() <= documented()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_page_has_the_verdict_first_and_calls_only_the_looking_function(theme: str) -> None:
    hostile = Line(Level.PROBLEM, "stopped", f"digests: by ann@example.com {HOSTILE}", "gazette x")
    parts = (Part("On time", ("All is well.",)), Part("Stuck", (), (hostile,), ("No metrics.",)))
    page = Parsed(story_page(Story("prod", NOW, parts), BUTTONS, theme=theme))
    assert page.texts[0].startswith("1 problem: stopped: digests: by (address) <script>")
    assert "ann@example.com" not in page.html
    assert set(page.tags) <= ALLOWED | {"code", "li", "section", "ul"}
    assert {action.attributes["endpoint"] for action in page.actions} == {ARN}
    assert ("class", "gz-verdict gz-bad") in page.attributes
    calm = Parsed(story_page(story(), BUTTONS, theme=theme))
    assert ("class", "gz-verdict gz-good") in calm.attributes
    warning = Parsed(story_page(story(ticks=False), BUTTONS, theme=theme))
    assert ("class", "gz-verdict gz-neutral") in warning.attributes
    unread = Parsed(story_page(story(replace(CALM, quarantine=None)), BUTTONS, theme=theme))
    assert ("class", "gz-verdict gz-bad") in unread.attributes
