"""The routes that read, on fakes."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, timedelta
from types import MappingProxyType
from typing import Any

import pytest
from gazette.adapters.web.links import LinkReader
from gazette.domain.commands import ChangeFollow, CreateActivity
from gazette.domain.delivery.run import Reason, Status
from gazette.domain.errors import EndedLink, InvalidToken
from gazette.domain.links import Purpose
from gazette.domain.receipts.receipt import State
from gazette.domain.scheduling.calendar import Days
from gazette.domain.subscribers.choices import Choice
from gazette.domain.subscribers.following import FollowState
from gazette.domain.subscribers.frequency import DEFAULT, Frequency
from gazette.steps.api import reader as reader_step

from tests.builders import NOW, a_run, an_activity, an_event
from tests.receipt_stories import EVENT, STORIES, a_world, is_delivered
from tests.services import BASE_URL, DAY, KEYS, Services, content, request
from tests.world import World


def known(said: Mapping[str, Frequency] = MappingProxyType({}), **about: Any) -> World:
    """Ann has been there for a day, with these frequencies in her profile."""
    world = World(**about)
    world.choose(at=NOW - DAY, **said)
    return world


def followed(world: World, entity: str, state: FollowState, user_id: str = "ann") -> None:
    world.say(ChangeFollow(user_id, entity, state, world.clock()))


def subscriber(world: World, **query: object) -> Any:
    answer = Services(world).get("/v1/subscriber", user_id="ann", **query)
    assert answer["statusCode"] == 200, answer["body"]
    assert answer["headers"]["Cache-Control"] == "no-store"
    return content(answer)


def reasons(world: World) -> dict[str, tuple[str, str]]:
    found = subscriber(world)
    return {
        each["category"]: (each["frequency"], each["because"]) for each in found["categories"]
    } | {"*": (found["everything"]["frequency"], found["everything"]["because"])}


# Subscriber.


def test_subscriber_without_choices_gets_everything_daily() -> None:
    assert reasons(known()) == {
        "*": ("daily", "daily"),
        "comment": ("daily", "daily"),
        "like": ("daily", "daily"),
    }


def test_each_frequency_names_its_source() -> None:
    world = known(
        {"mention": Frequency.IMMEDIATE, "article": Frequency.NEVER},
        defaults=(("like", Frequency.WEEKLY),),
        critical=frozenset({"security", "comment"}),
    )
    world.save(Choice(frequencies=(("article", Frequency.DAILY), ("reply", Frequency.NEVER))))
    assert reasons(world) == {
        "*": ("daily", "daily"),
        "article": ("daily", "chosen"),
        "comment": ("immediate", "critical"),
        "like": ("weekly", "default"),
        "mention": ("immediate", "profile"),
        "reply": ("never", "chosen"),
        "security": ("immediate", "critical"),
    }


def test_choice_for_all_categories_overrides_the_default_but_not_the_profile() -> None:
    world = known({"mention": Frequency.IMMEDIATE}, defaults=(("like", Frequency.WEEKLY),))
    world.save(Choice(frequency=Frequency.CUSTOM))
    found = reasons(world)
    assert found["*"] == found["like"] == found["comment"] == ("custom", "chosen_for_all")
    assert found["mention"] == ("immediate", "profile")


def test_withdrawn_choice_restores_the_default() -> None:
    world = known(defaults=(("like", Frequency.WEEKLY),))
    world.save(Choice(frequencies=(("like", Frequency.NEVER),)))
    assert reasons(world)["like"] == ("never", "chosen")
    world.clock.now += timedelta(hours=1)
    world.save(Choice(frequencies=(("like", DEFAULT),)))
    assert reasons(world)["like"] == ("weekly", "default")


def test_later_profile_with_another_value_is_the_source() -> None:
    world = known({"like": Frequency.WEEKLY})
    world.save(Choice(frequencies=(("like", Frequency.NEVER),)))
    world.clock.now += timedelta(hours=1)
    world.choose(at=world.clock(), like=Frequency.IMMEDIATE)
    assert reasons(world)["like"] == ("immediate", "profile")


def test_times_are_those_in_force() -> None:
    world = known()
    every_other = Days(frozenset({2, 5}), 2, 0)
    world.save(Choice(clock=(19, 30), weekly_on=5, custom_on=every_other, time_zone="Asia/Kolkata"))
    found = subscriber(world)
    assert found["time_zone"] == "Asia/Kolkata"
    times = found["digest"]
    assert (times["hour"], times["minute"], times["weekly"]) == (19, 30, "friday")
    custom = times["custom"]
    assert (custom["days"], custom["every_weeks"]) == (["tuesday", "friday"], 2)
    assert (date.fromisoformat(custom["starting"]).toordinal() - 1) // 7 % 2 == 0
    assert custom["day_of_month"] is None


def test_days_of_the_month_have_no_weekdays() -> None:
    world = known()
    world.save(Choice(custom_on=Days(month_day=31)))
    assert subscriber(world)["digest"]["custom"] == {
        "days": [],
        "every_weeks": 1,
        "starting": None,
        "day_of_month": 31,
    }


def test_pause_is_shown_until_it_ends() -> None:
    world = known()
    world.save(Choice(paused_until=date(2026, 12, 1)))
    assert subscriber(world)["paused_until"] == "2026-12-01"
    world.clock.pass_time(days=30)
    assert subscriber(world)["paused_until"] is None


def test_waiting_events_are_counted_until_they_are_sent() -> None:
    world = known()
    world.create(an_event("1"), an_event("2"), replace(an_event("3"), category="like"))
    found = subscriber(world)
    assert [(each["schedule"], each["category"], each["events"]) for each in found["waiting"]] == [
        ("daily", "comment", 2),
        ("daily", "like", 1),
    ]
    assert found["next_digest"] == "2026-11-23T07:00:00Z"
    assert not found["has_more_waiting"]
    world.send_digest()
    assert subscriber(world)["waiting"] == []


def test_more_waiting_events_than_the_limit_are_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_step, "MOST_COUNTED", 2)
    world = known()
    world.create(an_event("1"), an_event("2"))
    assert not subscriber(world)["has_more_waiting"]
    world.create(an_event("3"))
    found = subscriber(world)
    assert (found["waiting"][0]["events"], found["has_more_waiting"]) == (2, True)


def test_lapsed_event_does_not_wait() -> None:
    world = known()
    world.create(replace(an_event("1"), expires_at=NOW + timedelta(hours=1)))
    world.clock.now += timedelta(hours=2)
    assert subscriber(world)["waiting"] == []


def test_follows_are_listed_page_by_page() -> None:
    world = known()
    followed(world, "post#p1", FollowState(True, Frequency.WEEKLY, "Digests"))
    followed(world, "post#p2", FollowState(True))
    followed(world, "post#p3", FollowState(False))
    assert subscriber(world)["follows"] == [
        {"entity": {"type": "post", "id": "p1"}, "title": "Digests", "frequency": "weekly"},
        {"entity": {"type": "post", "id": "p2"}, "title": None, "frequency": None},
    ]
    for number in range(120):
        followed(world, f"topic#{number:03d}", FollowState(True))
    first = subscriber(world)
    second = subscriber(world, follows_cursor=first["next_follows"])
    listed = [each["entity"]["id"] for page in (first, second) for each in page["follows"]]
    assert (len(first["follows"]), len(listed), len(set(listed))) == (100, 122, 122)
    assert second["next_follows"] is None


@pytest.mark.parametrize("is_erased", [False, True])
def test_unknown_and_erased_subscribers_are_not_found(is_erased: bool) -> None:
    world = known()
    if is_erased:
        world.erase()
    user_id = "ann" if is_erased else "bo"
    services = Services(world)
    for answer in (
        services.get("/v1/subscriber", user_id=user_id),
        services.choose(user_id, frequency="weekly"),
    ):
        assert answer["statusCode"] == 404
        assert content(answer)["type"] == "docs/api.md#unknown-subscriber"
    assert not world.bus.taken


def test_left_and_dormant_subscribers_have_their_status() -> None:
    world = known(sunset=timedelta(days=45))
    world.clock.pass_time(days=47)
    assert subscriber(world)["status"] == "dormant"
    world.unsubscribe()
    assert subscriber(world)["status"] == "unsubscribed"


# Emails.


def test_emails_are_listed_with_their_outcomes() -> None:
    world = STORIES[State.EMAILED]()
    (email,) = emails(world)["emails"]
    assert (email["email"], email["schedule"], email["status"]) == ("ann-daily-1", "daily", "sent")
    assert (email["reason"], email["certainty"], email["events"]) == ("accepted", "accepted", 1)
    assert email["categories"] == ["comment"]
    assert set(email["outcomes"]) == {"sent", "delivered"}


def test_emails_from_before_an_erasure_are_not_listed() -> None:
    """The user id may have belonged to another person."""
    world = STORIES[State.EMAILED]()
    world.clock.pass_time(days=2)
    world.erase()
    assert emails(world)["emails"] == []
    world.clock.pass_time(minutes=1)
    world.choose(at=world.clock())
    assert emails(world)["emails"] == []


def emails(world: World, **query: object) -> Any:
    answer = Services(world).get("/v1/subscriber/emails", user_id="ann", **query)
    assert answer["statusCode"] == 200, answer["body"]
    return content(answer)


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 100])
@pytest.mark.parametrize("schedule", [None, "daily", "weekly"])
def test_pages_of_emails_are_complete(limit: int, schedule: str | None) -> None:
    world = known()
    for number in range(1, 8):
        world.runs.create(a_run(number))
        run = a_run(number)
        world.runs.create(replace(run, key=replace(run.key, schedule="weekly")))
        world.runs.create(replace(run, key=replace(run.key, user_id="bo")))
    chosen = {"schedule": schedule} if schedule else {}
    listed: list[str] = []
    page = emails(world, limit=limit, **chosen)
    listed += [each["email"] for each in page["emails"]]
    while page["next"]:
        page = emails(world, limit=limit, cursor=page["next"], **chosen)
        listed += [each["email"] for each in page["emails"]]
    schedules = [schedule] if schedule else ["weekly", "daily"]
    assert listed == [f"ann-{name}-{number}" for name in schedules for number in range(7, 0, -1)]


def test_run_that_was_never_started_is_not_an_email() -> None:
    world = known()
    idle = replace(a_run(1), status=Status.SKIPPED, reason=Reason.NOTHING_WAITED)
    world.runs.create(idle)
    world.runs.create(replace(a_run(2), status=Status.SKIPPED, reason=Reason.UNSUBSCRIBED))
    assert [(each["email"], each["reason"]) for each in emails(world)["emails"]] == [
        ("ann-daily-2", "unsubscribed")
    ]


def test_subscriber_without_emails_has_an_empty_page() -> None:
    assert emails(World()) == {"emails": [], "next": None}


# Receipts.


@pytest.mark.parametrize("state", STORIES)
def test_receipt_of_each_state(state: State) -> None:
    answer = Services(STORIES[state]()).get("/v1/event", user_id="ann", id=EVENT)
    assert answer["statusCode"] == 200
    assert (content(answer)["id"], content(answer)["state"]) == (EVENT, state)


def test_receipt_names_the_email_as_events_out_do() -> None:
    world = a_world()
    world.send_digest()
    is_delivered(world)
    found = content(Services(world).get("/v1/event", user_id="ann", id=EVENT))
    (email,) = found["emails"]
    assert (email["email"], email["certainty"]) == ("ann-daily-1", "accepted")
    assert set(email["outcomes"]) == {"sent", "delivered"}


def test_mute_is_recognised_for_an_event_that_is_not_stored() -> None:
    world = known({"comment": Frequency.NEVER})
    asked = {"user_id": "ann", "id": "c-1", "category": "comment", "occurred_at": NOW.isoformat()}
    found = content(Services(world).get("/v1/event", **asked))
    assert (found["state"], found["because"]) == ("not_stored", "muted")


def test_activity_is_described() -> None:
    world = known()
    asked = {"entity_type": "post", "entity_id": "post1", "id": "a1"}
    services = Services(world)
    assert content(services.get("/v1/activity", **asked))["stored"] is False
    world.say(CreateActivity(an_activity("a1")))
    world.work_off_followers()
    found = content(services.get("/v1/activity", **asked))
    assert (found["stored"], found["retracted"], found["distributed"]) == (True, False, True)
    assert found["entity"] == {"type": "post", "id": "post1"}


def test_active_followers_are_counted() -> None:
    world = known()
    for user_id in ("ann", "bo", "cy"):
        followed(world, "post#p1", FollowState(user_id != "cy"), user_id)
    found = content(Services(world).get("/v1/entity", type="post", id="p1"))
    assert found == {
        "entity": {"type": "post", "id": "p1"},
        "followers": 2,
        "is_exact": True,
    }


# Links.


def link_token(world: World) -> str:
    services = Services(world)
    answer = services.send(request_link())
    found = content(answer)
    assert found["url"].startswith(f"{BASE_URL}/preferences/k1.")
    return str(found["url"]).rpartition("/")[2]


def request_link(user_id: str = "ann") -> dict[str, Any]:
    return request("POST", "/v1/subscriber/link", user_id=user_id)


def test_link_opens_the_preference_page_and_nothing_else() -> None:
    world = known()
    token = link_token(world)
    reader = LinkReader(keys=lambda: KEYS, clock=world.clock)
    link = reader.read(token, Purpose.PREFERENCES, Purpose.APP)
    assert link.is_for(world.subscribers.get("ann"))
    for purpose in set(Purpose) - {Purpose.APP}:
        with pytest.raises(InvalidToken):
            reader.read(token, purpose)


def test_link_ends_at_the_stated_time() -> None:
    world = known()
    found = content(Services(world).send(request_link()))
    token = str(found["url"]).rpartition("/")[2]
    assert found["expires_at"] == "2026-11-24T00:00:00Z"
    reader = LinkReader(keys=lambda: KEYS, clock=world.clock)
    world.clock.now = world.clock.now.replace(day=23, hour=23, minute=59)
    assert reader.read(token, Purpose.APP)
    world.clock.now += timedelta(minutes=1)
    with pytest.raises(EndedLink):
        reader.read(token, Purpose.PREFERENCES, Purpose.APP)


def test_unknown_subscriber_gets_no_link() -> None:
    assert Services(known()).send(request_link("bo"))["statusCode"] == 404


# Privacy.


def test_no_answer_contains_the_address_or_the_name() -> None:
    world = STORIES[State.EMAILED]()
    services = Services(world)
    reader = world.subscribers.get("ann")
    answers = [
        services.get("/v1/subscriber", user_id="ann"),
        services.get("/v1/subscriber/emails", user_id="ann"),
        services.get("/v1/event", user_id="ann", id=EVENT),
        services.send(request_link()),
        services.choose(frequency="weekly"),
    ]
    for answer in answers:
        assert answer["statusCode"] == 200
        assert "@" not in answer["body"]
        assert reader.name not in answer["body"]  # type: ignore[union-attr]
