"""Quiet hours in the form of the preference page: three fields that are one choice."""

import json
from dataclasses import replace
from datetime import time, timedelta

import pytest
from gazette.adapters.aws.bus import encode
from gazette.adapters.contract import read_detail
from gazette.domain.commands import ChoosePreferences
from gazette.domain.scheduling.quiet import QuietHours
from gazette.domain.scheduling.quiet_form import QUIET_FIELDS
from gazette.domain.subscribers.choices import NOTHING, Choice
from gazette.domain.subscribers.overview import Notice, Overview
from gazette.domain.subscribers.preference_form import (
    Act,
    Fields,
    Problem,
    Submission,
    asked,
    shown_fields,
    written_fields,
)
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import NOW, a_link, a_subscriber
from tests.world import World

STAGE = QuietHours(time(23), time(6, 30))


def overview(quiet_hours: str, default: QuietHours | None = None) -> Overview:
    reader = replace(a_subscriber(), quiet_hours=quiet_hours)
    return Overview(subscriber=reader, now=NOW, defaults=(), default_quiet_hours=default)


def fields(quiet: str, begin: str = "22:00", end: str = "07:00") -> dict[str, list[str]]:
    return dict(zip(QUIET_FIELDS, ([quiet], [begin], [end]), strict=True))


def read(sent: Fields, shown: Overview, *, was: Overview | None = None) -> Submission:
    """Read the fields of a page that showed `was`, or `shown`."""
    seen = written_fields(shown_fields(was or shown, ()))
    return asked({**sent, "was": [seen]}, shown, categories=(), zones=())


@pytest.mark.parametrize(
    ("stored", "default", "expected"),
    [
        ("default", None, fields("none")),
        ("none", None, fields("none")),
        ("22:30-07:15", None, fields("hours", "22:30", "07:15")),
        ("default", STAGE, fields("default", "23:00", "06:30")),
        ("none", STAGE, fields("none", "23:00", "06:30")),
        ("12:00-14:00", STAGE, fields("hours", "12:00", "14:00")),
    ],
)
def test_page_shows_the_stored_quiet_hours(
    stored: str, default: QuietHours | None, expected: dict[str, list[str]]
) -> None:
    shown = shown_fields(overview(stored, default), ())
    assert {name: [*shown[name]] for name in QUIET_FIELDS} == expected


STORED = ("default", "none", "22:30-07:15", "23:00-06:30")


@pytest.mark.parametrize("stored", STORED)
@pytest.mark.parametrize("default", [None, STAGE])
def test_unchanged_quiet_hours_are_no_choice(stored: str, default: QuietHours | None) -> None:
    shown = overview(stored, default)
    sent = {name: [*shown_fields(shown, ())[name]] for name in QUIET_FIELDS}
    assert read(sent, shown) == Submission(Act.SAVE)
    assert asked(sent, shown, categories=(), zones=()) == Submission(Act.SAVE)


@pytest.mark.parametrize(
    ("stored", "sent", "chosen"),
    [
        ("none", fields("hours", "21:00", "08:00"), "21:00-08:00"),
        ("none", fields("hours", "12:00", "14:00"), "12:00-14:00"),
        ("none", fields("default"), "default"),
        ("default", fields("none"), "none"),
        ("default", fields("hours", "23:00", "06:30"), "23:00-06:30"),
        ("22:30-07:15", fields("none", "22:30", "07:15"), "none"),
        ("22:30-07:15", fields("default", "22:30", "07:15"), "default"),
        ("22:30-07:15", fields("hours", "22:30", "08:00"), "22:30-08:00"),
        ("22:30-07:15", fields("hours", "22:00", "07:15"), "22:00-07:15"),
    ],
)
def test_changed_quiet_hours_are_chosen(
    stored: str, sent: dict[str, list[str]], chosen: str
) -> None:
    shown = overview(stored, STAGE)
    assert read(sent, shown) == Submission(Act.SAVE, Choice(quiet_hours=chosen))
    assert asked(sent, shown, categories=(), zones=()).choice == Choice(quiet_hours=chosen)


def test_times_of_an_unselected_option_are_no_choice() -> None:
    """A browser without `:has()` shows the lists, although the reader has no quiet hours."""
    shown = overview("22:00-07:00", STAGE)
    sent = fields("none", "20:00", "09:00")
    assert read(sent, shown, was=overview("none", STAGE)) == Submission(Act.SAVE)


@pytest.mark.parametrize("sent", [{}, {"quiet_from": ["21:00"]}, {"hour": ["8"]}])
def test_page_without_the_fields_keeps_quiet_hours(sent: Fields) -> None:
    for stored in STORED:
        shown = overview(stored, STAGE)
        assert read(sent, shown) == Submission(Act.SAVE)
        assert asked(sent, shown, categories=(), zones=()) == Submission(Act.SAVE)


def test_field_that_is_missing_keeps_its_stored_time() -> None:
    shown = overview("22:30-07:15")
    sent = {"quiet": ["hours"], "quiet_until": ["08:00"]}
    assert asked(sent, shown, categories=(), zones=()).choice.quiet_hours == "22:30-08:00"


def test_minutes_of_an_older_page_are_accepted() -> None:
    """Since the page was opened, a service chose other hours."""
    shown, was = overview("21:15-06:00"), overview("22:30-07:00")
    sent = fields("hours", "22:30", "08:00")
    assert read(sent, shown, was=was).choice == Choice(quiet_hours="22:30-08:00")


def test_older_page_does_not_revert_quiet_hours() -> None:
    for was, stored in [("none", "22:00-07:00"), ("22:30-07:00", "none"), ("default", "none")]:
        before, after = overview(was, STAGE), overview(stored, STAGE)
        sent = {name: [*shown_fields(before, ())[name]] for name in QUIET_FIELDS}
        assert read(sent, after, was=before).choice == NOTHING


@pytest.mark.parametrize(
    ("sent", "problems"),
    [
        (fields("hours", "21:00", "21:00"), {"quiet_until": Problem.SAME_TIMES}),
        (fields("sometimes"), {"quiet": Problem.NOT_OFFERED}),
        (fields(""), {"quiet": Problem.NOT_OFFERED}),
        (fields("21:00-07:00"), {"quiet": Problem.NOT_OFFERED}),
        (fields("hours", "24:00"), {"quiet_from": Problem.NOT_OFFERED}),
        (fields("hours", "22:00:00"), {"quiet_from": Problem.NOT_OFFERED}),
        (fields("hours", "٢٢:00"), {"quiet_from": Problem.NOT_OFFERED}),
        (fields("hours", "22:00", "7"), {"quiet_until": Problem.NOT_OFFERED}),
        (
            fields("hours", "x", "x"),
            {"quiet_from": Problem.NOT_OFFERED, "quiet_until": Problem.NOT_OFFERED},
        ),
        (fields("hours", "x", "23:00"), {"quiet_from": Problem.NOT_OFFERED}),
    ],
)
def test_invalid_quiet_hours_are_reported_at_their_field(
    sent: dict[str, list[str]], problems: dict[str, Problem]
) -> None:
    found = read({**sent, "hour": ["9"]}, overview("none", STAGE))
    assert (found.choice, found.problems) == (NOTHING, problems)


def test_default_is_not_offered_without_default_quiet_hours() -> None:
    found = read(fields("default"), overview("22:00-07:00"))
    assert found.problems == {"quiet": Problem.NOT_OFFERED}


def test_pause_button_also_saves_quiet_hours() -> None:
    sent = {**fields("hours", "21:00"), "pause_for": ["1"]}
    found = read(sent, overview("none"))
    assert found.choice.quiet_hours == "21:00-07:00"
    assert found.choice.paused_until


texts = st.text(max_size=6) | st.sampled_from(["none", "hours", "default", "22:00", "07:30", "-"])


@given(
    st.dictionaries(st.sampled_from(QUIET_FIELDS), st.lists(texts, min_size=1, max_size=2)),
    st.sampled_from(STORED),
    st.sampled_from([None, STAGE]),
)
def test_any_chosen_quiet_hours_are_valid(
    sent: dict[str, list[str]], stored: str, default: QuietHours | None
) -> None:
    chosen = read(sent, overview(stored, default)).choice.quiet_hours
    if chosen not in {None, "default"}:
        QuietHours.of(str(chosen))


# From the page to the stored choice.


@pytest.mark.parametrize(
    ("sent", "value", "in_force"),
    [
        (fields("hours", "21:00", "06:00"), "21:00-06:00", QuietHours(time(21), time(6))),
        (fields("none"), "none", None),
    ],
)
def test_event_of_the_page_sets_the_chosen_quiet_hours(
    sent: dict[str, list[str]], value: str, in_force: QuietHours | None
) -> None:
    """The first world has the page. Only the event arrives in the second world."""
    world, other = (World(quiet_hours=STAGE) for _ in range(2))
    for each in (world, other):
        each.choose(at=NOW - timedelta(days=1))
    assert world.submit(a_link(), sent).notice is Notice.SAVED
    (command,) = world.bus.taken
    assert isinstance(command, ChoosePreferences)
    detail_type, detail = encode(command)
    assert (detail_type, detail["quiet_hours"]) == ("preferences.chosen", value)
    reading = read_detail(detail_type, json.loads(json.dumps(detail)))
    assert isinstance(reading.command, ChoosePreferences)
    other.clock.now += timedelta(minutes=1)
    other.say(reading.command)
    for each in (world, other):
        shown = each.read_overview()
        assert shown
        assert (shown.subscriber.quiet_hours, shown.quiet_hours) == (value, in_force)


def test_recommended_option_restores_the_quiet_hours_of_the_stage() -> None:
    world = World(quiet_hours=STAGE)
    world.choose(at=NOW - timedelta(days=1))
    assert world.submit(a_link(), fields("none")).notice is Notice.SAVED
    world.clock.now += timedelta(minutes=1)
    answer = world.submit(a_link(), fields("default"))
    assert answer.notice is Notice.SAVED
    assert answer.overview.quiet_hours == STAGE
    assert answer.overview.subscriber.quiet_hours == "default"
