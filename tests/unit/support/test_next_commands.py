"""What a text tells people to run acts on the stage that the text is of."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import typer
from gazette.domain.dead_letters import KNOWN, DeadLetter
from gazette.domain.delivery.circuit_breaker import OpenBreaker
from gazette.domain.delivery.pace import EVER, PaceReading
from gazette.domain.delivery.run import Run
from gazette.domain.delivery.standing import Standing
from gazette.domain.delivery.streams import Streams
from gazette.domain.feedback.reputation import category_hold
from gazette.domain.model import RunKey
from gazette.domain.templates.versions import NOTHING_PUSHED
from gazette.steps.delivery.types import WaitingFor
from gazette.steps.support.dead_letters import Forecast, Redrive
from typer.main import get_command
from typer.testing import CliRunner

from gazette_cli.dead_letters.command import Tables
from gazette_cli.doctor.data_checks import check_dead_letters
from gazette_cli.doctor.mail_checks import check_sending
from gazette_cli.doctor.work_checks import check_breakers
from gazette_cli.main import app
from gazette_cli.overview.lines import Seen, lines
from gazette_cli.shared.console import NotPossible, note, one_line_errors
from gazette_cli.shared.next_commands import PUT_BACK, WITHOUT_STAGE, aimed, to_run
from gazette_support.steps.overview import Overview, Upcoming

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
PACE = PaceReading(
    rate=20, full_rate=50, taken=7, cap=None, quota=None, free_since=EVER, breaker=None
)


def stopped(*, by_hand: bool) -> PaceReading:
    step = timedelta(minutes=5)
    found = OpenBreaker(why="no", since=NOW, until=NOW + step, step=step, by_hand=by_hand)
    return replace(PACE, breaker=found)


def seen(stage: str) -> Seen:
    """A stage with something of everything that a command is named for."""
    return Seen(
        stage=stage,
        tables=Overview(
            at=NOW,
            upcoming=[Upcoming(NOW, 3)],
            batches=[],
            standing=Standing(
                age=timedelta(hours=2), held_by_day=3, due_at=NOW - timedelta(hours=2)
            ),
            streams=Streams(digest=stopped(by_hand=True), immediate=stopped(by_hand=False)),
            category_holds=[category_hold("like", "complaints", NOW)],
            templates=NOTHING_PUSHED,
            pushed=[],
        ),
        queues={"ingest": 0},
        dead={"generate-dead": 1},
        quarantine=1,
        alarms=[],
        layers=[],
    )


def commands(stage: str) -> list[str]:
    return [each.command for each in lines(seen(stage)) if each.command]


def test_each_overview_command_names_its_stage() -> None:
    told = commands("test")
    assert len(told) == 13
    assert {each for each in told if not each.endswith(" --stage test")} == set()
    assert [f"{each} --stage test" for each in commands("prod")] == told


def test_each_doctor_command_names_its_stage() -> None:
    streams = Streams(digest=stopped(by_hand=True), immediate=stopped(by_hand=False))
    found = [
        check_sending({"EnforcementStatus": "PROBATION"}, "test"),
        check_dead_letters("failed", {"ApproximateNumberOfMessages": "1"}, stage="test"),
        check_dead_letters("quarantine", {"ApproximateNumberOfMessages": "1"}, stage="test"),
        *check_breakers(streams, stage="test"),
    ]
    for each in found:
        (command,) = re.findall(r"`(gazette [^`]+)`", each.todo)
        assert command.endswith(" --stage test")


def leaves(command: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each command of the program, with its words."""
    if not hasattr(command, "commands"):
        yield path.strip(), command
        return
    for name, each in command.commands.items():
        yield from leaves(each, f"{path} {name}")


def test_only_commands_with_the_option_get_a_stage() -> None:
    without = {
        path
        for path, command in leaves(get_command(app))
        if not any("--stage" in each.opts for each in command.params)
    }
    assert without == set(WITHOUT_STAGE)
    for path in without:
        assert aimed(f"Run `gazette {path} x`.", stage="test") == f"Run `gazette {path} x`."


def test_restore_deployment_command_names_its_stage() -> None:
    assert aimed(f"`{PUT_BACK}` does.", stage="test") == f"`{PUT_BACK} -c stage=test` does."
    assert aimed(f"`{PUT_BACK}` does.", stage="prod") == f"`{PUT_BACK} -c stage=prod` does."


def test_each_forecast_command_names_its_stage() -> None:
    key = RunKey("ann", "daily", 17)
    letter = DeadLetter(KNOWN[0], "ann-daily-17", NOW, 6, key)
    stopped_now = Forecast(
        Redrive.WAITS,
        Run(key=key, due_at=NOW, check_at=NOW, attempt=1),
        waiting_for=WaitingFor.SENDING_RESUMED,
        again_at=NOW,
    )
    tables = Tables("test", lambda *_: stopped_now, lambda _: None)
    _, why = tables.answer(letter)
    assert re.findall(r"`(gazette [^`]+)`", why) == ["gazette sending status --stage test"]


def test_notes_and_errors_name_the_stage_of_the_running_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    @one_line_errors(stage="test")
    def refuse() -> None:
        note("`gazette explain USER` says why.")
        raise NotPossible("`gazette batch list` lists them.")

    with pytest.raises(typer.Exit):
        refuse()
    note("`gazette explain USER` says why.")
    assert capsys.readouterr().err.splitlines() == [
        "`gazette explain USER --stage test` says why.",
        "gazette: `gazette batch list --stage test` lists them.",
        "`gazette explain USER` says why.",
    ]


def test_commands_suggested_in_errors_name_the_stage() -> None:
    wrong = ["dlq", "redrive", "failed", "--run", "x", "--stage", "test"]
    told = CliRunner().invoke(app, wrong).stderr
    assert "`gazette dlq show --stage test`" in told
    assert "`gazette explain --stage test`" in told


def test_stage_option_is_added_once_and_omitted_for_the_default() -> None:
    assert to_run("dlq list", stage="prod") == "gazette dlq list"
    assert aimed("`gazette dlq list --stage test`", stage="test") == (
        "`gazette dlq list --stage test`"
    )
    assert aimed("It has no command.", stage="test") == "It has no command."
