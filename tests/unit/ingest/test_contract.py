"""The contract at the edge: what is decoded, and into which command."""

import json
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any, get_args

import pytest
from gazette.adapters.contract import decode, read_detail
from gazette.adapters.contract.fields import FrequencyOrDefault
from gazette.domain.commands import (
    ChangeFollow,
    ChangeSubscriber,
    ChoosePreferences,
    Command,
    CreateActivity,
    CreateEvents,
    EraseSubscriber,
    MarkActive,
    MarkSeen,
    RetractActivity,
    RetractEvent,
)
from gazette.domain.model import Actor, Entity, Event
from gazette.domain.scheduling.calendar import Days, DigestTimes
from gazette.domain.subscribers.choices import Choice
from gazette.domain.subscribers.following import Activity, FollowState
from gazette.domain.subscribers.frequency import DEFAULT, Frequency
from gazette.domain.subscribers.subscriber import Subscriber

EVENT: dict[str, Any] = {
    "id": "message1",
    "user_id": "ann",
    "category": "message",
    "entity": {
        "type": "conversation",
        "id": "1-2",
        "title": "Your conversation with Bob",
        "url": "https://campus.example/conversations/1-2",
    },
    "actor": {"id": "bob", "name": "Bob"},
    "occurred_at": "2026-11-22T13:00:00+01:00",
    "excerpt": "Hello\nAnn",
}
OPTIONAL = {"actor", "excerpt"}
"""Of these fields."""

SUBSCRIBER: dict[str, Any] = {
    "user_id": "ann",
    "email": "ann@example.com",
    "name": "Ann",
    "time_zone": "Europe/Berlin",
    "locale": "de-DE",
    "changed_at": "2026-11-22T12:00:00Z",
    "digest": {
        "hour": 7,
        "minute": 30,
        "weekly": {"day": "sunday"},
        "custom": {"days": ["monday", "friday"]},
        "paused_until": "2026-12-14",
    },
    "frequencies": {"mention": "immediate", "like": "never"},
}
ACTIVITY: dict[str, Any] = {
    **{name: EVENT[name] for name in EVENT if name != "user_id"},
    "parent": {"type": "course", "id": "c1"},
}
FOLLOW: dict[str, Any] = {
    "user_id": "ann",
    "entity": {"type": "course", "id": "c1"},
    "frequency": "weekly",
    "changed_at": "2026-11-22T12:00:00Z",
}
CHOSEN: dict[str, Any] = {
    "user_id": "ann",
    "chosen_at": "2026-11-22T12:00:00Z",
    "frequency": "weekly",
    "frequencies": {"mention": "immediate"},
    "time_zone": "Asia/Tokyo",
    "digest": {"hour": 7, "minute": 30, "weekly": {"day": "sunday"}, "paused_until": "2026-12-14"},
}
DETAILS: dict[str, dict[str, Any]] = {
    "event.created": EVENT,
    "activity.created": ACTIVITY,
    "event.retracted": {"id": "message1", "user_id": "ann"},
    "subscriber.changed": SUBSCRIBER,
    "preferences.chosen": CHOSEN,
    "subscriber.active": {"user_id": "ann", "active_at": "2026-11-22T12:00:00Z"},
    "entity.seen": {
        "user_id": "ann",
        "entity": {"type": "post", "id": "p1"},
        "seen_at": "2026-11-22T12:00:00Z",
    },
    "subscriber.deleted": {"user_id": "ann", "deleted_at": "2026-11-22T12:00:00Z"},
    "follow.created": FOLLOW,
    "follow.deleted": {name: FOLLOW[name] for name in FOLLOW if name != "frequency"},
}
NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


def envelope(detail_type: str, detail: Any, **given: Any) -> str:
    """A message as EventBridge puts it on a queue."""
    return json.dumps(
        {
            "version": "0",
            "id": "6a7e8feb-b491-4cf7-a9f1-bf3703467718",
            "detail-type": detail_type,
            "source": "campus.messages",
            "account": "111122223333",
            "time": "2026-11-22T12:00:00Z",
            "region": "eu-central-1",
            "resources": [],
            "detail": detail,
        }
        | given
    )


def changed(detail_type: str, path: str, value: Any) -> dict[str, Any]:
    """A good detail but for the field at `path`."""
    detail: dict[str, Any] = json.loads(json.dumps(DETAILS[detail_type]))
    *outer, name = path.split(".")
    inner = detail
    for step in outer:
        inner = inner[step]
    inner[name] = value
    return detail


def without(detail_type: str, path: str) -> dict[str, Any]:
    """A good detail without the field at `path`."""
    detail = changed(detail_type, path, None)
    *outer, name = path.split(".")
    inner = detail
    for step in outer:
        inner = inner[step]
    del inner[name]
    return detail


# What is good.


DECODED = Event(
    user_id="ann",
    id="message1",
    category="message",
    entity=Entity(
        "conversation",
        "1-2",
        "Your conversation with Bob",
        "https://campus.example/conversations/1-2",
    ),
    actor=Actor("bob", "Bob"),
    occurred_at=NOON,
    excerpt="Hello\nAnn",
)


def test_event_timestamps_are_decoded_as_utc() -> None:
    assert decode(envelope("event.created", EVENT)) == CreateEvents((DECODED,))


def test_amended_event_has_amendment_time() -> None:
    detail = {**EVENT, "amended_at": "2026-11-22T12:00:00Z"}
    assert decode(envelope("event.created", detail)) == CreateEvents(
        (replace(DECODED, amended_at=NOON),)
    )


def test_subscriber_is_decoded_with_hours_days_and_frequencies() -> None:
    assert decode(envelope("subscriber.changed", SUBSCRIBER)) == ChangeSubscriber(
        Subscriber(
            user_id="ann",
            email="ann@example.com",
            name="Ann",
            locale="de-DE",
            time_zone="Europe/Berlin",
            changed_at=NOON,
            times=DigestTimes(
                hour=7,
                minute=30,
                weekly_on=7,
                custom_on=Days(frozenset({1, 5})),
                paused_until=date(2026, 12, 14),
            ),
            choices=((NOON, (("like", Frequency.NEVER), ("mention", Frequency.IMMEDIATE))),),
        )
    )


@pytest.mark.parametrize(
    ("detail_type", "detail", "command"),
    [
        (
            "activity.created",
            ACTIVITY,
            CreateActivity(
                Activity(
                    id="message1",
                    category="message",
                    entity=DECODED.entity,
                    parent="course#c1",
                    actor=DECODED.actor,
                    occurred_at=NOON,
                    excerpt="Hello\nAnn",
                )
            ),
        ),
        ("event.retracted", {"id": "e1", "user_id": "ann"}, RetractEvent("ann", "e1")),
        (
            "event.retracted",
            {"id": "e1", "entity": {"type": "post", "id": "p1"}},
            RetractActivity("post#p1", "e1"),
        ),
        ("subscriber.active", DETAILS["subscriber.active"], MarkActive("ann", NOON)),
        ("entity.seen", DETAILS["entity.seen"], MarkSeen("ann", "post#p1", NOON)),
        ("subscriber.deleted", DETAILS["subscriber.deleted"], EraseSubscriber("ann", NOON)),
        (
            "follow.created",
            FOLLOW,
            ChangeFollow("ann", "course#c1", FollowState(True, Frequency.WEEKLY), NOON),
        ),
        (
            "follow.created",
            DETAILS["follow.deleted"],
            ChangeFollow("ann", "course#c1", FollowState(True), NOON),
        ),
        (
            "follow.deleted",
            DETAILS["follow.deleted"],
            ChangeFollow("ann", "course#c1", FollowState(False), NOON),
        ),
    ],
)
def test_every_remaining_detail_type_is_decoded(
    detail_type: str, detail: dict[str, Any], command: Command
) -> None:
    assert decode(envelope(detail_type, detail)) == command


@pytest.mark.parametrize(
    ("custom", "days"),
    [
        ({"days": ["monday"], "every_weeks": 2}, Days(frozenset({1}), 2, 0)),
        (
            {"days": ["monday"], "every_weeks": 2, "starting": "2026-11-29"},
            Days(frozenset({1}), 2, 0),
        ),
        (
            {"days": ["monday"], "every_weeks": 2, "starting": "2026-11-30"},
            Days(frozenset({1}), 2, 1),
        ),
        ({"day_of_month": 31}, Days(month_day=31)),
    ],
)
def test_custom_days_can_be_every_few_weeks_or_monthly(custom: dict[str, Any], days: Days) -> None:
    detail = changed("subscriber.changed", "digest.custom", custom)
    profile = decode(envelope("subscriber.changed", detail))
    assert isinstance(profile, ChangeSubscriber)
    assert profile.subscriber.times.custom_on == days


def test_optional_fields_have_defaults() -> None:
    event = decode(envelope("event.created", without("event.created", "excerpt")))
    assert event == CreateEvents((replace(DECODED, excerpt=""),))
    optional = {"digest", "locale", "frequencies"}
    least = {name: SUBSCRIBER[name] for name in SUBSCRIBER if name not in optional}
    profile = decode(envelope("subscriber.changed", least))
    assert isinstance(profile, ChangeSubscriber)
    assert profile.subscriber.times == DigestTimes(8, None, 1, Days(frozenset({1, 2, 3, 4, 5})))
    assert profile.subscriber.choices == ((NOON, ()),)
    assert profile.subscriber.locale == "en"
    activity = decode(envelope("activity.created", without("activity.created", "parent")))
    assert isinstance(activity, CreateActivity)
    assert activity.activity.parent is None


# Lists.


def test_list_of_events_is_decoded_into_single_command() -> None:
    second = {**EVENT, "id": "message2", "user_id": "bo"}
    assert decode(envelope("event.created", {"events": [EVENT, second]})) == CreateEvents(
        (DECODED, replace(DECODED, id="message2", user_id="bo"))
    )


@pytest.mark.parametrize("wrong", [{**EVENT, "user_id": ""}, 7, None, [], "text"])
def test_invalid_event_in_list_is_reported_and_valid_events_accepted(wrong: object) -> None:
    second = {**EVENT, "id": "message2"}
    command = decode(envelope("event.created", {"events": [EVENT, wrong, second]}))
    assert isinstance(command, CreateEvents)
    assert command.events == (DECODED, replace(DECODED, id="message2"))
    assert command.problems.startswith("event.created does not match its schema: detail.events.1")
    assert command.problems.endswith(". The other 2 events of the list were accepted.")


def test_all_problems_are_reported_on_request() -> None:
    reading = read_detail("event.created", {})
    assert reading.command is None
    assert set(reading.problems) == {
        f"detail.{name}: Field required" for name in EVENT.keys() - OPTIONAL
    }


def test_all_problems_in_list_are_reported_with_position() -> None:
    wrong = [{**EVENT, "id": ""}, EVENT, {**EVENT, "entity": {}}, 7]
    reading = read_detail("event.created", {"events": wrong})
    assert reading.command == CreateEvents((DECODED,))
    assert [problem.partition(": ")[0] for problem in reading.problems] == [
        "detail.events.0.id",
        *(f"detail.events.2.entity.{name}" for name in ("type", "id", "title", "url")),
        "detail.events.3",
    ]


def test_long_list_reports_first_problems_and_counts_the_rest() -> None:
    reading = read_detail("event.created", {"events": [EVENT, *[{}] * 1000]})
    assert reading.command == CreateEvents((DECODED,))
    assert len(reading.problems) + reading.more == 1000 * len(EVENT.keys() - OPTIONAL)
    assert len(reading.problems) < 110
    command = decode(envelope("event.created", {"events": [EVENT, *[{}] * 1000]}))
    assert isinstance(command, CreateEvents)
    assert "; and 4,997 more." in command.problems


def test_additional_envelope_fields_of_aws_are_ignored() -> None:
    assert decode(envelope("event.created", EVENT, **{"replay-name": "again"}))


@pytest.mark.parametrize(
    ("detail_type", "path", "value"),
    [
        ("event.created", "id", "k" * 128),
        ("event.created", "user_id", "u" * 64),
        ("event.created", "user_id", "auth0|ann+1@example.com"),
        ("event.created", "entity.title", "T" * 200),
        ("event.created", "entity.title", "<b>Ärger</b> & 🎉"),
        ("event.created", "entity.url", "http://localhost:8000/?a=1&b='2'#c"),
        ("event.created", "entity.url", "https://campus.example/@ann?by=@bo#@"),
        ("event.created", "entity.url", "https://campus.example?to=ann@mail.example"),
        ("event.created", "entity.url", "https://[2001:db8::1]:8443/[x]{y}|z^`~"),
        ("event.created", "excerpt", "e" * 500),
        ("event.created", "occurred_at", "2026-11-22T12:00:00.123456-03:30"),
        ("event.created", "occurred_at", "2199-12-31T23:59:59.123456789Z"),
        ("event.created", "occurred_at", "2026-11-22t12:00:00z"),
        ("event.created", "occurred_at", "2026-11-22T12:00:00z"),
        ("event.created", "occurred_at", "2026-11-22t12:00:00+01:00"),
        ("event.created", "occurred_at", "2026-11-22T12:00:00-00:00"),
        ("event.created", "occurred_at", "2026-11-22T12:00:00.123456789012Z"),
        ("event.created", "occurred_at", "2016-12-31T23:59:60Z"),
        ("subscriber.changed", "changed_at", "2026-11-22t12:00:00z"),
        ("follow.created", "changed_at", "2026-11-22t12:00:00z"),
        ("event.created", "excerpt", "one\r\ntwo\tthree"),
        ("event.created", "excerpt", ""),
        ("subscriber.changed", "email", "ann+digest.x@sub.example.co.uk"),
        ("subscriber.changed", "name", "Zoë O'Neill"),
        ("subscriber.changed", "time_zone", "America/Argentina/Ushuaia"),
        ("subscriber.changed", "locale", "zh-Hant-TW"),
        ("subscriber.changed", "digest.hour", 0),
        ("subscriber.changed", "digest.hour", 23),
        ("subscriber.changed", "digest.minute", 59),
        ("subscriber.changed", "digest.hour", 7.0),
        ("subscriber.changed", "digest.custom.days", ["sunday"] * 7),
        ("subscriber.changed", "digest.custom", {"day_of_month": 31}),
        ("subscriber.changed", "digest.custom", {"every_weeks": 4, "starting": "1990-01-01"}),
        ("subscriber.changed", "digest", {"hour": 8}),
        ("subscriber.changed", "digest.paused_until", "2027-02-14"),
        ("subscriber.changed", "digest.paused_until", "1990-01-01"),
        ("subscriber.changed", "frequencies", {}),
        ("subscriber.changed", "frequencies", {f"c{number}": "custom" for number in range(100)}),
        ("follow.created", "frequency", "never"),
        ("follow.created", "entity.id", "p#1"),
    ],
)
def test_boundary_values_are_accepted(detail_type: str, path: str, value: Any) -> None:
    assert decode(envelope(detail_type, changed(detail_type, path, value)))


# What a reader chose.


def test_reader_choices_are_decoded() -> None:
    assert decode(envelope("preferences.chosen", CHOSEN)) == ChoosePreferences(
        "ann",
        Choice(
            frequency=Frequency.WEEKLY,
            frequencies=(("mention", Frequency.IMMEDIATE),),
            clock=(7, 30),
            weekly_on=7,
            paused_until=date(2026, 12, 14),
            time_zone="Asia/Tokyo",
        ),
        NOON,
    )


@pytest.mark.parametrize(
    ("given", "choice"),
    [
        ({"frequency": "never"}, Choice(frequency=Frequency.NEVER)),
        ({"frequencies": {}}, Choice(frequencies=())),
        ({"time_zone": "UTC"}, Choice(time_zone="UTC")),
        ({"digest": {"hour": 0}}, Choice(clock=(0, None))),
        ({"digest": {"weekly": {}}}, Choice(weekly_on=1)),
        ({"digest": {"custom": {"day_of_month": 1}}}, Choice(custom_on=Days(month_day=1))),
        ({"digest": {"paused_until": "2026-11-01"}}, Choice(paused_until=date(2026, 11, 1))),
    ],
)
def test_choice_changes_only_given_fields(given: dict[str, Any], choice: Choice) -> None:
    detail = {"user_id": "ann", "chosen_at": "2026-11-22T12:00:00Z", **given}
    assert decode(envelope("preferences.chosen", detail)) == ChoosePreferences("ann", choice, NOON)


def test_pause_limit_without_time_zone_uses_furthest_ahead_zone() -> None:
    """At noon in UTC it is the next day at UTC+14: twelve weeks from there."""
    detail = {**CHOSEN, "digest": {"paused_until": "2027-02-15"}}
    del detail["time_zone"]
    assert isinstance(decode(envelope("preferences.chosen", detail)), ChoosePreferences)


def test_followed_entity_can_have_a_title() -> None:
    titled = {**FOLLOW, "entity": {**FOLLOW["entity"], "title": "Course 1"}}
    command = decode(envelope("follow.created", titled))
    assert isinstance(command, ChangeFollow)
    assert command.state == FollowState(True, Frequency.WEEKLY, "Course 1")


def test_every_frequency_can_be_chosen_and_reset() -> None:
    assert get_args(FrequencyOrDefault) == (*Frequency, DEFAULT)
