"""The route that submits choices, on fakes."""

from datetime import timedelta
from typing import Any

import pytest
from gazette.domain.errors import NotYet, Unavailable
from gazette.domain.subscribers.choices import Choice
from gazette.domain.subscribers.frequency import Frequency

from tests.builders import NOW, an_event
from tests.services import DAY, Services, content
from tests.world import World


@pytest.fixture
def world() -> World:
    """Ann has been there for a day."""
    world = World()
    world.choose(at=NOW - DAY)
    return world


def categories(answer: dict[str, Any]) -> dict[str, tuple[str, str]]:
    return {
        each["category"]: (each["frequency"], each["because"])
        for each in content(answer)["categories"]
    }


def test_choice_is_in_force_at_once_and_published_first(world: World) -> None:
    world.create(an_event("1"))
    answer = Services(world).choose(frequencies={"comment": "never"})
    assert answer["statusCode"] == 200
    assert categories(answer)["comment"] == ("never", "chosen")
    assert content(answer)["waiting"] == [], "the waiting event is withdrawn"
    assert len(world.bus.taken) == 1


def test_choice_changes_only_the_specified_categories(world: World) -> None:
    services = Services(world)
    world.save(Choice(frequencies=(("like", Frequency.NEVER),)))
    world.clock.now += timedelta(minutes=1)
    found = categories(services.choose(frequencies={"comment": "weekly"}))
    assert found["like"] == ("never", "chosen")
    assert found["comment"] == ("weekly", "chosen")


@pytest.mark.parametrize("value", ["default", None])
def test_default_and_null_withdraw_a_choice(world: World, value: str | None) -> None:
    services = Services(world)
    services.choose(frequencies={"comment": "never"}, frequency="weekly")
    world.clock.now += timedelta(minutes=1)
    answer = services.choose(frequencies={"comment": value}, frequency=value)
    assert categories(answer)["comment"] == ("daily", "daily")


def test_all_fields_are_taken(world: World) -> None:
    answer = Services(world).choose(
        frequency="custom",
        time_zone="Asia/Kolkata",
        digest={
            "hour": 19,
            "minute": 30,
            "weekly": {"day": "friday"},
            "custom": {"days": ["tuesday"]},
            "paused_until": "2026-12-01",
        },
    )
    found = content(answer)
    assert found["everything"] == {"frequency": "custom", "because": "chosen_for_all"}
    assert (found["time_zone"], found["paused_until"]) == ("Asia/Kolkata", "2026-12-01")
    assert (found["digest"]["hour"], found["digest"]["minute"]) == (19, 30)
    assert found["digest"]["custom"]["days"] == ["tuesday"]


def test_repeated_choice_changes_nothing(world: World) -> None:
    services = Services(world)
    at = world.clock().isoformat()
    first = content(services.choose(chosen_at=at, frequency="weekly"))
    again = content(services.choose(chosen_at=at, frequency="weekly"))
    assert first["revision"] == again["revision"] == 2


def test_earlier_choice_does_not_override_a_later_one(world: World) -> None:
    services = Services(world)
    earlier = (world.clock() - timedelta(hours=1)).isoformat()
    services.choose(frequencies={"comment": "weekly"})
    answer = services.choose(chosen_at=earlier, frequencies={"comment": "never"})
    assert categories(answer)["comment"] == ("weekly", "chosen")


def test_choice_that_the_bus_rejects_changes_nothing(world: World) -> None:
    world.bus.answers.append(False)
    before = world.subscribers.get("ann")
    answer = Services(world).choose(frequency="weekly")
    assert answer["statusCode"] == 503
    assert content(answer)["type"] == "docs/api.md#unavailable"
    assert world.subscribers.get("ann") == before


def test_choice_with_an_unknown_outcome_says_so(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(world.bus, "put", raising(Unavailable("no answer")))
    services = Services(world)
    answer = services.choose(frequency="weekly")
    assert answer["statusCode"] == 504
    assert content(answer)["type"] == "docs/api.md#outcome-unknown"
    assert len(services.reports) == 1


@pytest.mark.parametrize("error", [Unavailable("no answer"), NotYet("it keeps changing")])
def test_published_choice_that_cannot_be_applied_is_accepted(
    world: World, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    services = Services(world)
    with monkeypatch.context() as patch:
        patch.setattr(world.subscribers, "put", raising(error))
        answer = services.choose(frequency="weekly")
    assert answer["statusCode"] == 202
    assert content(answer) == {"user_id": "ann", "chosen_at": "2026-11-22T07:03:00Z"}
    world.work_off_bus()
    found = content(services.get("/v1/subscriber", user_id="ann"))
    assert found["everything"] == {"frequency": "weekly", "because": "chosen_for_all"}


def test_choice_changes_nothing_if_the_subscriber_cannot_be_read(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(world.subscribers, "get", raising(Unavailable("no answer")))
    assert Services(world).choose(frequency="weekly")["statusCode"] == 503
    assert not world.bus.taken


def test_choice_before_the_last_erasure_changes_nothing(world: World) -> None:
    world.erase(at=NOW - timedelta(hours=2))
    world.choose(at=NOW - timedelta(hours=1))
    earlier = (NOW - timedelta(hours=3)).isoformat()
    answer = Services(world).choose(chosen_at=earlier, frequency="weekly")
    assert answer["statusCode"] == 404
    assert not world.bus.taken


def raising(error: Exception) -> Any:
    def fail(*_: object, **__: object) -> None:
        raise error

    return fail


MUTE = [{"type": "post", "id": "p1", "title": "On digests"}]


def test_muted_entity_is_listed_until_it_is_unmuted(world: World) -> None:
    services = Services(world)
    at = world.clock()
    found = content(services.choose(chosen_at=at.isoformat(), mute=MUTE))
    (muted,) = found["muted"]
    assert muted["entity"] == {"type": "post", "id": "p1"}
    assert muted["title"] == "On digests"
    later = (at + timedelta(seconds=1)).isoformat()
    answer = services.choose(chosen_at=later, unmute=[{"type": "post", "id": "p1"}])
    assert content(answer)["muted"] == []
    repeated = services.choose(chosen_at=at.isoformat(), mute=MUTE)
    assert content(repeated)["muted"] == []


def test_waiting_events_about_a_muted_entity_are_not_counted(world: World) -> None:
    services = Services(world)
    world.create(an_event(entity_id="p1", occurred_at=world.clock()), an_event("e2"))
    answer = content(services.choose(mute=MUTE))
    assert [each["events"] for each in answer["waiting"]] == [1]


def test_mute_of_too_many_entities_is_a_conflict_and_changes_nothing(world: World) -> None:
    services = Services(world)
    services.choose(mute=[{"type": "post", "id": f"{number}"} for number in range(100)])
    before, world.bus.taken = world.subscribers.get("ann"), []
    answer = services.choose(mute=MUTE, frequency="weekly")
    assert (answer["statusCode"], content(answer)["status"]) == (409, 409)
    assert content(answer)["type"] == "docs/api.md#too-many-muted"
    assert world.subscribers.get("ann") == before
    assert world.bus.taken == []
