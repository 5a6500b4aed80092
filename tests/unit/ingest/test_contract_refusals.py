"""What the contract refuses: in plain words, and only by InvalidEvent."""

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from gazette.adapters.contract import decode, read_detail
from gazette.domain.commands import Command
from gazette.domain.content.items import source_of
from gazette.domain.errors import InvalidEvent
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gazette_support.adapters.published_contract import examples
from tests.unit.ingest.test_contract import (
    ACTIVITY,
    DETAILS,
    EVENT,
    FOLLOW,
    OPTIONAL,
    SUBSCRIBER,
    changed,
    envelope,
    without,
)


def refusal(body: str) -> str:
    """What InvalidEvent says about `body`."""
    with pytest.raises(InvalidEvent) as caught:
        decode(body)
    return str(caught.value)


LONG = "x" * 2000
BAD = [
    ("preferences.chosen", "frequency", "hourly"),
    ("preferences.chosen", "frequency", None),
    ("preferences.chosen", "frequencies", None),
    ("preferences.chosen", "time_zone", "Mars/Olympus"),
    ("preferences.chosen", "digest", {}),
    ("preferences.chosen", "digest", {"minute": 30}),
    ("preferences.chosen", "digest", {"paused_until": "2027-02-15"}),
    ("preferences.chosen", "chosen_at", "yesterday"),
    ("follow.created", "entity.title", ""),
    ("follow.created", "entity.title", "one\ntwo"),
    ("follow.deleted", "entity.title", "Course 1"),
    ("event.created", "id", ""),
    ("event.created", "id", "k" * 129),
    ("event.created", "id", "a\nb"),
    ("event.created", "id", None),
    ("event.created", "user_id", "ann lee"),
    ("event.created", "user_id", ""),
    ("event.created", "user_id", "u" * 65),
    ("event.created", "user_id", "ann\n"),
    ("event.created", "user_id", "änn"),
    ("event.created", "user_id", 7),
    ("event.created", "category", "Message"),
    ("event.created", "category", "new message"),
    ("event.created", "category", "c" * 33),
    ("event.created", "entity", "conversation 1"),
    ("event.created", "entity.type", "1st"),
    ("event.created", "entity.id", ""),
    ("event.created", "entity.title", ""),
    ("event.created", "entity.title", "T" * 201),
    ("event.created", "entity.title", "one\r\ntwo"),
    ("event.created", "entity.title", "one\u2028two"),
    ("event.created", "entity.title", "one\u0085two"),
    ("event.created", "entity.url", "javascript:alert(1)"),
    ("event.created", "entity.url", "data:text/html,x"),
    ("event.created", "entity.url", "//campus.example/"),
    ("event.created", "entity.url", " https://campus.example/"),
    ("event.created", "entity.url", 'https://campus.example/" onclick="x'),
    ("event.created", "entity.url", "https://campus.example/\njavascript:x"),
    ("event.created", "entity.url", "https://campus.example/<b>"),
    ("event.created", "entity.url", "https://campus.example/" + LONG),
    ("event.created", "entity.url", "https://campus.example@evil.example/"),
    ("event.created", "entity.url", "https://campus.example:login@evil.example"),
    ("event.created", "entity.url", "https://campus.example\\@evil.example/"),
    ("event.created", "entity.url", "https://campus.example/\\evil.example"),
    ("event.created", "entity.url", "https://campus.example%40evil@evil.example"),
    ("event.created", "entity.colour", "red"),
    ("event.created", "actor.name", "Bob\r\nBcc: eve@example.com"),
    ("event.created", "actor.name", "Bob\x00"),
    ("event.created", "actor.id", ""),
    ("event.created", "occurred_at", "2026-11-22T12:00:00"),
    ("event.created", "occurred_at", "yesterday"),
    ("event.created", "occurred_at", "2026-02-30T12:00:00Z"),
    ("event.created", "excerpt", "e" * 501),
    ("event.created", "excerpt", "bell\x07"),
    ("event.created", "excerpt", None),
    ("event.created", "excerp", "a misspelt optional field"),
    ("subscriber.changed", "email", "ann"),
    ("subscriber.changed", "email", "ann@example"),
    ("subscriber.changed", "email", "ann@example.com-"),
    ("subscriber.changed", "email", "ann@example." + "a" * 64),
    ("subscriber.changed", "email", "ann@" + "a" * 64 + ".com"),
    ("subscriber.changed", "email", "ann@-example.com"),
    ("subscriber.changed", "email", "ann@example.com."),
    ("subscriber.changed", "email", "ann.@example.com"),
    ("subscriber.changed", "email", "ann@" + ".".join(["a" * 63] * 3) + "." + "b" * 59),
    ("subscriber.changed", "email", "ann@@example.com"),
    ("subscriber.changed", "email", "Ann <ann@example.com>"),
    ("subscriber.changed", "email", "ann@example.com,eve@example.com"),
    ("subscriber.changed", "email", "ann@example.com\nBcc: eve@example.com"),
    ("subscriber.changed", "email", "ann@example.com\n"),
    ("subscriber.changed", "email", "=?x?q?victim?=@example.com"),
    ("subscriber.changed", "email", "ann.=?x?q?victim?=@example.com"),
    ("subscriber.changed", "email", "a" * 65 + "@example.com"),
    ("subscriber.changed", "email", None),
    ("subscriber.changed", "name", "Ann\r\nBcc: eve@example.com"),
    ("subscriber.changed", "name", ""),
    ("subscriber.changed", "name", "n" * 201),
    ("subscriber.changed", "time_zone", "Mars/Olympus_Mons"),
    ("subscriber.changed", "time_zone", ""),
    ("subscriber.changed", "time_zone", "../../etc/passwd"),
    ("subscriber.changed", "time_zone", "Europe"),
    ("subscriber.changed", "time_zone", "/etc/localtime"),
    ("subscriber.changed", "time_zone", LONG),
    ("subscriber.changed", "locale", "english"),
    ("subscriber.changed", "locale", "en_GB"),
    ("subscriber.changed", "changed_at", "2026-11-22 12:00"),
    ("subscriber.changed", "digest.hour", 24),
    ("subscriber.changed", "digest.hour", -1),
    ("subscriber.changed", "digest.hour", 7.5),
    ("subscriber.changed", "digest.minute", 60),
    ("subscriber.changed", "digest.day", 1),
    ("subscriber.changed", "digest", None),
    ("subscriber.changed", "status", "active"),
    ("subscriber.changed", "digest.weekly.day", "Monday"),
    ("subscriber.changed", "digest.weekly", "monday"),
    ("subscriber.changed", "digest.custom.days", []),
    ("subscriber.changed", "digest.minute", None),
    ("subscriber.changed", "digest.custom.every_weeks", 0),
    ("subscriber.changed", "digest.custom.every_weeks", 5),
    ("subscriber.changed", "digest.custom.every_weeks", "2"),
    ("subscriber.changed", "digest.custom.starting", "2026-11-31"),
    ("subscriber.changed", "digest.custom.starting", "2026-11-23T08:00:00Z"),
    ("subscriber.changed", "digest.custom.starting", None),
    ("subscriber.changed", "digest.custom.day_of_month", 0),
    ("subscriber.changed", "digest.custom.day_of_month", 32),
    ("subscriber.changed", "digest.custom", {"day_of_month": 1, "days": ["monday"]}),
    ("subscriber.changed", "digest.custom", {"day_of_month": 1, "every_weeks": 1}),
    ("subscriber.changed", "digest.custom", {"day_of_month": 1, "starting": "2026-11-23"}),
    ("subscriber.changed", "digest", {"paused_until": "2027-02-15"}),
    ("subscriber.changed", "digest", {"paused_until": "2199-12-31"}),
    ("subscriber.changed", "digest.paused_until", "2026-11-31"),
    ("subscriber.changed", "digest.paused_until", "2026-12-14T00:00:00Z"),
    ("subscriber.changed", "digest.paused_until", 12),
    ("subscriber.changed", "digest.paused_until", None),
    ("subscriber.changed", "frequencies", []),
    ("event.created", "amended_at", "soon"),
    ("event.created", "amended_at", None),
    ("event.created", "occurred_at", "1732276800"),
    ("event.created", "occurred_at", "2026-11-22 12:00:00Z"),
    ("event.created", "occurred_at", "2026-11-22T12:00Z"),
    ("event.created", "occurred_at", "2026-11-22T12:00:00+0100"),
    ("event.created", "occurred_at", "2026-11-22T24:00:00Z"),
    ("event.created", "occurred_at", "٢٠٢٦-11-22T12:00:00Z"),
    ("event.created", "occurred_at", "2026-11-22T12:00:00Z\n"),
    ("activity.created", "parent", None),
    ("event.retracted", "user_id", None),
    ("event.retracted", "entity", None),
    ("follow.created", "frequency", None),
    ("subscriber.changed", "frequencies", None),
    ("subscriber.changed", "digest.hour", "7"),
    ("subscriber.changed", "digest.hour", 1e308),
    ("subscriber.changed", "locale", "de" + "-abcdefgh" * 4),
    ("subscriber.changed", "digest.custom.days", ["monday"] * 8),
    ("activity.created", "user_id", "ann"),
    ("activity.created", "parent", "c1"),
    ("activity.created", "parent.id", ""),
    ("event.retracted", "id", "a\tb"),
    ("subscriber.active", "active_at", 1),
    ("subscriber.deleted", "deleted_at", "2026-11-22"),
    ("follow.created", "frequency", "hourly"),
    ("follow.created", "entity.type", "Course"),
    ("follow.deleted", "frequency", "daily"),
]


@pytest.mark.parametrize(("detail_type", "path", "value"), BAD)
def test_invalid_message_is_rejected_with_field_name(
    detail_type: str, path: str, value: Any
) -> None:
    text = refusal(envelope(detail_type, changed(detail_type, path, value)))
    assert text.startswith(f"{detail_type} does not match its schema: detail.{path}: ")
    assert "example.com" not in text.removesuffix("such as ann@example.com.")
    assert "Input should" not in text


@pytest.mark.parametrize(
    ("path", "value"),
    [("like", "hourly"), ("like", None), ("Likes", "daily"), ("", "daily")],
)
def test_unknown_frequency_is_rejected(path: str, value: object) -> None:
    detail = changed("subscriber.changed", "frequencies", {path: value})
    assert "detail.frequencies." in refusal(envelope("subscriber.changed", detail))


def test_too_many_categories_are_rejected() -> None:
    many = {f"c{number}": "daily" for number in range(101)}
    detail = changed("subscriber.changed", "frequencies", many)
    assert "detail.frequencies: " in refusal(envelope("subscriber.changed", detail))


@pytest.mark.parametrize(
    ("zone", "last", "too_late"),
    [
        ("Europe/Berlin", "2027-02-14", "2027-02-15"),
        ("Pacific/Kiritimati", "2027-02-15", "2027-02-16"),
        ("Pacific/Niue", "2027-02-14", "2027-02-15"),
    ],
)
def test_pause_is_limited_to_twelve_weeks_in_reader_time_zone(
    zone: str, last: str, too_late: str
) -> None:
    """Counted from `changed_at`, which is noon in UTC on 22 November."""
    profile = changed("subscriber.changed", "time_zone", zone)
    assert decode(envelope("subscriber.changed", {**profile, "digest": {"paused_until": last}}))
    text = refusal(
        envelope("subscriber.changed", {**profile, "digest": {"paused_until": too_late}})
    )
    assert f"detail.digest: paused_until must be {last} or earlier" in text
    assert "Specify an earlier date" in text


@pytest.mark.parametrize("wrong", ["time_zone", "changed_at"])
def test_pause_is_not_checked_if_its_reference_field_is_invalid(wrong: str) -> None:
    detail = {
        **changed("subscriber.changed", wrong, "soon"),
        "digest": {"paused_until": "2199-12-31"},
    }
    text = refusal(envelope("subscriber.changed", detail))
    assert f"detail.{wrong}: " in text
    assert "paused_until" not in text


@pytest.mark.parametrize(
    "detail",
    [{"id": "e1"}, {"id": "e1", "user_id": "ann", "entity": {"type": "post", "id": "p1"}}],
)
def test_retraction_must_name_either_event_or_activity(detail: dict[str, Any]) -> None:
    text = refusal(envelope("event.retracted", detail))
    assert "specify either user_id, for an event of one subscriber, or entity" in text


@pytest.mark.parametrize(
    ("detail_type", "path"),
    [
        *(("event.created", name) for name in EVENT if name not in OPTIONAL),
        *(("event.created", f"entity.{name}") for name in EVENT["entity"]),
        *(("event.created", f"actor.{name}") for name in EVENT["actor"]),
        *(
            ("subscriber.changed", name)
            for name in SUBSCRIBER
            if name not in {"locale", "digest", "frequencies"}
        ),
        *(("activity.created", name) for name in ACTIVITY if name not in {*OPTIONAL, "parent"}),
        ("event.retracted", "id"),
        *(("subscriber.active", name) for name in DETAILS["subscriber.active"]),
        *(("entity.seen", name) for name in DETAILS["entity.seen"]),
        *(("subscriber.deleted", name) for name in DETAILS["subscriber.deleted"]),
        *(("follow.created", name) for name in FOLLOW if name != "frequency"),
        *(("follow.deleted", name) for name in DETAILS["follow.deleted"]),
    ],
)
def test_missing_field_is_reported_by_name(detail_type: str, path: str) -> None:
    text = refusal(envelope(detail_type, without(detail_type, path)))
    assert f"detail.{path}: Field required" in text


@pytest.mark.parametrize("name", ["version", "id", "source", "account", "time", "region", "detail"])
def test_incomplete_envelope_error_names_missing_field(name: str) -> None:
    body = json.loads(envelope("event.created", EVENT))
    del body[name]
    assert f"{name}: " in refusal(json.dumps(body))


@pytest.mark.parametrize(
    "body",
    ["[" * 200_000, '{"a":' * 50_000, '{"detail-type":"event.created","detail":{"a":' * 9000],
)
def test_deeply_nested_input_is_rejected(body: str) -> None:
    assert refusal(body)


def test_deeply_nested_detail_is_rejected() -> None:
    deep = '{"a":' * 5000 + "1" + "}" * 5000
    assert refusal(envelope("event.created", EVENT).replace('"name": "Bob"', f'"name": {deep}'))


@pytest.mark.parametrize(
    ("detail_type", "path", "value"),
    [
        ("event.created", "occurred_at", "0000-01-01T00:00:00Z"),
        ("event.created", "occurred_at", "2026-11-22T12:00:60Z"),
        ("event.created", "occurred_at", "2026-11-22T23:59:60Z"),
        ("event.created", "occurred_at", "2026-11-22T12:00:00.Z"),
        ("event.created", "occurred_at", "2026-11-22t12:00:00"),
        ("event.created", "occurred_at", "0001-01-01T00:00:00+01:00"),
        ("event.created", "occurred_at", "0001-01-01T00:00:00Z"),
        ("event.created", "occurred_at", "9999-12-31T23:59:59-01:00"),
        ("event.created", "occurred_at", 5),
        ("event.created", "entity.url", "https://a\x00b"),
        ("event.created", "entity.url", "https://a/\u202eb"),
        ("event.created", "entity.url", "https:///path"),
        ("event.created", "excerpt", "a\rUnsubscribe: https://evil.example"),
        ("subscriber.changed", "changed_at", "0001-01-01T00:00:00+01:00"),
        ("subscriber.changed", "digest.hour", True),
        ("subscriber.changed", "email", "eve@example..com"),
        ("subscriber.changed", "email", "eve@-.com"),
        ("subscriber.changed", "email", ".@a.co"),
        ("subscriber.changed", "email", "änn@example.com"),
        ("subscriber.changed", "email", "eve\x00@example.com"),
        ("subscriber.changed", "time_zone", "localtime"),
        ("subscriber.changed", "time_zone", "Factory"),
        ("subscriber.changed", "time_zone", "right/UTC"),
    ],
)
def test_values_that_break_later_steps_are_rejected(
    detail_type: str, path: str, value: Any
) -> None:
    assert f"detail.{path}: " in refusal(envelope(detail_type, changed(detail_type, path, value)))


@pytest.mark.parametrize("detail", [None, 1, "text", [EVENT], True])
def test_non_object_detail_is_rejected(detail: Any) -> None:
    assert "detail" in refusal(envelope("event.created", detail))


@pytest.mark.parametrize(
    "detail_type", ["", "event", "Event.Created", "event.created ", "event.deleted"]
)
def test_unknown_detail_type_error_lists_known_types(detail_type: str) -> None:
    text = refusal(envelope(detail_type, EVENT))
    assert text.startswith(f"detail-type: {detail_type!r} is not one of ")
    assert "event.created" in text
    assert "subscriber.changed" in text


@pytest.mark.parametrize(
    "body", ["", "ann@example.com", "{", "{'a': 1}", "\x00", "[1,]", "NaN", "1" * 5000, "\ufeff{}"]
)
def test_invalid_json_is_rejected_without_being_quoted(body: str) -> None:
    text = refusal(body)
    assert text.startswith("The message is not JSON: ")
    assert "ann@example.com" not in text


@pytest.mark.parametrize("body", ["[]", "null", "1", '"event.created"', "{}", "[[]]"])
def test_json_without_envelope_is_rejected(body: str) -> None:
    assert refusal(body).startswith("detail-type: ")


@pytest.mark.parametrize("detail_type", [1, None, ["event.created"], {"a": 1}])
def test_non_string_detail_type_is_rejected(detail_type: Any) -> None:
    assert refusal(envelope("x", EVENT, **{"detail-type": detail_type})).startswith("detail-type")


def test_error_reports_first_three_problems_and_counts_the_rest() -> None:
    text = refusal(envelope("event.created", {}))
    assert text.count("Field required") == 3
    assert text.endswith("; and 2 more.")


@pytest.mark.parametrize("path", ["email", "name", "user_id", "locale", "changed_at"])
def test_error_message_never_quotes_input(path: str) -> None:
    secret = "eve private@"
    text = refusal(envelope("subscriber.changed", changed("subscriber.changed", path, [secret])))
    assert secret not in text
    text = refusal(
        envelope("subscriber.changed", changed("subscriber.changed", path, f"\r\n{secret}"))
    )
    assert secret not in text


@pytest.mark.parametrize("path", ["time_zone", "locale"])
@pytest.mark.parametrize(
    "name",
    ["../../etc/passwd", "/etc/passwd", "..", "Europe/../Berlin", "en/../de", "C:\\en", "\x00"],
)
def test_attack_time_zone_and_locale_cannot_be_file_paths(path: str, name: str) -> None:
    assert path in refusal(
        envelope("subscriber.changed", changed("subscriber.changed", path, name))
    )


@pytest.mark.parametrize(
    ("detail_type", "path"), [("event.created", "category"), ("subscriber.changed", "locale")]
)
@pytest.mark.parametrize("begin", ["=", "+", "-", "@", "\t", "\r", '"='])
def test_attack_exported_report_contains_no_spreadsheet_formulas(
    detail_type: str, path: str, begin: str
) -> None:
    """Reports have no text of services but these two; exports of suppressions have none."""
    assert path in refusal(envelope(detail_type, changed(detail_type, path, f"{begin}a1")))


@pytest.mark.parametrize(
    ("detail_type", "path"),
    [
        ("subscriber.changed", "email"),
        ("subscriber.changed", "name"),
        ("event.created", "entity.title"),
        ("event.created", "entity.url"),
        ("event.created", "actor.name"),
        ("event.created", "user_id"),
        ("event.created", "id"),
    ],
)
@pytest.mark.parametrize("end", ["\r\n", "\n", "\r", "\u2028", "\x85"])
def test_attack_fields_cannot_inject_email_headers(detail_type: str, path: str, end: str) -> None:
    given = f"https://example.com/{end}Bcc: eve@example.com"
    assert path in refusal(envelope(detail_type, changed(detail_type, path, given)))


def texts_in(value: Any, path: str = "") -> Iterator[str]:
    """The paths to all texts in a detail, those in lists left out."""
    if isinstance(value, str):
        yield path.removeprefix(".")
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from texts_in(inner, f"{path}.{name}")


@pytest.mark.parametrize(
    ("detail_type", "path"),
    [(detail_type, path) for detail_type in DETAILS for path in texts_in(DETAILS[detail_type])],
)
@pytest.mark.parametrize("character", ["\x00", "\ud83c", "\ufffe", "\uffff", "\x9b"])
def test_unstorable_characters_in_text_are_rejected(
    detail_type: str, path: str, character: str
) -> None:
    """JSON can escape one half of a surrogate pair; UTF-8 cannot write it, and SQS not the rest."""
    detail = changed(detail_type, path, f"https://x.example/{character}")
    assert f"detail.{path}: " in refusal(envelope(detail_type, detail))


@pytest.mark.parametrize(
    ("written", "instead", "says"),
    [
        ('"name": "Bob"', '"name": "Bob", "name": "Eve"', "'name' twice"),
        ('"name": "Bob"', '"name": NaN', "JSON has no NaN"),
        ('"name": "Bob"', '"name": [-Infinity]', "JSON has no -Infinity"),
        ('"name": "Bob"', '"name": ' + "9" * 5000, "a number of 5000 digits"),
        ('"name": "Bob"', r'"\ud83c": "Bob"', r"the name '\ud83c'"),
        ('"account": "', '"detail": {}, "account": "', "'detail' twice"),
    ],
)
def test_ambiguous_json_is_rejected(written: str, instead: str, says: str) -> None:
    body = envelope("event.created", EVENT)
    assert written in body
    assert says in refusal(body.replace(written, instead))


def test_unusual_field_name_is_reported_in_ascii() -> None:
    text = refusal(envelope("event.created", {**EVENT, "\x1b[2Jö" + "x" * 500: 1}))
    assert text.isascii()
    assert text.isprintable()
    assert len(text) < 200


@pytest.mark.parametrize(
    "detail",
    [
        {"events": []},
        {"events": [{}]},
        {"events": {}},
        {"events": None},
        {"events": [EVENT], "id": "more"},
        {"events": "text"},
    ],
)
def test_list_without_valid_events_is_rejected(detail: dict[str, Any]) -> None:
    assert "detail." in refusal(envelope("event.created", detail))


def test_attack_object_with_too_many_fields_is_rejected_before_validation() -> None:
    unknown = {f"field{number}": 1 for number in range(201)}
    for detail in (unknown, {**EVENT, "entity": unknown}, {"events": [unknown]}):
        said = refusal(envelope("event.created", detail))
        assert said == "The message is too large: one object has 201 names."


# Whatever comes.

texts = st.text(max_size=12)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
paths = st.sampled_from(
    [(detail_type, path) for detail_type in DETAILS for path in texts_in(DETAILS[detail_type])]
    + [(detail_type, "new") for detail_type in DETAILS]
    + [("event.created", "entity"), ("activity.created", "parent")]
    + [("subscriber.changed", name) for name in ("digest", "digest.hour", "digest.custom.days")]
    + [("subscriber.changed", name) for name in ("frequencies", "frequencies.like")]
)


def decodes_or_refuses(body: str) -> None:
    """Raises whatever `decode` raises that is not InvalidEvent."""
    with suppress(InvalidEvent):
        assert isinstance(decode(body), Command)


@given(st.text())
@settings(max_examples=100, deadline=None)
@example("1" * 5000)
def test_any_text_is_decoded_or_rejected(body: str) -> None:
    decodes_or_refuses(body)


@given(json_values)
@settings(max_examples=100, deadline=None)
def test_any_json_is_decoded_or_rejected(value: Any) -> None:
    decodes_or_refuses(json.dumps(value))


@given(st.sampled_from(sorted(DETAILS)), json_values)
@settings(max_examples=100, deadline=None)
def test_any_detail_is_decoded_or_rejected(detail_type: str, detail: Any) -> None:
    decodes_or_refuses(envelope(detail_type, detail))


@given(paths, json_values)
@settings(max_examples=150, deadline=None)
def test_any_field_value_is_decoded_or_rejected(path: tuple[str, str], value: Any) -> None:
    decodes_or_refuses(envelope(path[0], changed(*path, value)))


@given(st.lists(st.just(EVENT) | json_values, max_size=4))
@settings(max_examples=100, deadline=None)
def test_any_list_of_events_is_decoded_or_rejected(events: list[Any]) -> None:
    decodes_or_refuses(envelope("event.created", {"events": events}))


def test_wildcard_category_in_choice_is_rejected() -> None:
    """What stands for everything inside is the field `frequency` outside."""
    said = refusal(
        envelope("preferences.chosen", changed("preferences.chosen", "frequencies", {"*": "daily"}))
    )
    assert "detail.frequencies" in said


@pytest.mark.parametrize("event_id", ["recommendations:4711", "recommendations#a"])
def test_service_cannot_publish_content_source_events(event_id: str) -> None:
    """It would be amended, or taken back, at the next fetch; a retraction of one is welcome."""
    assert source_of(event_id)
    reading = read_detail("event.created", examples()["event.created"][1] | {"id": event_id})
    assert reading.problems[0].startswith("detail.id: must not begin with recommendations:")
    retracted = {"user_id": "ann", "id": event_id}
    assert read_detail("event.retracted", retracted).problems == ()
