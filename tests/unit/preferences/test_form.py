"""The form of the preference page: only what differs is chosen, and what is wrong is named."""

from dataclasses import replace
from datetime import date, timedelta

import pytest
from gazette.domain.scheduling.calendar import Days, DigestTimes
from gazette.domain.subscribers.choices import NO_CHOICES, NOTHING, Choice
from gazette.domain.subscribers.following import FollowState
from gazette.domain.subscribers.frequency import (
    DEFAULT,
    EVERYTHING,
    MOST_CATEGORIES,
    Frequency,
    frequencies,
)
from gazette.domain.subscribers.overview import Overview
from gazette.domain.subscribers.preference_form import (
    Act,
    Fields,
    Problem,
    Submission,
    asked,
    follow_field,
)
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import NOW, a_follow, a_subscriber

CATEGORIES = ("comment", "like")
ZONES = ("Europe/Berlin", "Asia/Tokyo")
TODAY = NOW.date()
POST = "post#post1"
FIELD = follow_field(POST)


def overview(times: DigestTimes | None = None, /, **chosen: Frequency) -> Overview:
    """Ann in Berlin, who follows a post weekly."""
    choices = ((NOW, frequencies(chosen)),)
    times = times or DigestTimes(minute=30)
    reader = replace(a_subscriber(), times=times, choices=choices)
    own = NO_CHOICES.with_choice(NOW, Choice(frequency=Frequency.DAILY))
    return Overview(
        subscriber=reader.with_choices(reader.service_choices, own),
        now=NOW,
        defaults=(),
        follows=(a_follow(frequency=Frequency.WEEKLY),),
    )


SEEN: Fields = {
    "frequency": ["daily"],
    "weekly_on": ["1"],
    "days": ["1", "2", "3", "4", "5"],
    "weeks": ["1"],
    "hour": ["8"],
    "time_zone": ["Europe/Berlin"],
    "category-comment": [""],
    "category-like": ["weekly"],
    FIELD: ["weekly"],
    "paused_until": [""],
    "act": ["save"],
}
"""What a browser sends of the page as it is shown."""


def read(sent: Fields, shown: Overview | None = None) -> Submission:
    shown = shown or overview(like=Frequency.WEEKLY)
    return asked(sent, shown, categories=CATEGORIES, zones=ZONES)


def chosen(**sent: str | list[str]) -> Submission:
    """The page, and what was changed on it."""
    given = {name.replace("__", "-"): [v] if isinstance(v, str) else v for name, v in sent.items()}
    return read({**SEEN, **given})


@pytest.mark.parametrize("sent", [SEEN, {}, {"colour": ["red"]}, {"act": ["nonsense"]}])
def test_unchanged_form_submits_no_choice(sent: Fields) -> None:
    assert read(sent) == Submission(Act.SAVE)


@pytest.mark.parametrize(
    ("sent", "choice"),
    [
        ({"frequency": "weekly"}, Choice(frequency=Frequency.WEEKLY)),
        ({"hour": "0"}, Choice(clock=(0, None))),
        ({"time_zone": "Asia/Tokyo"}, Choice(time_zone="Asia/Tokyo")),
        ({"weekly_on": "7"}, Choice(weekly_on=7)),
        ({"days": ["1", "3"]}, Choice(custom_on=Days(frozenset({1, 3})))),
        ({"days": [*"12345"], "weeks": "2"}, Choice(custom_on=Days(frozenset(range(1, 6)), 2, 1))),
        ({"category__like": ""}, Choice(frequencies=(("like", DEFAULT),))),
        (
            {"category__comment": "never"},
            Choice(frequencies=frequencies({"comment": Frequency.NEVER})),
        ),
    ],
)
def test_form_submits_only_changed_fields(sent: dict[str, str], choice: Choice) -> None:
    assert chosen(**sent) == Submission(Act.SAVE, choice)


def test_multi_week_interval_starts_with_current_week() -> None:
    days = chosen(weeks="3").choice.custom_on
    assert days
    assert (TODAY.toordinal() - 1) // 7 % 3 == days.phase


def test_day_of_month_is_kept_until_weekday_is_selected() -> None:
    monthly = overview(DigestTimes(custom_on=Days(month_day=31)), like=Frequency.CUSTOM)
    unticked = {name: value for name, value in SEEN.items() if name != "days"}
    sent = {**unticked, "category-like": ["custom"]}
    assert read(sent, monthly) == Submission(Act.SAVE)
    ticked = read({**sent, "days": ["2"]}, monthly)
    assert ticked.choice == Choice(custom_on=Days(frozenset({2})))


def test_overall_frequency_is_kept_if_missing_from_form() -> None:
    own = dict(overview(like=Frequency.WEEKLY).subscriber.chosen)
    assert own == {EVERYTHING: Frequency.DAILY, "like": Frequency.WEEKLY}
    assert read({"category-like": ["daily"]}).choice == Choice(
        frequencies=frequencies({"like": Frequency.DAILY})
    )


@pytest.mark.parametrize(
    ("value", "state"),
    [
        ("", FollowState(True)),
        ("never", FollowState(True, Frequency.NEVER)),
        ("unfollow", FollowState(False)),
    ],
)
def test_follow_can_be_changed_or_ended(value: str, state: FollowState) -> None:
    found = read({**SEEN, FIELD: [value], follow_field("post#other"): ["unfollow"]})
    assert found == Submission(Act.SAVE, NOTHING, ((POST, state),))


def test_follow_keeps_its_title() -> None:
    titled = replace(
        overview(),
        follows=(replace(a_follow(), changes=((NOW, FollowState(True, None, "On digests")),)),),
    )
    found = read({FIELD: ["daily"]}, titled)
    assert found.follows == ((POST, FollowState(True, Frequency.DAILY, "On digests")),)


# Buttons.


@pytest.mark.parametrize("act", [Act.UNSUBSCRIBE, Act.START])
def test_unsubscribe_and_resubscribe_buttons_change_no_choices(act: Act) -> None:
    assert chosen(act=act.value, hour="9") == Submission(act)


def test_pause_button_also_saves_other_changes() -> None:
    until = (TODAY + timedelta(days=7)).isoformat()
    found = chosen(act="pause", paused_until=until, hour="9")
    assert found.choice == Choice(clock=(9, None), paused_until=TODAY + timedelta(days=7))


PAUSED = overview(DigestTimes(paused_until=date(2026, 12, 1)), like=Frequency.WEEKLY)


@pytest.mark.parametrize(
    "sent", [{"act": ["resume"], "paused_until": ["2026-12-01"]}, {"paused_until": [""]}]
)
def test_pause_is_lifted_by_button_or_empty_date(sent: Fields) -> None:
    assert read({**SEEN, **sent}, PAUSED).choice == Choice(paused_until=TODAY)


@pytest.mark.parametrize(("weeks", "days"), [("1", 7), ("2", 14), ("4", 28)])
def test_pause_for_some_weeks_starts_today_and_saves_other_changes(weeks: str, days: int) -> None:
    found = read({**SEEN, "pause_for": [weeks], "paused_until": [""], "hour": ["9"]})
    assert found.act is Act.PAUSE
    assert found.choice == Choice(clock=(9, None), paused_until=TODAY + timedelta(days=days))


def test_pause_for_some_weeks_replaces_the_shown_pause() -> None:
    sent = {**SEEN, "pause_for": ["4"], "paused_until": ["2026-12-01"]}
    assert read(sent, PAUSED).choice == Choice(paused_until=TODAY + timedelta(weeks=4))


def test_unchanged_pause_is_kept() -> None:
    sent = {**SEEN, "paused_until": ["2026-12-01"]}
    for act in ("save", "pause"):
        assert read({**sent, "act": [act]}, PAUSED).choice == NOTHING


def test_resume_without_pause_submits_no_choice() -> None:
    assert chosen(act="resume").choice == NOTHING


# What is wrong.


@pytest.mark.parametrize(
    ("sent", "problems"),
    [
        ({"frequency": "hourly"}, {"frequency": Problem.NOT_OFFERED}),
        ({"frequency": "*"}, {"frequency": Problem.NOT_OFFERED}),
        ({"hour": "24"}, {"hour": Problem.NOT_OFFERED}),
        ({"hour": "٣"}, {"hour": Problem.NOT_OFFERED}),
        ({"weekly_on": "0"}, {"weekly_on": Problem.NOT_OFFERED}),
        ({"weeks": "5"}, {"weeks": Problem.NOT_OFFERED}),
        ({"days": ["1", "8"]}, {"days": Problem.NOT_OFFERED}),
        ({"frequency": "custom", "days": []}, {"days": Problem.NO_DAYS}),
        ({"category__like": "custom", "days": []}, {"days": Problem.NO_DAYS}),
        ({"time_zone": "Mars/Olympus"}, {"time_zone": Problem.NOT_OFFERED}),
        ({"category__like": "hourly"}, {"category-like": Problem.NOT_OFFERED}),
        ({FIELD: "hourly"}, {FIELD: Problem.NOT_OFFERED}),
        ({"act": "pause"}, {"paused_until": Problem.NO_DATE}),
        ({"pause_for": "3"}, {"pause_for": Problem.NOT_OFFERED}),
        ({"paused_until": "tomorrow"}, {"paused_until": Problem.NO_DATE}),
        ({"paused_until": "2026-02-30"}, {"paused_until": Problem.NO_DATE}),
        ({"paused_until": "20261201"}, {"paused_until": Problem.NO_DATE}),
        ({"paused_until": "2026-11-22"}, {"paused_until": Problem.TOO_EARLY}),
        ({"paused_until": "2027-02-15"}, {"paused_until": Problem.TOO_LATE}),
        (
            {"hour": "x", "time_zone": "x"},
            {"time_zone": Problem.NOT_OFFERED, "hour": Problem.NOT_OFFERED},
        ),
    ],
)
def test_invalid_field_is_reported_and_no_choice_submitted(
    sent: dict[str, str], problems: dict[str, Problem]
) -> None:
    found = chosen(**sent)
    assert (found.choice, found.follows, found.problems) == (NOTHING, (), problems)


def test_maximum_pause_is_twelve_weeks_in_newly_chosen_zone() -> None:
    """In Tokyo it is the 22nd too; in both the 14th of February is the last."""
    assert not chosen(paused_until="2027-02-14", time_zone="Asia/Tokyo").problems


def test_too_many_categories_in_form_are_rejected() -> None:
    many = {f"category{number:03}": Frequency.DAILY for number in range(MOST_CATEGORIES)}
    found = read({"category-comment": ["daily"]}, overview(None, **many))
    assert set(found.problems.values()) == {Problem.TOO_MANY}


names = st.sampled_from([*SEEN, "category-other", follow_field("post#none"), ""])
values = st.text(max_size=8) | st.sampled_from(["", "1", "never", "2026-12-01", "pause", "\ud800"])


@given(st.dictionaries(names, st.lists(values, min_size=1, max_size=9)))
def test_any_submitted_form_is_read(sent: dict[str, list[str]]) -> None:
    found = read(sent)
    if found.problems:
        assert (found.choice, found.follows) == (NOTHING, ())
