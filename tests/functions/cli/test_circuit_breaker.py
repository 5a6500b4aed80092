"""`gazette brake` on moto: what it says of the brake, and what it does to all email."""

from datetime import timedelta

import pytest
from gazette.adapters.dynamodb.control.pace import ROWS, DynamoPacer
from gazette.domain.delivery.circuit_breaker import Brake
from gazette.domain.delivery.pace import PacePlan
from gazette.settings import FanoutSettings, GenerateSettings
from rich.console import Console
from typer.testing import CliRunner, Result

from cli.main import app
from cli.sending import command as brake
from tests.builders import NOW
from tests.functions.cli.test_batches import slot
from tests.functions.conftest import Cloud, fan_out
from tests.functions.deployed import deploy
from tests.functions.messages import event, profile

PLAN = PacePlan(rate=500)
WHY = "SendingPausedException"
SINCE, UNTIL = "2026-11-22 07:03:00 UTC", "2026-11-22 07:04:00 UTC"


@pytest.fixture
def stage(cloud: Cloud) -> Cloud:
    """The commands find the tables in the settings of generate alone."""
    deploy("generate", GenerateSettings.from_env().to_env())
    cloud.meter.clear()
    return cloud


def run(cloud: Cloud, *arguments: str, said: str | None = None) -> Result:
    with cloud.meter.acting("support"):
        return CliRunner().invoke(app, ["brake", *arguments], input=said)


def refused(row: str = ROWS.digest) -> Brake:
    """A worker, of which the provider refused the digest."""
    return DynamoPacer("pace", PLAN, name=row).pull(WHY, NOW)


def stored(row: str = ROWS.digest) -> Brake | None:
    return DynamoPacer("pace", PLAN, name=row).read(NOW).brake


def test_where_both_brakes_are_off_two_lines_each_tell_it_and_how_fast_it_goes(
    stage: Cloud,
) -> None:
    shown = run(stage)
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert shown.stdout.splitlines() == [
        "digest brake\toff",
        "digest pace\tat most 400 emails a second; 0 today (UTC)",
        "immediate brake\toff",
        "immediate pace\tat most 100 emails a second; 0 today (UTC)",
    ]
    assert stage.meter.actions["support"] == {("pace", "GetItem"), ("batches", "Query")}


def test_a_brake_that_is_on_is_told_with_why_since_when_and_when_it_is_tried(stage: Cloud) -> None:
    refused(ROWS.immediate)
    shown = run(stage)
    assert shown.stdout.splitlines() == [
        "digest brake\toff",
        "digest pace\tat most 400 emails a second; 0 today (UTC)",
        "immediate brake\ton",
        f"immediate why\t{WHY}",
        f"immediate since\t{SINCE}",
        f"immediate tried\tone email tries from {UNTIL} on",
        "immediate pace\tat most 100 emails a second; 0 today (UTC)",
    ]
    assert "`gazette brake release --stage prod`" in shown.stderr


def test_people_see_the_same(stage: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    refused()
    monkeypatch.setattr(brake, "Console", lambda: Console(force_terminal=True, width=100))
    shown = run(stage).stdout
    for said in ("on", WHY, SINCE, UNTIL):
        assert said in shown
    assert "\t" not in shown


@pytest.mark.usefixtures("later")
def test_what_is_pulled_by_hand_stops_all_email_until_it_is_released(stage: Cloud) -> None:
    stage.say("subscriber.changed", profile())
    stage.say("event.created", event(1))
    (message,) = fan_out(stage)
    pulled = run(stage, "pull", "wrong template", "--yes")
    assert pulled.stdout == (
        "the brake of stage prod is on: nothing is sent until it is released\n"
    )
    for stream in ("digest", "immediate"):
        assert f"{stream} brake\ton, by hand\n{stream} why\twrong template\n" in run(stage).stdout
        assert f"{stream} tried\tnot before it is released by hand" in run(stage).stdout
    stage.meter.clear()
    stage.work("generate", message)
    assert not stage.sent()
    (entry,) = stage.queued("generate")
    assert 600 <= entry["DelaySeconds"] <= 900
    released = run(stage, "release")
    assert released.stdout.startswith("the brake of stage prod is off; it was on since 20")
    stage.work("generate", entry["MessageBody"])
    assert len(stage.sent()) == 1
    assert stage.meter.actions["support"] == {
        ("pace", "GetItem"),
        ("pace", "UpdateItem"),
        ("batches", "Query"),
    }


@pytest.mark.parametrize(("answer", "is_on"), [("y\n", True), ("n\n", False), ("", False)])
def test_nothing_is_stopped_without_a_yes(stage: Cloud, answer: str, is_on: bool) -> None:
    done = run(stage, "pull", "wrong template", said=answer)
    assert "Stop all email of stage prod until somebody runs" in done.stdout
    assert (done.exit_code == 0) == is_on
    assert [stored(row) is not None for row in (ROWS.digest, ROWS.immediate)] == [is_on] * 2


@pytest.mark.parametrize("rows", [(ROWS.digest,), (ROWS.immediate,), (ROWS.digest, ROWS.immediate)])
def test_what_the_provider_pulled_can_be_released_by_hand(
    stage: Cloud, rows: tuple[str, ...]
) -> None:
    for row in rows:
        refused(row)
    done = run(stage, "release")
    assert done.stdout == f"the brake of stage prod is off; it was on since {SINCE}\n"
    assert [stored(row) for row in (ROWS.digest, ROWS.immediate)] == [None, None]
    again = run(stage, "release")
    assert (again.exit_code, again.stdout) == (0, "the brake of stage prod was off\n")


def test_whoever_pulls_it_by_hand_takes_it_from_the_provider(stage: Cloud) -> None:
    refused()
    run(stage, "pull", "we look into it", "--yes")
    found = stored()
    assert found
    assert stored(ROWS.immediate) == found
    assert (found.why, found.by_hand) == ("we look into it", True)
    assert found.until - NOW > timedelta(days=365)


@pytest.mark.parametrize("reason", ["", "  "])
def test_a_reason_is_needed(stage: Cloud, reason: str) -> None:
    done = run(stage, "pull", reason, "--yes")
    assert (done.exit_code, stored()) == (2, None)
    assert "REASON is empty" in done.stderr


def test_a_reason_steers_no_terminal(stage: Cloud) -> None:
    run(stage, "pull", "a\tb\x1b[2J\n", "--yes")
    assert "digest why\ta?b?[2J" in run(stage).stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("--stage", "nowhere"),
        ("release", "--stage", "nowhere"),
        ("pull", "x", "--yes", "--stage", "nowhere"),
        ("--stage", "nowhere", "release"),
        ("--stage", "nowhere", "pull", "x", "--yes"),
    ],
)
def test_the_stage_may_be_named_before_or_behind_the_command(
    stage: Cloud, arguments: tuple[str, ...]
) -> None:
    """Another stage than the one that was named is never stopped, nor released."""
    refused()
    done = run(stage, *arguments)
    assert done.exit_code == 2
    assert "There is no function gazette-nowhere-generate here" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert stored() == Brake(
        why=WHY, since=NOW, until=NOW + timedelta(minutes=1), step=timedelta(minutes=1)
    )


@pytest.mark.usefixtures("later")
def test_a_batch_shows_the_brake_in_its_pace(stage: Cloud) -> None:
    deploy("fanout", FanoutSettings.from_env().to_env())
    stage.say("subscriber.changed", profile())
    refused()
    shown = CliRunner().invoke(app, ["batch", "show", slot(), "--once"])
    assert f"the brake is on since {SINCE} ({WHY})" in shown.stdout
