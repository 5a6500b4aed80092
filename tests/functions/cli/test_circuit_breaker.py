"""`gazette sending` on moto: what it shows of the streams, and how it stops and resumes them."""

from datetime import timedelta

import pytest
from gazette.adapters.dynamodb.pacing.pace import ROWS, DynamoRateLimiter
from gazette.domain.delivery.circuit_breaker import OpenBreaker
from gazette.domain.delivery.pace import PacePlan
from gazette.settings.delivery import GenerateSettings
from gazette.settings.fanout import FanoutSettings
from rich.console import Console
from typer.testing import CliRunner, Result

from gazette_cli.main import app
from gazette_cli.shared import answers
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
    with cloud.meter.acting("an operator"):
        return CliRunner().invoke(app, ["sending", *arguments], input=said)


def refused(row: str = ROWS.digest) -> OpenBreaker:
    """A worker, of which the provider refused the digest."""
    return DynamoRateLimiter("pace", PLAN, name=row).trip(WHY, NOW)


def stored(row: str = ROWS.digest) -> OpenBreaker | None:
    return DynamoRateLimiter("pace", PLAN, name=row).read(NOW).breaker


def test_status_shows_each_stream_and_its_rate(
    stage: Cloud,
) -> None:
    shown = run(stage, "status")
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert shown.stdout.splitlines() == [
        "digest\tsending",
        "digest rate\tat most 400 emails per second; 0 today (UTC)",
        "immediate\tsending",
        "immediate rate\tat most 100 emails per second; 0 today (UTC)",
    ]
    assert stage.meter.actions["an operator"] == {("pace", "GetItem"), ("control", "Query")}


def test_status_of_a_stopped_stream_shows_reason_time_and_next_attempt(stage: Cloud) -> None:
    refused(ROWS.immediate)
    shown = run(stage, "status")
    assert shown.stdout.splitlines() == [
        "digest\tsending",
        "digest rate\tat most 400 emails per second; 0 today (UTC)",
        "immediate\tstopped automatically",
        f"immediate reason\t{WHY}",
        f"immediate since\t{SINCE}",
        f"immediate next try\ta test email at {UNTIL} or later",
        "immediate rate\tat most 100 emails per second; 0 today (UTC)",
    ]
    assert "`gazette sending resume --stage prod`" in shown.stderr


def test_status_in_a_terminal_shows_the_same_values(
    stage: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused()
    monkeypatch.setattr(answers, "Console", lambda: Console(force_terminal=True, width=100))
    shown = run(stage, "status").stdout
    for said in ("stopped", WHY, SINCE, UNTIL):
        assert said in shown
    assert "\t" not in shown


@pytest.mark.usefixtures("later")
def test_stop_holds_all_email_until_resume(stage: Cloud) -> None:
    stage.say("subscriber.changed", profile())
    stage.say("event.created", event(1))
    (message,) = fan_out(stage)
    stopped = run(stage, "stop", "wrong template", "--yes")
    assert stopped.stdout == "all email of stage prod is stopped until you resume it\n"
    for stream in ("digest", "immediate"):
        assert (
            f"{stream}\tstopped manually\n{stream} reason\twrong template\n"
            in run(stage, "status").stdout
        )
        assert f"{stream} next try\tnone until you resume sending" in run(stage, "status").stdout
    stage.meter.clear()
    stage.work("generate", message)
    assert not stage.sent()
    (entry,) = stage.queued("generate")
    assert 600 <= entry["DelaySeconds"] <= 900
    resumed = run(stage, "resume")
    assert resumed.stdout.startswith("all email of stage prod is resumed; it was stopped at 20")
    stage.work("generate", entry["MessageBody"])
    assert len(stage.sent()) == 1
    assert stage.meter.actions["an operator"] == {
        ("pace", "GetItem"),
        ("pace", "UpdateItem"),
        ("control", "Query"),
    }


@pytest.mark.parametrize(("answer", "is_on"), [("y\n", True), ("n\n", False), ("", False)])
def test_sending_is_not_stopped_without_confirmation(
    stage: Cloud, answer: str, is_on: bool
) -> None:
    done = run(stage, "stop", "wrong template", said=answer)
    assert "Stop all email of stage prod until someone runs" in done.stdout
    assert (done.exit_code == 0) == is_on
    assert [stored(row) is not None for row in (ROWS.digest, ROWS.immediate)] == [is_on] * 2


@pytest.mark.parametrize("rows", [(ROWS.digest,), (ROWS.immediate,), (ROWS.digest, ROWS.immediate)])
def test_resume_closes_an_automatically_opened_breaker(stage: Cloud, rows: tuple[str, ...]) -> None:
    for row in rows:
        refused(row)
    done = run(stage, "resume")
    assert done.stdout == f"all email of stage prod is resumed; it was stopped at {SINCE}\n"
    assert [stored(row) for row in (ROWS.digest, ROWS.immediate)] == [None, None]
    again = run(stage, "resume")
    assert (again.exit_code, again.stdout) == (0, "email of stage prod was not stopped\n")


def test_manual_stop_replaces_an_automatic_stop(stage: Cloud) -> None:
    refused()
    run(stage, "stop", "we look into it", "--yes")
    found = stored()
    assert found
    assert stored(ROWS.immediate) == found
    assert (found.why, found.by_hand) == ("we look into it", True)
    assert found.until - NOW > timedelta(days=365)


@pytest.mark.parametrize("reason", ["", "  "])
def test_stop_requires_a_reason(stage: Cloud, reason: str) -> None:
    done = run(stage, "stop", reason, "--yes")
    assert (done.exit_code, stored()) == (2, None)
    assert "REASON is empty" in done.stderr


def test_stop_reason_is_stripped_of_control_characters(stage: Cloud) -> None:
    run(stage, "stop", "a\tb\x1b[2J\n", "--yes")
    assert "digest reason\ta?b?[2J" in run(stage, "status").stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("status", "--stage", "nowhere"),
        ("resume", "--stage", "nowhere"),
        ("stop", "x", "--yes", "--stage", "nowhere"),
    ],
)
def test_unknown_stage_leaves_the_named_stage_unchanged(
    stage: Cloud, arguments: tuple[str, ...]
) -> None:
    """Another stage than the one that was named is never stopped, nor released."""
    refused()
    done = run(stage, *arguments)
    assert done.exit_code == 2
    assert "Function gazette-nowhere-generate does not exist" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert stored() == OpenBreaker(
        why=WHY, since=NOW, until=NOW + timedelta(minutes=1), step=timedelta(minutes=1)
    )


@pytest.mark.usefixtures("later")
def test_batch_shows_a_stop_of_the_digest_stream(stage: Cloud) -> None:
    deploy("fanout", FanoutSettings.from_env().to_env())
    stage.say("subscriber.changed", profile())
    stage.arm("ann")
    refused()
    shown = CliRunner().invoke(app, ["batch", "show", slot(), "--once"])
    assert f"stopped automatically since {SINCE} ({WHY})" in shown.stdout
