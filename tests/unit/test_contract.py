"""The contract at the edge: what is decoded, and what is refused in plain words."""

import json
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest
from gazette.adapters.contract import decode
from gazette.domain.commands import ChangeSubscriber, CreateEvent
from gazette.domain.errors import InvalidEvent
from gazette.domain.model import Actor, Entity, Event, LocalHour, Subscriber
from hypothesis import example, given, settings
from hypothesis import strategies as st

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
SUBSCRIBER: dict[str, Any] = {
    "user_id": "ann",
    "email": "ann@example.com",
    "name": "Ann",
    "time_zone": "Europe/Berlin",
    "locale": "de-DE",
    "changed_at": "2026-11-22T12:00:00Z",
    "digest": {"hour": 7, "minute": 30},
}
DETAILS = {"event.created": EVENT, "subscriber.changed": SUBSCRIBER}


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


def refusal(body: str) -> str:
    """What InvalidEvent says about `body`."""
    with pytest.raises(InvalidEvent) as caught:
        decode(body)
    return str(caught.value)


# What is good.


def test_an_event_is_decoded_into_utc() -> None:
    assert decode(envelope("event.created", EVENT)) == CreateEvent(
        Event(
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
            occurred_at=datetime(2026, 11, 22, 12, tzinfo=UTC),
            excerpt="Hello\nAnn",
        )
    )


def test_a_subscriber_is_decoded_with_the_hour_on_their_own_clock() -> None:
    assert decode(envelope("subscriber.changed", SUBSCRIBER)) == ChangeSubscriber(
        subscriber=Subscriber(
            user_id="ann",
            email="ann@example.com",
            name="Ann",
            locale="de-DE",
            time_zone="Europe/Berlin",
            changed_at=datetime(2026, 11, 22, 12, tzinfo=UTC),
        ),
        digest_at=LocalHour(7, 30, "Europe/Berlin"),
    )


def test_what_may_be_left_out_has_a_default() -> None:
    event = decode(envelope("event.created", without("event.created", "excerpt")))
    assert isinstance(event, CreateEvent)
    assert event.event.excerpt == ""
    least = {name: SUBSCRIBER[name] for name in SUBSCRIBER if name not in {"digest", "locale"}}
    profile = decode(envelope("subscriber.changed", least))
    assert isinstance(profile, ChangeSubscriber)
    assert profile.digest_at == LocalHour(8, 0, "Europe/Berlin")
    assert profile.subscriber.locale == "en"


def test_fields_that_aws_adds_to_the_envelope_do_not_matter() -> None:
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
        ("event.created", "excerpt", "e" * 500),
        ("event.created", "occurred_at", "2026-11-22T12:00:00.123456-03:30"),
        ("subscriber.changed", "email", "ann+digest.x@sub.example.co.uk"),
        ("subscriber.changed", "name", "Zoë O'Neill"),
        ("subscriber.changed", "time_zone", "America/Argentina/Ushuaia"),
        ("subscriber.changed", "locale", "zh-Hant-TW"),
        ("subscriber.changed", "digest.hour", 0),
        ("subscriber.changed", "digest.hour", 23),
        ("subscriber.changed", "digest.minute", 59),
    ],
)
def test_the_edge_of_what_is_allowed_is_allowed(detail_type: str, path: str, value: Any) -> None:
    assert decode(envelope(detail_type, changed(detail_type, path, value)))


# What is refused.

LONG = "x" * 2000
BAD = [
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
    ("subscriber.changed", "email", "ann@@example.com"),
    ("subscriber.changed", "email", "Ann <ann@example.com>"),
    ("subscriber.changed", "email", "ann@example.com,eve@example.com"),
    ("subscriber.changed", "email", "ann@example.com\nBcc: eve@example.com"),
    ("subscriber.changed", "email", "ann@example.com\n"),
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
]


@pytest.mark.parametrize(("detail_type", "path", "value"), BAD)
def test_what_does_not_fit_is_refused_and_its_field_named(
    detail_type: str, path: str, value: Any
) -> None:
    text = refusal(envelope(detail_type, changed(detail_type, path, value)))
    assert text.startswith(f"{detail_type} does not fit its schema: detail.{path}: ")
    assert "example.com" not in text.removesuffix("such as ann@example.com.")


@pytest.mark.parametrize(
    ("detail_type", "path"),
    [
        *(("event.created", name) for name in EVENT if name != "excerpt"),
        *(("event.created", f"entity.{name}") for name in EVENT["entity"]),
        *(("event.created", f"actor.{name}") for name in EVENT["actor"]),
        *(("subscriber.changed", name) for name in SUBSCRIBER if name not in {"locale", "digest"}),
    ],
)
def test_a_missing_field_is_named(detail_type: str, path: str) -> None:
    text = refusal(envelope(detail_type, without(detail_type, path)))
    assert f"detail.{path}: Field required" in text


@pytest.mark.parametrize("name", ["version", "id", "source", "account", "time", "region", "detail"])
def test_an_incomplete_envelope_is_refused_and_the_missing_part_named(name: str) -> None:
    body = json.loads(envelope("event.created", EVENT))
    del body[name]
    assert f"{name}: " in refusal(json.dumps(body))


@pytest.mark.parametrize(
    "body",
    ["[" * 200_000, '{"a":' * 50_000, '{"detail-type":"event.created","detail":{"a":' * 9000],
)
def test_what_is_nested_too_deeply_is_refused(body: str) -> None:
    assert refusal(body)


def test_a_detail_that_is_nested_too_deeply_is_refused() -> None:
    deep = '{"a":' * 5000 + "1" + "}" * 5000
    assert refusal(envelope("event.created", EVENT).replace('"name": "Bob"', f'"name": {deep}'))


@pytest.mark.parametrize(
    ("detail_type", "path", "value"),
    [
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
def test_what_would_break_something_later_is_refused(
    detail_type: str, path: str, value: Any
) -> None:
    assert f"detail.{path}: " in refusal(envelope(detail_type, changed(detail_type, path, value)))


@pytest.mark.parametrize("detail", [None, 1, "text", [EVENT], True])
def test_a_detail_that_is_not_an_object_is_refused(detail: Any) -> None:
    assert "detail" in refusal(envelope("event.created", detail))


@pytest.mark.parametrize(
    "detail_type", ["", "event", "Event.Created", "event.created ", "event.deleted"]
)
def test_an_unknown_detail_type_is_refused_and_the_known_ones_listed(detail_type: str) -> None:
    text = refusal(envelope(detail_type, EVENT))
    assert text.startswith(f"detail-type: {detail_type!r} is not one of ")
    assert "event.created" in text
    assert "subscriber.changed" in text


@pytest.mark.parametrize("body", ["", "ann@example.com", "{", "{'a': 1}", "\x00", "[1,]"])
def test_what_is_not_json_is_refused_and_not_repeated(body: str) -> None:
    text = refusal(body)
    assert text.startswith("The message is not JSON: ")
    assert "ann@example.com" not in text


@pytest.mark.parametrize("body", ["[]", "null", "1", '"event.created"', "NaN", "{}", "[[]]"])
def test_json_that_is_no_envelope_is_refused(body: str) -> None:
    assert refusal(body).startswith("detail-type: ")


@pytest.mark.parametrize("detail_type", [1, None, ["event.created"], {"a": 1}])
def test_a_detail_type_that_is_no_text_is_refused(detail_type: Any) -> None:
    assert refusal(envelope("x", EVENT, **{"detail-type": detail_type})).startswith("detail-type")


def test_of_many_problems_the_first_three_are_named_and_the_rest_counted() -> None:
    text = refusal(envelope("event.created", {}))
    assert text.count("Field required") == 3
    assert text.endswith("; and 3 more.")


@pytest.mark.parametrize("path", ["email", "name", "user_id", "locale", "changed_at"])
def test_the_text_never_repeats_what_was_given(path: str) -> None:
    secret = "eve private@"
    text = refusal(envelope("subscriber.changed", changed("subscriber.changed", path, [secret])))
    assert secret not in text
    text = refusal(
        envelope("subscriber.changed", changed("subscriber.changed", path, f"\r\n{secret}"))
    )
    assert secret not in text


@pytest.mark.parametrize("path", ["id", "entity.title", "actor.name", "entity.url"])
def test_half_a_character_is_refused(path: str) -> None:
    """JSON can escape one half of a surrogate pair; UTF-8 cannot write it."""
    detail = changed("event.created", path, "https://x.example/\ud83c")
    assert f"detail.{path}: " in refusal(envelope("event.created", detail))


# Whatever comes.

texts = st.text(max_size=12)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
paths = st.sampled_from(
    [
        ("event.created", name)
        for name in ("id", "user_id", "entity", "entity.url", "actor.name", "excerpt", "new")
    ]
    + [
        ("subscriber.changed", name)
        for name in ("email", "time_zone", "digest", "digest.hour", "locale", "name")
    ]
)


def decodes_or_refuses(body: str) -> None:
    """Raises whatever `decode` raises that is not InvalidEvent."""
    with suppress(InvalidEvent):
        assert isinstance(decode(body), CreateEvent | ChangeSubscriber)


@given(st.text())
@settings(max_examples=100, deadline=None)
@example("1" * 5000)
def test_any_text_is_decoded_or_refused(body: str) -> None:
    decodes_or_refuses(body)


@given(json_values)
@settings(max_examples=100, deadline=None)
def test_any_json_is_decoded_or_refused(value: Any) -> None:
    decodes_or_refuses(json.dumps(value))


@given(st.sampled_from(sorted(DETAILS)), json_values)
@settings(max_examples=100, deadline=None)
def test_any_detail_is_decoded_or_refused(detail_type: str, detail: Any) -> None:
    decodes_or_refuses(envelope(detail_type, detail))


@given(paths, json_values)
@settings(max_examples=300, deadline=None)
def test_any_value_of_a_field_is_decoded_or_refused(path: tuple[str, str], value: Any) -> None:
    decodes_or_refuses(envelope(path[0], changed(*path, value)))
