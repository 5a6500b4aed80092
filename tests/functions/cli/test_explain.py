"""`gazette explain` on moto: from the name of a stage to the answer."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from typing import Any, NoReturn
from zoneinfo import ZoneInfo

import boto3
import pytest
from botocore.client import BaseClient
from botocore.exceptions import ClientError, NoCredentialsError, ReadTimeoutError
from gazette.bootstrap.support import explain as bootstrap
from gazette.settings.delivery import GenerateSettings
from gazette.settings.ingest import IngestSettings
from gazette.steps.support.words.sections import RUN
from rich.console import Console
from typer.testing import CliRunner, Result

from gazette_cli.main import app
from gazette_cli.shared import answers
from tests.functions.conftest import Cloud, fan_out
from tests.functions.deployed import deploy
from tests.functions.failing import denied
from tests.functions.messages import event, follow, profile
from tests.moto_tables import NAMES

SECONDS = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"
BERLIN = ZoneInfo("Europe/Berlin")
READS = {
    ("subscribers", "GetItem"),
    ("suppressions", "GetItem"),
    ("schedules", "Query"),
    ("runs", "Query"),
    ("events", "Query"),
    ("follows", "Query"),
    ("follows", "BatchGetItem"),
    ("control", "Query"),
    ("control", "GetItem"),
}


@pytest.fixture
def stage(cloud: Cloud) -> Cloud:
    """The functions ingest and generate, with the settings that the stack would write."""
    deploy("ingest", IngestSettings.from_env().to_env())
    deploy("generate", GenerateSettings.from_env().to_env())
    return cloud


@contextmanager
def refused(operation: str, err: str | Exception) -> Iterator[None]:
    """Every call of `operation` fails, with a code of AWS or an error of the SDK."""

    def fail() -> NoReturn:
        if isinstance(err, Exception):
            raise err
        raise ClientError({"Error": {"Code": err, "Message": "no"}}, operation)

    with instead(operation, fail):
        yield


@contextmanager
def instead(operation: str, act: Callable[[], dict[str, Any]]) -> Iterator[None]:
    """Every call of `operation` is answered by `act`.

    Undone before the meter of `cloud` is, which was there before: the other way round the meter
    would stay.
    """
    real: Any = BaseClient._make_api_call  # type: ignore[attr-defined]

    def call(client: BaseClient, name: str, arguments: dict[str, Any]) -> Any:
        return act() if name == operation else real(client, name, arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BaseClient, "_make_api_call", call)
        yield


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["explain", *arguments])


def rows(result: Result) -> dict[str, list[list[str]]]:
    """The lines of the answer by their section."""
    assert (result.exit_code, result.stderr) == (0, "")
    found: dict[str, list[list[str]]] = {}
    for line in result.stdout.splitlines():
        section, *cells = line.split("\t")
        found.setdefault(section, []).append(cells)
    return found


@pytest.mark.usefixtures("later")
def test_digest_is_explained_from_event_to_message_id(stage: Cloud) -> None:
    stage.say("subscriber.changed", profile(frequencies={"like": "never"}))
    stage.say("event.created", event(1), event(2))
    stage.work("generate", *fan_out(stage))
    told = rows(run("ann"))
    (sent,) = told["run"]
    message_id = sent[RUN.index("message id")]
    assert message_id
    assert sent[RUN.index("run")] == "ann-daily-1"
    assert re.fullmatch(
        rf"created {SECONDS}, claimed {SECONDS}, sent {SECONDS} UTC \(.* after it was due\)",
        sent[RUN.index("times")],
    )
    assert sent[RUN.index("covers")] == "comment: 2 events"
    assert (
        f"was sent: the provider accepted the email (message id {message_id}) at "
        in told["answer"][0][0]
    )
    assert [row[:2] for row in told["schedule"]] == [["daily", "every day at 08:10"]] * 3
    assert [row[:2] for row in told["choice"]] == [["comment", "daily"], ["like", "never (muted)"]]
    assert ["time zone", "Europe/Berlin"] in told["reader"]


def test_waiting_events_are_explained_without_a_profile(stage: Cloud) -> None:
    stage.say("event.created", event(1))
    told = rows(run("ann"))
    assert told["answer"][0][0].startswith("Gazette has no profile for ann")
    assert told["answer"][1] == [
        "1 event is waiting for this profile. Publish the profile to send it."
    ]
    (waiting,) = told["waiting"]
    assert waiting[:3] == ["the profile", "comment", "1"]


@pytest.mark.usefixtures("later")
def test_date_shows_only_the_runs_of_that_date(stage: Cloud) -> None:
    stage.say("subscriber.changed", profile(frequencies={"comment": "immediate"}))
    stage.say("event.created", event(1))
    (entry,) = stage.queued("immediate")
    stage.work("generate", entry["MessageBody"])
    due = datetime.fromisoformat(stage.rows("runs")[0]["due_at"]).astimezone(BERLIN).date()
    (sent,) = rows(run("ann", due.isoformat()))["run"]
    assert sent[RUN.index("email")] == "the immediate email about post#p1"
    before = rows(run("ann", (due - timedelta(days=1)).isoformat()))
    assert "run" not in before
    assert before["answer"][0][0].startswith("No email was sent on ")


def test_date_without_waiting_events_shows_the_period(
    stage: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.say("subscriber.changed", profile())
    stage.arm("ann")
    assert fan_out(stage) == []
    (ended,) = stage.rows("runs")
    due = datetime.fromisoformat(ended["due_at"])
    then = due + timedelta(days=2, hours=7)
    monkeypatch.setattr(bootstrap, "now", lambda: then)
    on = (due + timedelta(days=1)).astimezone(BERLIN).date()
    told = rows(run("ann", on.isoformat()))
    since, until = (
        f"{at.astimezone(BERLIN):%a %Y-%m-%d %H:%M} ({at:%Y-%m-%d %H:%M} UTC)" for at in (due, then)
    )
    assert told["answer"] == [
        [f"No email was sent on {on}, because no run was due."],
        [f"No event was waiting for the daily digest between {since} and {until}."],
    ]
    assert (
        told["schedule"][0][2]
        == "only if an event arrives before the due time; no event is waiting"
    )
    assert "run" not in told


@pytest.mark.usefixtures("later")
def test_explain_shows_neither_address_nor_content(stage: Cloud) -> None:
    stage.say("subscriber.changed", profile())
    stage.say("event.created", event(1))
    stage.work("generate", *fan_out(stage))
    stage.say("event.created", event(2))
    for result in (run("ann"), CliRunner().invoke(app, ["explain", "ann"], color=True)):
        for unwanted in ("example.com", "Title of", "User 1", "xxx"):
            assert unwanted not in result.output


def test_explain_only_reads(stage: Cloud) -> None:
    stage.say("subscriber.changed", profile())
    stage.say("follow.created", follow())
    stage.say("event.created", event(1))
    before = {table: stage.rows(table) for table in NAMES.values()}
    with stage.meter.acting("an operator"):
        assert run("ann").exit_code == 0
    assert stage.meter.actions["an operator"] == READS
    assert {table: stage.rows(table) for table in NAMES.values()} == before


def test_terminal_shows_the_answer_first_and_then_tables(
    stage: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "Console", partial(Console, force_terminal=True, width=100))
    stage.say("subscriber.changed", profile())
    stage.say("event.created", event(1))
    shown = run("ann").stdout
    assert "\t" not in shown
    assert "No email has been due yet." in shown.splitlines()[0]
    assert "No runs." in shown
    assert "│ daily    │ every day at 08:10 │" in shown
    assert shown.count("every day at 08:10") == 1, "what repeats is left empty"


@pytest.mark.usefixtures("later")
def test_terminal_shows_a_run_as_a_block(stage: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "Console", partial(Console, force_terminal=True, width=100))
    stage.say("subscriber.changed", profile())
    stage.say("event.created", event(1))
    stage.work("generate", *fan_out(stage))
    shown = run("ann").stdout
    for part in ("ann-daily-1", "sent: accepted", "covers: comment: 1 event", "message id: "):
        assert part in shown
    assert "provider's code" not in shown, "there is none"


@pytest.mark.parametrize(
    "day", ["21.11.2026", "2026-13-01", "today", "", "0001-01-01", "2026-11-21T08:00", "9999-12-31"]
)
def test_invalid_date_is_reported_on_a_single_line_with_the_format(day: str) -> None:
    result = run("ann", day)
    assert (result.exit_code, result.stdout) == (2, "")
    assert repr(day) in result.stderr
    assert "YYYY-MM-DD, such as 2026-11-21" in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("user", ["", "two words", "x" * 65, "Größe", "a\x1b[31m"])
def test_invalid_user_id_is_reported_on_a_single_line(user: str) -> None:
    result = run(user)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "is not a valid user id" in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert "\x1b" not in result.stderr


def test_explain_reports_a_missing_stage_on_a_single_line(stage: Cloud) -> None:
    result = run("ann", "--stage", "nowhere")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        "gazette: Function gazette-nowhere-ingest does not exist. Check --stage, the account and "
        "the region.\n"
    )


def test_settings_of_another_version_are_reported_on_a_single_line(cloud: Cloud) -> None:
    variables = IngestSettings.from_env().to_env()
    del variables["GAZETTE_COLLAPSE"]
    deploy("ingest", variables)
    result = run("ann")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "GAZETTE_COLLAPSE is not set" in result.stderr
    assert "Use the command of that version, or deploy this version" in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.usefixtures("stage")
def test_missing_table_is_reported_on_a_single_line() -> None:
    boto3.client("dynamodb").delete_table(TableName="runs")
    result = run("ann")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        "gazette: At least one of the tables of stage prod does not exist. Check --stage, the "
        "account and the region.\n"
    )


@pytest.mark.parametrize(
    ("operation", "err", "said"),
    [
        ("GetFunctionConfiguration", NoCredentialsError(), "There are no AWS credentials"),
        (
            "GetFunctionConfiguration",
            "AccessDeniedException",
            "need lambda:GetFunctionConfiguration on gazette-prod-ingest",
        ),
        ("GetFunctionConfiguration", "ExpiredTokenException", "Log in, or set AWS_PROFILE"),
        ("GetItem", "AccessDeniedException", "need dynamodb:GetItem on the tables of stage prod"),
        ("Query", "AccessDeniedException", "need dynamodb:Query on the tables of stage prod"),
        ("Query", "InternalServerError", "AWS rejected Query on the tables of stage prod"),
        ("Query", ReadTimeoutError(endpoint_url="dynamodb"), "AWS does not respond"),
    ],
)
def test_explain_reports_a_denied_request_with_a_remedy(
    stage: Cloud, operation: str, err: str | Exception, said: str
) -> None:
    with refused(operation, err):
        result = run("ann")
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_settings_that_cannot_be_decrypted_are_reported_on_a_single_line(stage: Cloud) -> None:
    error = {"ErrorCode": "AccessDeniedException", "Message": "no"}
    with instead("GetFunctionConfiguration", lambda: {"Environment": {"Error": error}}):
        result = run("ann")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "(AccessDeniedException). Your credentials need kms:Decrypt" in result.stderr


@pytest.mark.usefixtures("stage")
def test_unreadable_category_holds_are_an_error_for_explain() -> None:
    with denied("Query", "control"):
        result = run("ann")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Your credentials need dynamodb:Query on the tables of stage prod" in result.stderr


def test_function_without_settings_is_reported_as_another_version(stage: Cloud) -> None:
    with instead("GetFunctionConfiguration", dict):
        result = run("ann")
    assert result.exit_code == 2
    assert "was deployed from a different version" in result.stderr


def test_reader_whom_the_list_of_the_stage_omits_is_named(cloud: Cloud) -> None:
    allowed = {"GAZETTE_ALLOWED_RECIPIENTS": '["@shop.example"]'}
    deploy("ingest", IngestSettings.from_env().to_env())
    deploy("generate", {**GenerateSettings.from_env().to_env(), **allowed})
    cloud.say("subscriber.changed", profile(), profile("bo", email="bo@shop.example"))
    result = run("ann")
    assert result.exit_code == 0
    assert "The stage does not send to their address" in result.stdout
    assert "allowed_recipients" not in run("bo").stdout
