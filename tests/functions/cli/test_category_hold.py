"""`gazette sending --category` on moto: hold one category, list those held, resume it."""

from datetime import UTC, datetime

import pytest
from gazette.adapters.dynamodb.control.category_holds import DynamoCategoryHolds
from gazette.adapters.dynamodb.feedback.statistics import DynamoCategoryStats
from gazette.domain.feedback.delivery_events import Mark
from gazette.domain.feedback.reputation import SPAN, CategoryCounts, CategoryHold, category_hold
from gazette.settings.delivery import GenerateSettings
from gazette.settings.feedback import FeedbackSettings

from tests.builders import NOW
from tests.functions.cli.test_circuit_breaker import SINCE, run
from tests.functions.conftest import Cloud
from tests.functions.deployed import deploy

WHY = "10 complaints about 100 emails within 7 days: 10.00%"


@pytest.fixture
def stage(cloud: Cloud) -> Cloud:
    deploy("generate", GenerateSettings.from_env().to_env())
    deploy("feedback", FeedbackSettings.from_env().to_env())
    cloud.meter.clear()
    return cloud


def held() -> list[CategoryHold]:
    return list(DynamoCategoryHolds("control").active())


def test_held_category_is_listed_with_reason_and_time(stage: Cloud) -> None:
    holds = DynamoCategoryHolds("control")
    holds.add(category_hold("like", "a\tb", NOW, by_hand=True))
    holds.add(category_hold("comment", WHY, NOW))
    shown = run(stage, "status")
    assert shown.stdout.splitlines() == [
        "digest\tsending",
        "digest rate\tat most 400 emails per second; 0 today (UTC)",
        "immediate\tsending",
        "immediate rate\tat most 100 emails per second; 0 today (UTC)",
        f"category comment\theld since {SINCE}: {WHY}",
        f"category like\theld manually since {SINCE}: a?b",
    ]
    assert shown.stderr == (
        "To resume a category, run `gazette sending resume --category NAME --stage prod`.\n"
    )


def test_category_is_held_manually_while_remaining_email_continues(stage: Cloud) -> None:
    done = run(stage, "stop", " wrong line ", "--category", "comment", "--yes")
    assert done.stdout == (
        "category comment of stage prod is on hold; its events wait until you resume it\n"
    )
    (hold,) = held()
    assert (hold.category, hold.why, hold.by_hand) == ("comment", "wrong line", True)
    assert run(stage, "status").stdout.startswith("digest\tsending\n")
    again = run(stage, "stop", "another", "--category", "comment", "--yes")
    assert "is already on hold" in again.stdout
    assert held() == [hold]
    assert stage.meter.actions["an operator"] == {
        ("control", "UpdateItem"),
        ("control", "Query"),
        ("pace", "GetItem"),
    }


@pytest.mark.parametrize(("answer", "is_on"), [("y\n", True), ("n\n", False), ("", False)])
def test_category_is_not_held_without_confirmation(stage: Cloud, answer: str, is_on: bool) -> None:
    done = run(stage, "stop", "wrong line", "--category", "comment", said=answer)
    assert "Put category comment of stage prod on hold until someone runs" in done.stdout
    assert bool(held()) == is_on


def test_counts_of_a_released_category_are_reset(stage: Cloud) -> None:
    category_stats, now = DynamoCategoryStats("category_stats"), datetime.now(UTC)
    category_stats.add("comment", Mark.SENT, now)
    DynamoCategoryHolds("control").add(category_hold("comment", WHY, NOW))
    DynamoCategoryHolds("control").add(category_hold("like", WHY, NOW))
    done = run(stage, "resume", "--category", "comment")
    assert done.stdout == (
        "category comment of stage prod is resumed, and its bounce and complaint counts are reset\n"
    )
    assert [hold.category for hold in held()] == ["like"]
    assert category_stats.since("comment", now - SPAN) == CategoryCounts()
    again = run(stage, "resume", "--category", "comment")
    assert (again.exit_code, again.stdout) == (
        0,
        "category comment of stage prod was not on hold\n",
    )
    assert stage.meter.actions["an operator"] == {
        ("control", "Query"),
        ("control", "DeleteItem"),
        ("category_stats", "Query"),
        ("category_stats", "BatchWriteItem"),
    }


def test_counts_of_a_category_not_on_hold_are_kept(stage: Cloud) -> None:
    """Named by mistake it would be judged by what comes from now on alone."""
    category_stats, now = DynamoCategoryStats("category_stats"), datetime.now(UTC)
    category_stats.add("comment", Mark.SENT, now)
    done = run(stage, "resume", "--category", "comment")
    assert done.stdout == "category comment of stage prod was not on hold\n"
    assert category_stats.since("comment", now - SPAN) == CategoryCounts(1)


@pytest.mark.parametrize("category", ["", "Comment", "comment ", "a b", "x" * 33])
@pytest.mark.parametrize("command", [("stop", "why", "--yes"), ("resume",)])
def test_invalid_category_is_rejected(
    stage: Cloud, command: tuple[str, ...], category: str
) -> None:
    done = run(stage, *command, "--category", category)
    assert done.exit_code == 2
    assert "is not a valid category name" in done.stderr
    assert not held()
    assert not stage.meter.actions["an operator"]


def test_resume_names_the_missing_function(stage: Cloud) -> None:
    done = run(stage, "resume", "--category", "comment", "--stage", "nowhere")
    assert done.exit_code == 2
    assert "Function gazette-nowhere-feedback does not exist" in done.stderr
