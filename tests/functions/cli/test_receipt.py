"""`gazette receipt` on moto: what became of an event, from the id that its service gave it."""

import json
from typing import Any

import pytest
from gazette.settings.feedback import FeedbackSettings
from gazette.settings.ingest import IngestSettings
from typer.testing import CliRunner, Result

from gazette_cli.main import app
from tests.functions.conftest import Cloud, fan_out
from tests.functions.deployed import deploy
from tests.functions.messages import ago, delivery_event, event, follow, happening, profile
from tests.shapes import check

EVENT = event(1)["id"]


@pytest.fixture
def stage(cloud: Cloud) -> Cloud:
    """The functions with the settings that the stack would write."""
    deploy("ingest", IngestSettings.from_env().to_env())
    deploy("feedback", FeedbackSettings.from_env().to_env())
    return cloud


def run(cloud: Cloud, *arguments: str, said: str | None = None) -> Result:
    with cloud.meter.acting("an operator"):
        return CliRunner().invoke(app, ["receipt", *arguments], input=said)


def told(cloud: Cloud, *arguments: str, exits: int = 0) -> dict[str, Any]:
    """The document of `--json`, which has the documented fields."""
    done = run(cloud, *arguments, "--json")
    assert done.exit_code == exits, done.output
    check("receipt", done)
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def send(cloud: Cloud) -> None:
    cloud.say("subscriber.changed", profile())
    cloud.say("event.created", event(1), event(2))
    cloud.work("generate", *fan_out(cloud))
    cloud.work("feedback", delivery_event())


def test_receipt_of_a_waiting_event_names_its_digest(stage: Cloud) -> None:
    stage.say("subscriber.changed", profile())
    stage.say("event.created", event(1))
    (receipt,) = told(stage, EVENT, "--user", "ann")["receipts"]
    assert (receipt["state"], receipt["schedule"], receipt["is_held"]) == (
        "waiting",
        "daily",
        False,
    )
    assert receipt["next_digest"]
    assert stage.meter.actions["an operator"] - {("", "")} >= {
        ("events", "GetItem"),
        ("runs", "Query"),
        ("schedules", "GetItem"),
        ("control", "Query"),
    }


@pytest.mark.usefixtures("later")
def test_receipt_of_an_emailed_event_names_the_email_with_delivery_events(stage: Cloud) -> None:
    send(stage)
    document = told(stage, EVENT, "--user", "ann")
    (receipt,) = document["receipts"]
    (email,) = receipt["emails"]
    assert (receipt["state"], email["email"], email["certainty"], email["events"]) == (
        "emailed",
        "ann-daily-1",
        "accepted",
        2,
    )
    assert email["outcomes"].keys() == {"delivered"}
    assert document["answer"][0].startswith("The event was emailed at ")
    lines = run(stage, EVENT, "--user", "ann").stdout.splitlines()
    assert [line.split("\t")[0] for line in lines] == ["ann", "ann"]
    assert "The email ann-daily-1 of " in lines[1]
    assert " with 2 events was accepted by the provider. Delivery events: delivered " in lines[1]


def test_event_that_is_not_stored_exits_with_1_and_recognises_a_mute(stage: Cloud) -> None:
    stage.say("subscriber.changed", profile(frequencies={"comment": "never"}))
    stage.say("event.created", event(1))
    (receipt,) = told(stage, EVENT, "--user", "ann", exits=1)["receipts"]
    assert (receipt["state"], receipt["because"]) == ("not_stored", "never_or_gone")
    described = ("--category", "comment", "--occurred-at", ago(minutes=1))
    (receipt,) = told(stage, EVENT, "--user", "ann", *described, exits=1)["receipts"]
    assert receipt["because"] == "muted"


def test_search_without_a_reader_finds_all_readers_after_confirmation(stage: Cloud) -> None:
    for user_id in ("ann", "bo"):
        stage.say("subscriber.changed", profile(user_id))
        stage.say("event.created", event(1, user_id=user_id))
    asked = run(stage, EVENT, said="y\n")
    assert "Read all 2 rows of events (0 MB) for $0.0000 in us-east-1?" in asked.stdout
    assert {line.split("\t")[0] for line in asked.stdout.splitlines()[1:]} == {"ann", "bo"}
    receipts = told(stage, EVENT, "--yes")["receipts"]
    assert [each["user_id"] for each in receipts] == ["ann", "bo"]
    assert run(stage, EVENT, said="n\n").exit_code == 1
    nothing = run(stage, "unknown", "--yes")
    assert (nothing.exit_code, nothing.stdout) == (1, "")
    assert "No reader has an event with this id." in nothing.stderr


@pytest.fixture
def followed(stage: Cloud) -> Cloud:
    """Five followers of a post: one muted comments, one followed later, one is the actor."""
    for user_id, frequencies in (("a", {}), ("b", {}), ("c", {"comment": "never"}), ("d", {})):
        stage.say("subscriber.changed", profile(user_id, frequencies=frequencies))
        stage.say("follow.created", follow(user_id))
    stage.say("follow.created", follow("late", changed_at=ago(minutes=0)))
    activity = happening(1) | {"actor": {"id": "d", "name": "D"}, "occurred_at": ago(minutes=5)}
    stage.say("activity.created", activity)
    return stage


def test_followers_of_an_activity_are_counted_by_outcome(followed: Cloud) -> None:
    document = told(followed, EVENT, "--entity", "post:p1")
    (activity,) = document["activities"]
    counted = {state: number for state, number in activity["followers"].items() if number}
    assert counted == {"waiting": 2, "not_stored": 1}
    assert (activity["others"], activity["next"]) == (2, None)
    assert (activity["stored"], activity["distributed"], activity["retracted"]) == (
        True,
        True,
        False,
    )
    lines = run(followed, EVENT, "--entity", "post:p1").stdout.splitlines()
    assert lines[1] == "waiting for a digest or an immediate email\t2"


def test_count_of_followers_states_how_far_it_looked_and_continues(followed: Cloud) -> None:
    total: dict[str, int] = {}
    arguments: tuple[str, ...] = ()
    for _ in range(4):
        done = run(followed, EVENT, "--entity", "post:p1", "--limit", "2", *arguments, "--json")
        (activity,) = json.loads(done.stdout)["activities"]
        for state, number in activity["followers"].items():
            total[state] = total.get(state, 0) + number
        if activity["next"] is None:
            break
        assert "The command looked at 2 follows" in done.stderr
        arguments = ("--after", activity["next"])
    assert (total["waiting"], total["not_stored"]) == (2, 1)
    assert activity["next"] is None


def test_retracted_activity_is_counted_as_retracted(followed: Cloud) -> None:
    followed.say("event.retracted", {"entity": {"type": "post", "id": "p1"}, "id": EVENT})
    (activity,) = told(followed, EVENT, "--entity", "post:p1")["activities"]
    assert activity["retracted"]
    assert activity["followers"]["retracted"] == 2


def test_unknown_activity_exits_with_1(stage: Cloud) -> None:
    (activity,) = told(stage, EVENT, "--entity", "post:p1", exits=1)["activities"]
    assert (activity["stored"], activity["followers"]) == (False, {})


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["e", "--user", "a b"], "--user 'a b' is not a valid user id"),
        (["e", "--user", "ann", "--entity", "post:p1"], "--user and --entity exclude each other"),
        (["e", "--entity", "post"], "--entity 'post' is not an entity"),
        (["e", "--entity", "post:p1", "--after", "post#p1"], "--after requires --entity"),
        (["e", "--user", "ann", "--category", "comment"], "--category and --occurred-at together"),
        (
            ["e", "--user", "ann", "--category", "A", "--occurred-at", "2026-11-21T09:30:00Z"],
            "--category 'A' is not the name of a category",
        ),
        (
            ["e", "--user", "ann", "--category", "a", "--occurred-at", "2026-11-21T09:30:00"],
            "is not an instant with a time zone",
        ),
        ([""], "EVENT_ID is empty"),
    ],
)
def test_invalid_options_are_named_with_the_remedy(
    stage: Cloud, arguments: list[str], error: str
) -> None:
    done = run(stage, *arguments)
    assert done.exit_code == 2
    assert error in done.stderr
