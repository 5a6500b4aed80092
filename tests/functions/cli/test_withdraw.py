"""`gazette withdraw` on moto: add, list and remove withdrawals."""

import json
from datetime import timedelta

import pytest
from gazette.adapters.dynamodb.control.withdrawals import DynamoWithdrawals
from gazette.bootstrap.parts.clock import now
from gazette.domain.scheduling.lifetime import withdrawn_for
from gazette.domain.withdrawing.withdrawals import (
    MOST_WITHDRAWN,
    Withdrawal,
    WithdrawalKind,
    WithdrawalList,
    Withdrawals,
)
from gazette.settings.ingest import IngestSettings
from typer.testing import CliRunner, Result

from gazette_cli.main import app
from tests.builders import RETENTION
from tests.functions.conftest import Cloud
from tests.functions.deployed import deploy

DAY = timedelta(days=1)


@pytest.fixture
def stage(cloud: Cloud) -> Cloud:
    """The commands get the table from the settings of ingest alone."""
    deploy("ingest", IngestSettings.from_env().to_env())
    cloud.meter.clear()
    return cloud


def run(cloud: Cloud, *arguments: str, answer: str | None = None) -> Result:
    with cloud.meter.acting("an operator"):
        return CliRunner().invoke(app, ["withdraw", *arguments], input=answer)


def stored() -> Withdrawals:
    return DynamoWithdrawals("control").read().withdrawals


def fill(number: int) -> None:
    at = now()
    some = (
        Withdrawal(WithdrawalKind.ACTOR, f"actor{each}", at, at + DAY) for each in range(number)
    )
    DynamoWithdrawals("control").change(WithdrawalList(tuple(some), 1))


def test_actor_is_withdrawn_listed_and_removed(stage: Cloud) -> None:
    before = now()
    added = run(stage, "add", "--actor", "mallory", "--yes")
    assert added.exit_code == 0
    assert added.stdout.startswith("events by actor mallory of stage prod up to ")
    assert "within a minute" in added.stderr
    (withdrawal,) = stored()
    assert (withdrawal.kind, withdrawal.id) == (WithdrawalKind.ACTOR, "mallory")
    assert before <= withdrawal.at <= now()
    retention = IngestSettings.from_env().event_retention
    assert withdrawal.until - withdrawal.at == withdrawn_for(retention)
    shown = run(stage, "list")
    assert shown.stdout.startswith("actor\tmallory\t")
    assert shown.stderr == "1 of at most 100 withdrawals are in force.\n"
    removed = run(stage, "remove", "--actor", "mallory", "--yes")
    assert removed.stdout == "events by actor mallory of stage prod are no longer withdrawn\n"
    assert "do not return" in removed.stderr
    assert run(stage, "list").stderr == "No withdrawals are in force.\n"
    again = run(stage, "remove", "--actor", "mallory", "--yes")
    assert (again.exit_code, again.stdout) == (
        0,
        "events by actor mallory of stage prod were not withdrawn\n",
    )


def test_entity_is_withdrawn_again_with_a_later_time(stage: Cloud) -> None:
    assert run(stage, "add", "--entity", "post#p#1", "--yes").exit_code == 0
    (first,) = stored()
    again = run(stage, "add", "--entity", "post#p#1", "--yes")
    assert "events on entity post#p#1 of stage prod" in again.stdout
    assert "it was withdrawn before at" in again.stdout
    (second,) = stored()
    assert second.at > first.at


@pytest.mark.parametrize(("answer", "is_changed"), [("y\n", True), ("n\n", False), ("", False)])
def test_change_requires_confirmation(stage: Cloud, answer: str, is_changed: bool) -> None:
    done = run(stage, "add", "--actor", "bo", answer=answer)
    assert "cannot be undone" in done.stdout
    assert bool(stored()) == is_changed
    fill(1)
    run(stage, "add", "--actor", "bo", "--yes")
    done = run(stage, "remove", "--actor", "bo", answer=answer)
    assert "Send the waiting events by actor bo of stage prod again?" in done.stdout
    assert ("bo" not in {each.id for each in stored()}) == is_changed


def test_json_has_the_withdrawal(stage: Cloud) -> None:
    added = json.loads(run(stage, "add", "--entity", "post#p1", "--yes", "--json").stdout)
    assert (added["kind"], added["id"]) == ("entity", "post#p1")
    assert (added["withdrawn"], added["changed"]) == (True, True)
    listed = json.loads(run(stage, "list", "--json").stdout)
    assert listed["most"] == MOST_WITHDRAWN
    (one,) = listed["withdrawals"]
    assert one == {name: added[name] for name in ("kind", "id", "at", "until")}
    refused = run(stage, "remove", "--entity", "post#p1", "--json")
    assert "--yes" in json.loads(refused.stderr)["error"]
    removed = json.loads(run(stage, "remove", "--entity", "post#p1", "--yes", "--json").stdout)
    assert (removed["withdrawn"], removed["changed"], removed["at"]) == (False, True, added["at"])


def test_full_list_refuses_and_drops_nothing(stage: Cloud) -> None:
    fill(MOST_WITHDRAWN)
    before = stored()
    done = run(stage, "add", "--entity", "post#p1", "--yes")
    assert done.exit_code == 2
    assert (
        "on entity post#p1 was not withdrawn, because 100 withdrawals are in force" in done.stderr
    )
    assert "gazette withdraw remove" in done.stderr
    assert stored() == before
    assert run(stage, "remove", "--actor", "actor0", "--yes").exit_code == 0
    assert run(stage, "add", "--entity", "post#p1", "--yes").exit_code == 0
    assert stored()[-1].id == "post#p1"


@pytest.mark.parametrize("command", ["add", "remove"])
@pytest.mark.parametrize(
    ("options", "error"),
    [
        ((), "Specify either --actor ID or --entity TYPE#ID."),
        (("--actor", "bo", "--entity", "post#p1"), "Specify either"),
        (("--actor", ""), "--actor '' is not valid. Specify the id of the actor"),
        (("--actor", "a\nb"), "--actor 'a?b' is not valid"),
        (("--actor", "x" * 129), "An id has 1 to 128 characters on one line."),
        (("--entity", "p1"), "--entity 'p1' is not valid. Specify the type and the id"),
        (("--entity", "post#"), "--entity 'post#' is not valid"),
        (("--entity", "#p1"), "--entity '#p1' is not valid"),
        (("--entity", "Post#p1"), "--entity 'Post#p1' is not valid"),
        (("--entity", "post:p1"), "such as --entity post#p1"),
    ],
)
def test_wrong_option_is_named_and_changes_nothing(
    stage: Cloud, command: str, options: tuple[str, ...], error: str
) -> None:
    done = run(stage, command, *options, "--yes")
    assert done.exit_code == 2
    assert error in done.stderr
    assert not stored()
    assert not stage.meter.actions.get("an operator")


def test_list_costs_one_read_and_a_change_one_more_write(stage: Cloud) -> None:
    run(stage, "list")
    assert stage.meter.actions["an operator"] == {("control", "GetItem")}
    run(stage, "add", "--actor", "bo", "--yes")
    assert stage.meter.actions["an operator"] == {("control", "GetItem"), ("control", "PutItem")}


def test_withdrawal_outlasts_the_retention_of_events() -> None:
    assert withdrawn_for(RETENTION) > 2 * RETENTION
