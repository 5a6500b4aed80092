"""The preference page as its function serves it, on moto."""

import base64
import io
import re
from collections import Counter
from datetime import date, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from botocore.client import BaseClient
from botocore.exceptions import ReadTimeoutError
from gazette.adapters.dynamodb.feedback.suppressions import DynamoSuppressions
from gazette.adapters.dynamodb.follows import DynamoFollows
from gazette.adapters.dynamodb.schedules import DynamoSchedules
from gazette.adapters.dynamodb.subscribers import DynamoSubscribers
from gazette.bootstrap.parts.clock import now
from gazette.domain.identity import address_hash
from gazette.domain.model import DAILY, RunKey
from gazette.domain.scheduling.calendar import zone_of
from gazette.domain.subscribers.following import Follow, FollowState
from gazette.domain.subscribers.preference_form import follow_field
from gazette.domain.subscribers.subscriber import Subscriber, SubscriberStatus
from gazette.domain.subscribers.suppression import Cause
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.builders import NOW, SUPPRESSION_KEY
from tests.functions.conftest import Cloud, Context, an_hour_later, fan_out
from tests.functions.messages import ago, event, follow, happening, http, profile
from tests.meter import calls

URLENCODED = "application/x-www-form-urlencoded"
STATE = ("subscribers", "schedules", "follows", "suppressions", "events", "runs")


@pytest.fixture
def ann(cloud: Cloud) -> Cloud:
    """Ann follows a post, has something waiting, and opens her page."""
    cloud.begin(follow_and_wait)
    cloud.preferences_path()
    cloud.warm_up("ingest", "preferences")
    return cloud


def follow_and_wait(cloud: Cloud) -> None:
    cloud.say("subscriber.changed", profile())
    cloud.say("follow.created", follow(entity="post#p1"))
    cloud.say("event.created", event(1))


def stored() -> Subscriber:
    found = DynamoSubscribers("subscribers").get("ann")
    assert isinstance(found, Subscriber)
    return found


def tables(cloud: Cloud) -> dict[str, list[dict[str, Any]]]:
    return {name: sorted(cloud.rows(name), key=str) for name in STATE}


def press(cloud: Cloud, act: str = "save", **sent: str) -> dict[str, Any]:
    """Send the form; the answer."""
    body = urlencode({"act": act, **sent})
    return cloud.invoke("preferences", http("POST", cloud.preferences_path(), body, URLENCODED))


def told(answer: dict[str, Any]) -> str:
    """The status message, on one line."""
    found = re.search(r'role="status">(.*?)</div>', answer["body"], re.DOTALL)
    assert found
    return " ".join(re.sub(r"<.*?>", " ", found[1]).split())


def test_settings_page_is_shown_without_changing_data(ann: Cloud) -> None:
    before = tables(ann)
    answer = ann.invoke("preferences", http("GET", ann.preferences_path()))
    assert answer["statusCode"] == 200
    assert answer["headers"]["Content-Type"] == "text/html; charset=utf-8"
    assert "Your next digest: " in told(answer)
    assert tables(ann) == before
    assert not ann.meter.write_units


def test_settings_page_is_not_cached_and_loads_no_resources(ann: Cloud) -> None:
    headers = ann.invoke("preferences", http("GET", ann.preferences_path()))["headers"]
    assert headers["Cache-Control"] == "no-store"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["X-Robots-Tag"] == "noindex"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert re.fullmatch(
        r"default-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'; "
        r"style-src 'sha256-[\w+/]{43}='",
        headers["Content-Security-Policy"],
    )
    assert "Set-Cookie" not in headers


def test_settings_page_without_waiting_events_shows_the_possible_digest_time(ann: Cloud) -> None:
    """Nothing waits, so the schedule is not in the due index; that is no digest less."""
    ann.say("subscriber.changed", profile("bo"))
    fan_out(ann, "bo")
    assert [row["state"] for row in ann.rows("schedules") if row["user_id"] == "bo"] == ["idle"]
    answer = ann.invoke("preferences", http("GET", ann.preferences_path("bo")))
    assert re.search(r"Your next digest: .* 08:\d0, Berlin time, if there is any", told(answer))
    assert "no digest scheduled" not in answer["body"]


def test_saved_choice_applies_immediately_and_shows_the_next_email(ann: Cloud) -> None:
    answer = press(ann, frequency="weekly", weekly_on="5", hour="7")
    assert answer["statusCode"] == 200
    assert re.search(
        r"Saved\. You get one digest every Friday\. Your next digest: Friday, .* 07:\d0, Berlin",
        told(answer),
    )
    weekly = next(row for row in ann.rows("schedules") if row["name"] == "weekly")
    assert datetime.fromisoformat(weekly["next_due_at"]).isoweekday() == 5
    (waiting,) = ann.rows("events")
    assert waiting["stored"].startswith("weekly#")


def test_saved_choice_survives_a_repeated_profile(ann: Cloud) -> None:
    press(ann, hour="7")
    ann.say("subscriber.changed", profile(changed_at=ago(), name="Anna"))
    assert (stored().times.hour, stored().name) == (7, "Anna")


def test_trace_w_immediate_email_is_stopped_before_the_page_says_saved(
    ann: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its run is there, and its message comes before ingest has heard of the choice.

    The run is queued before the event moves and after it, so two messages name it.
    """
    press(ann, frequency="immediate")
    message, again = ann.queued("immediate")
    assert again["MessageBody"] == message["MessageBody"]
    assert "Saved." in told(press(ann, frequency="never"))
    assert len(ann.rows("events")) == 1, "its thread is read when its run is prepared"
    an_hour_later(monkeypatch)
    ann.work("generate", message["MessageBody"])
    assert not ann.sent()
    assert not ann.rows("events")


def test_page_does_not_confirm_the_save_if_time_runs_out(
    ann: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Context, "get_remaining_time_in_millis", staticmethod(lambda: 7_000))
        answer = press(ann, frequency="never")
    assert answer["statusCode"] == 503
    assert "We're not sure your changes were saved." in told(answer)
    assert ann.rows("events")
    ann.work_off_bus()
    assert not ann.rows("events")


def test_settings_page_writes_events_once_and_retries_reads(
    ann: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The function also shows emails, with other time-outs for the same table."""
    ann.say("activity.created", happening(7))
    attempts: dict[str, set[int]] = {"reads": set(), "writes": set()}
    real: Any = BaseClient._make_api_call  # type: ignore[attr-defined]

    def noted(client: BaseClient, operation: str, request: dict[str, Any]) -> Any:
        if "'events'" in str(request):
            kind = "reads" if operation in {"GetItem", "BatchGetItem", "Query"} else "writes"
            config: Any = client.meta.config
            attempts[kind].add(config.retries["total_max_attempts"])
        return real(client, operation, request)

    with monkeypatch.context() as patch:
        patch.setattr(BaseClient, "_make_api_call", noted)
        press(ann, **{follow_field("post#p1"): "unfollow"})
    assert attempts == {"reads": {3}, "writes": {1}}


def test_pause_is_shown_and_can_be_lifted(ann: Cloud) -> None:
    until = (now() + timedelta(days=20)).date()
    paused = press(ann, "pause", paused_until=until.isoformat())
    assert f"Your emails are paused until {until.day} {until:%B %Y}." in told(paused)
    assert "paused" not in told(press(ann, "resume"))
    assert ann.work_off_bus() == 2


def test_pause_for_two_weeks_is_one_button(ann: Cloud) -> None:
    form = urlencode({"pause_for": "2", "paused_until": ""})
    answer = ann.invoke("preferences", http("POST", ann.preferences_path(), form, URLENCODED))
    assert "Your emails are paused until " in told(answer)
    assert stored().times.paused_until == stored_today() + timedelta(weeks=2)


def stored_today() -> date:
    """Return the current date of the reader."""
    return now().astimezone(zone_of(stored().time_zone)).date()


def test_unfollow_on_the_page_withdraws_waiting_events(ann: Cloud) -> None:
    ann.say("activity.created", happening(7))
    assert len(ann.rows("events")) == 2
    answer = press(ann, **{follow_field("post#p1"): "unfollow"})
    assert "What you follow" not in answer["body"]
    assert [row["event_id"] for row in ann.rows("events")] == ["e1"], "that was for ann herself"
    (row,) = ann.rows("follows")
    assert row["changes"].endswith("false,null]]")


def test_reader_can_unsubscribe_and_resubscribe(ann: Cloud) -> None:
    answer = press(ann, "unsubscribe")
    assert answer["statusCode"] == 200
    assert "You're unsubscribed" in told(answer)
    assert stored().status is SubscriberStatus.UNSUBSCRIBED
    assert not [row for row in ann.rows("schedules") if "due" in row]
    answer = press(ann, "start")
    assert told(answer).startswith("You're subscribed again. You get one digest a day. Your next")
    assert not ann.rows("suppressions")
    assert [row["name"] for row in ann.rows("schedules") if "due" in row] == ["daily"]


def test_reader_cannot_lift_a_bounce(ann: Cloud) -> None:
    suppressions = DynamoSuppressions("suppressions", key=SUPPRESSION_KEY, clock=now)
    suppressions.add(address_hash("ann@example.com"), Cause.BOUNCED)
    ann.set_status("ann", SubscriberStatus.SUPPRESSED)
    answer = press(ann, "start")
    assert "You can't restart emails from this page" in told(answer)
    assert stored().status is SubscriberStatus.SUPPRESSED


def test_invalid_field_is_reported_at_the_field_without_changes(ann: Cloud) -> None:
    before = tables(ann)
    answer = press(ann, hour="25", frequency="weekly")
    assert answer["statusCode"] == 400
    assert '<a href="#hour">' in answer["body"]
    assert tables(ann) == before
    assert ann.work_off_bus() == 0


def test_form_is_decoded_as_delivered_by_the_api(ann: Cloud) -> None:
    request = http("POST", ann.preferences_path(), "", URLENCODED)
    request |= {"body": base64.b64encode(b"act=save&hour=21").decode(), "isBase64Encoded": True}
    assert ann.invoke("preferences", request)["statusCode"] == 200
    assert stored().times.hour == 21


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("x" * 40_000, URLENCODED),
        ("{}", "application/json"),
        ("--b\r\n" + ";" * 30_000, "multipart/form-data; boundary=b"),
    ],
    ids=["long", "json", "in parts"],
)
def test_invalid_form_is_reported_without_changes(ann: Cloud, body: str, kind: str) -> None:
    before = tables(ann)
    answer = ann.invoke("preferences", http("POST", ann.preferences_path(), body, kind))
    assert answer["statusCode"] == 400
    assert "nothing was saved" in told(answer)
    assert tables(ann) == before


@pytest.mark.parametrize(
    ("says", "words"),
    [
        ({"Entries": [{"ErrorCode": "InternalFailure"}]}, "nothing was saved. Please try again"),
        (ReadTimeoutError(endpoint_url="events"), "We're not sure"),
    ],
    ids=["refused", "no answer"],
)
def test_rejected_bus_entries_change_no_data(
    ann: Cloud, monkeypatch: pytest.MonkeyPatch, says: Any, words: str
) -> None:
    real: Any = BaseClient._make_api_call  # type: ignore[attr-defined]

    def refused(client: BaseClient, operation: str, request: dict[str, Any]) -> Any:
        if operation != "PutEvents":
            return real(client, operation, request)
        if isinstance(says, Exception):
            raise says
        return says

    before = tables(ann)
    with monkeypatch.context() as patch:
        patch.setattr(BaseClient, "_make_api_call", refused)
        answer = press(ann, hour="7")
    assert answer["statusCode"] == 503
    assert words in told(answer)
    assert tables(ann) == before


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_attack_link_does_not_reveal_the_state_of_its_reader(ann: Cloud, method: str) -> None:
    unknown = ann.link("preferences", RunKey("nobody", DAILY, 1), ann.reader())
    ann.say("subscriber.changed", profile("bo"))
    erased = ann.preferences_path("bo")
    ann.say("subscriber.deleted", {"user_id": "bo", "deleted_at": ago()})
    moved = ann.preferences_path()
    ann.say("subscriber.changed", profile(changed_at=ago(), email="new@example.com"))
    altered = f"{ann.preferences_path()[:-2]}xx"
    unsubscribe = ann.preferences_path().replace("preferences", "unsubscribe")
    for paths, status in (
        ((unknown, erased, moved), 410),
        ((altered, "/preferences/x", unsubscribe), 404),
    ):
        answers = [ann.invoke("preferences", http(method, path)) for path in paths]
        assert {answer["statusCode"] for answer in answers} == {status}
        assert len({answer["body"] for answer in answers}) == 1
        assert len({str(answer["headers"]) for answer in answers}) == 1


@pytest.mark.usefixtures("later")
def test_expired_link_offers_to_email_a_new_link(ann: Cloud) -> None:
    """Asked first: only the button sends anything."""
    ended = ann.preferences_path()
    ann.say("subscriber.changed", profile(changed_at=ago(), email="new@example.com"))
    ann.meter.clear()
    offer = ann.invoke("preferences", http("GET", ended))
    assert offer["statusCode"] == 410
    assert "This link has expired" in offer["body"]
    assert "new@" not in offer["body"]
    assert not ann.meter.write_units
    for _ in range(2):
        answer = ann.invoke("preferences", http("POST", ended))
        assert (answer["statusCode"], "on its way" in answer["body"]) == (410, True)
    for entry in ann.queued("immediate"):
        ann.work("generate", entry["MessageBody"])
    (email,) = ann.sent()
    assert email["Destination"]["ToAddresses"] == ["new@example.com"]
    simple = email["Content"]["Simple"]
    assert simple["Subject"]["Data"] == "Your new link to your email settings"
    for part in ("Html", "Text"):
        (link,) = set(re.findall(r"(/preferences/[\w.-]+)", simple["Body"][part]["Data"]))
        assert ann.invoke("preferences", http("GET", link))["statusCode"] == 200


def test_address_and_choices_are_not_logged(ann: Cloud, logs: io.StringIO) -> None:
    press(ann, hour="7")
    assert "saved" in logs.getvalue()
    for secret in ("ann@example.com", "Europe/Berlin", ann.preferences_path()):
        assert secret not in logs.getvalue()


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    body=st.text(max_size=60)
    | st.builds(
        lambda name, value: urlencode({name: value}),
        st.sampled_from(["hour", "days", "weeks", "time_zone", "paused_until", "act", "frequency"]),
        st.text(st.characters(codec="utf-8"), max_size=12),
    ),
    kind=st.sampled_from([URLENCODED, "multipart/form-data; boundary=b", "", "\x00"]),
    is_base64=st.booleans(),
)
def test_any_request_body_gets_a_response(
    ann: Cloud, body: str, kind: str, is_base64: bool
) -> None:
    request = http("POST", ann.preferences_path(), body, kind)
    request["isBase64Encoded"] = is_base64
    assert ann.invoke("preferences", request)["statusCode"] in {200, 400}


# What it costs.


def test_viewing_the_settings_page_costs_four_reads(ann: Cloud) -> None:
    """The reader, what they follow and those follows, and the schedules."""
    path = ann.preferences_path()
    ann.meter.clear()
    ann.invoke("preferences", http("GET", path))
    assert {
        name: number for name, number in ann.meter.calls.items() if name.startswith("dynamodb.")
    } == calls(GetItem=1, Query=2, BatchGetItem=1)


def test_changing_the_hour_costs_a_profile_change_and_a_message(
    ann: Cloud,
) -> None:
    """A later hour than the 8 of before: after an earlier one that has passed, today's stays."""
    press(ann, hour="9")
    assert ann.meter.calls["events.PutEvents"] == 1
    assert ann.meter.write_units["subscribers"] == 1 + 1, "the row, and the sign of life"
    assert ann.meter.write_units["schedules"] == 3
    ann.meter.write_units.clear()
    assert ann.work_off_bus() == 1
    assert not ann.meter.write_units, "nothing is done twice"


def test_events_moved_by_a_choice_are_written_once(
    ann: Cloud,
) -> None:
    """In one transaction: each event four write units, each schedule one with its revision, and no
    run started."""
    for number in range(2, 11):
        ann.say("event.created", event(number))
    ann.meter.clear()
    press(ann, frequency="weekly")
    assert ann.meter.calls["dynamodb.TransactWriteItems"] == 1
    assert ann.meter.write_units["events"] == 10 * 4
    assert ann.meter.write_units["schedules"] == 1 + 2 + 4, "a new one, armed, and revisions"
    before = Counter(ann.meter.calls)
    ann.meter.write_units.clear()
    assert ann.work_off_bus() == 1
    assert ann.meter.calls - before == calls(GetItem=3, Query=1)
    assert not ann.meter.write_units


def test_unfollow_on_the_page_costs_two_units_for_its_message(
    ann: Cloud,
) -> None:
    ann.say("activity.created", happening(7))
    ann.meter.clear()
    press(ann, **{follow_field("post#p1"): "unfollow"})
    assert ann.meter.calls["dynamodb.TransactWriteItems"] == 1
    assert ann.meter.write_units["events"] == 3
    before = Counter(ann.meter.calls)
    ann.meter.write_units.clear()
    assert ann.work_off_bus() == 1
    assert ann.meter.calls - before == calls(
        GetItem=2, PutItem=1, UpdateItem=1, Query=8, BatchGetItem=2 + 1
    )
    assert ann.meter.write_units == Counter(follows=1, subscribers=1)


def test_unsubscribing_costs_no_writes_for_an_idle_schedule(ann: Cloud) -> None:
    """It is in no index, and stays as it is."""
    schedules = DynamoSchedules("schedules", shards=1)
    daily = schedules.get("ann", DAILY)
    assert daily
    assert schedules.put(daily.idle(), replacing=daily)
    ann.meter.clear()
    press(ann, "unsubscribe")
    assert ann.meter.write_units["schedules"] == 0


def test_unsubscribing_and_resubscribing_have_the_documented_cost(ann: Cloud) -> None:
    """Leaving: the status; the suppression, added and once more refused; out of `due`. And once
    a process, as in ingest, that there are so many shards.

    Back: the suppression is deleted; then two writes are refused, because nobody else asked for it;
    status and sign of life; the schedule twice, the first time with its entry in `due`.
    """
    press(ann, "unsubscribe")
    assert ann.meter.write_units == {
        "subscribers": 1,
        "suppressions": 1 + 1,
        "schedules": 2,
        "control": 1,
    }
    ann.meter.clear()
    press(ann, "start")
    assert ann.meter.write_units == {
        "subscribers": 1 + 1,
        "suppressions": 1 + 2,
        "schedules": 2 + 1,
    }


def test_follows_on_the_next_page_are_shown_and_saved(ann: Cloud) -> None:
    follows = DynamoFollows("follows", retention=timedelta(days=30), clock=lambda: NOW)
    for number in range(150):
        state = FollowState(True, None, f"Post {number}")
        follow = Follow(f"post#q{number:03}", "ann", ((NOW, state),))
        assert follows.put(follow, replacing=None)
    first = ann.invoke("preferences", http("GET", ann.preferences_path()))["body"]
    assert "Here are 100 of the items." in first
    assert "Post 98<" in first
    assert "Post 99<" not in first
    link = re.search(r'href="\?(follows=[^"#]*)#follows"', first)
    assert link
    query = {"rawQueryString": link[1]}
    second = ann.invoke("preferences", http("GET", ann.preferences_path()) | query)["body"]
    assert "Here are 51 of the items." in second
    assert "Post 99<" in second
    body = urlencode({"act": "save", follow_field("post#q149"): "unfollow"})
    request = http("POST", ann.preferences_path(), body, URLENCODED) | query
    assert "Saved" in told(ann.invoke("preferences", request))
    found = [follows.get(entity, "ann") for entity in follows.followed_by("ann")]
    left = {each.entity for each in found if each and each.latest.following}
    assert "post#q149" not in left
    assert len(left) == 150
