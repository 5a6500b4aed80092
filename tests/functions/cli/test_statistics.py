"""`gazette statistics` on moto: what became of the emails of a stage."""

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol

import boto3
import pytest
from gazette.adapters.dynamodb.control.experiments import DynamoExperiments
from gazette.adapters.dynamodb.control.template_versions import DynamoTemplateVersions
from gazette.adapters.dynamodb.feedback.statistics import DynamoEngagements
from gazette.adapters.dynamodb.runs import DynamoRuns
from gazette.domain.delivery.run import Reason, Status
from gazette.domain.feedback.delivery_events import EngagementEvent
from gazette.domain.feedback.experiment import experiment, variant_of
from gazette.domain.model import RunKey
from gazette.domain.scheduling.calendar import SLOT
from gazette.domain.templates.versions import Version
from gazette.settings.feedback import FeedbackSettings
from gazette.settings.ranges import RANGES
from rich.console import Console
from typer.testing import CliRunner, Result

from gazette_cli.main import app
from gazette_cli.shared import answers
from gazette_cli.statistics import command, periods
from gazette_support.domain.templates.changes import Changed, pushed, taken_back
from tests.builders import NOW, a_run
from tests.functions.conftest import Cloud
from tests.functions.deployed import deploy
from tests.shapes import check, fields_of

RETENTION = timedelta(days=180)
SLOT_ID = "2026-11-22T07:00Z"
READS = {("engagement", "Query"), ("runs", "Query"), ("control", "Query")}
SUBJECTS = experiment("subjects", {1: 1, 2: 1}, NOW)


@pytest.fixture
def stage(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cloud]:
    """The command finds the tables in the settings of feedback alone, and only reads."""
    deploy("feedback", FeedbackSettings.from_env().to_env())
    monkeypatch.setattr(command, "now", lambda: NOW + timedelta(minutes=20))
    monkeypatch.setattr(periods, "_BEFORE", SLOT)
    cloud.meter.clear()
    yield cloud
    assert cloud.meter.actions["owner"] <= READS


def run(cloud: Cloud, *arguments: str) -> Result:
    with cloud.meter.acting("owner"):
        return CliRunner().invoke(app, ["statistics", *arguments])


class Put(Protocol):
    """Stores an email of the experiment with its delivery events."""

    def __call__(
        self,
        reader: str,
        *events: str,
        schedule: str = "daily",
        due_at: datetime = NOW,
        number: int = 1,
        templates: int = 0,
    ) -> None: ...


@pytest.fixture
def put(stage: Cloud) -> Put:
    """Writes to the table."""
    engagements = DynamoEngagements("engagement", retention=RETENTION)

    def note(
        reader: str,
        *events: str,
        schedule: str = "daily",
        due_at: datetime = NOW,
        number: int = 1,
        templates: int = 0,
    ) -> None:
        email = replace(
            a_run(),
            key=RunKey(reader, schedule, number),
            due_at=due_at,
            locale="de",
            categories=("comment", "like"),
            variant=variant_of(reader, SUBJECTS),
            templates=templates,
        )
        for event in events or ("sent",):
            engagements.record(email, EngagementEvent(event), due_at)

    return note


def lines(result: Result, section: str) -> list[dict[str, str]]:
    """The rows of a section of what was piped."""
    assert result.exit_code == 0, result.output
    rows = [line.split("\t") for line in result.stdout.splitlines()]
    header, *found = [cells for name, *cells in rows if name == section]
    return [dict(zip(header, cells, strict=True)) for cells in found]


def line(result: Result, group: str, value: str = "") -> dict[str, str]:
    """The line of one value in the output."""
    (found,) = (
        each for each in lines(result, "emails") if (each["group"], each["value"]) == (group, value)
    )
    return found


def test_batch_statistics_are_grouped_by_every_dimension(stage: Cloud, put: Put) -> None:
    put("ann", "delivered", "clicked")
    put("bo", "delivered", schedule="weekly")
    put("cy", "bounced")
    put("di", schedule="now5f1c")
    put("ed", "delivered", due_at=NOW + SLOT)
    told = run(stage, "--batch", SLOT_ID)
    total = line(told, "total")
    assert (total["sent"], total["delivered"], total["bounced"]) == ("4", "2", "1")
    assert (total["unconfirmed"], total["delivered_rate"]) == ("1", "0.500000")
    assert (total["clicked"], total["clicked_rate"]) == ("1", "0.333333")
    assert (total["opened"], total["opened_rate"]) == ("", "")
    assert line(told, "frequency", "immediate")["unconfirmed"] == "1"
    assert line(told, "frequency", "weekly")["delivered"] == "1"
    assert line(told, "category", "like")["sent"] == "4"
    assert line(told, "locale", "de")["sent"] == "4"
    in_variations = [each for each in lines(told, "emails") if each["group"] == "variation"]
    assert sum(int(each["sent"]) for each in in_variations) == 4
    assert lines_named(told, "readers") == []


def lines_named(result: Result, section: str) -> list[str]:
    """The lines of a section, with its header, if there are any."""
    return [each for each in result.stdout.splitlines() if each.startswith(f"{section}\t")]


def test_digest_without_reports_is_reported(stage: Cloud, put: Put) -> None:
    runs = DynamoRuns("runs", retention=RETENTION)
    sent = replace(a_run(), status=Status.SENT, reason=Reason.ACCEPTED)
    for reader in ("ann", "bo"):
        runs.create(replace(sent, key=RunKey(reader, "daily", 1)))
    put("ann", "delivered")
    put("di", schedule="now5f1c")
    told = run(stage, "--batch", SLOT_ID)
    assert "1 sent digests have no delivery event yet." in told.stderr


@pytest.mark.long
def test_experiment_statistics_compare_readers_and_state_a_verdict(
    stage: Cloud, put: Put, tmp_path: Path
) -> None:
    DynamoExperiments("control").start(SUBJECTS)
    for number in range(30):
        reader = f"reader{number}"
        clicks = variant_of(reader, SUBJECTS).variation == 2 and number % 4
        for email in (1, 2):
            put(reader, "clicked" if clicks else "delivered", number=email)
    file = tmp_path / "subjects.csv"
    told = run(stage, "--experiment", "subjects", "--csv", str(file))
    first, second, *others = lines(told, "readers")
    assert (first["outcome"], first["variation"], first["did"]) == ("clicked", "1", "0")
    assert int(first["readers"]) + int(second["readers"]) == 30
    assert 0 < float(second["low"]) < float(second["share"]) < float(second["high"]) < 1
    assert second["verdict"].endswith("percentage points more readers clicked")
    assert [each["outcome"] for each in others[::2]] == ["unsubscribed", "complained"]
    assert "no significant difference" in others[1]["verdict"]
    assert line(told, "total")["sent"] == "60"
    assert check("statistics", run(stage, "--experiment", "subjects", "--json")) == fields_of(
        "statistics"
    )
    readers = file.with_name("subjects.readers.csv")
    assert list(csv.DictReader(io.StringIO(readers.read_text()))) == lines(told, "readers")
    assert list(csv.DictReader(io.StringIO(file.read_text()))) == lines(told, "emails")


def test_statistics_of_a_stopped_experiment_are_available(stage: Cloud, put: Put) -> None:
    experiments = DynamoExperiments("control")
    experiments.start(SUBJECTS)
    experiments.stop(NOW + timedelta(minutes=5))
    put("ann", "delivered")
    put("bo", "delivered", due_at=NOW + timedelta(days=1))
    told = run(stage, "--experiment", "subjects")
    assert line(told, "total")["sent"] == "1"
    assert lines(told, "readers")[0]["readers"] == "1"


def roll_out(*, until: datetime | None = None) -> None:
    """Version 2 for a part of the readers since NOW, beside version 1."""
    versions = DynamoTemplateVersions("control", ranges=RANGES)
    one, two = (Version(number, f"{number:064x}") for number in (1, 2))

    def change(changed: Changed) -> None:
        assert versions.change(versions.in_force(), *changed)

    change(pushed(versions.in_force(), one, 100, at=NOW - timedelta(days=9), by="ann"))
    change(pushed(versions.in_force(), two, 50, at=NOW, by="ann"))
    if until:
        change(taken_back(versions.in_force(), at=until, by="ann"))


@pytest.mark.long
def test_rollout_statistics_compare_candidate_and_remaining_readers(stage: Cloud, put: Put) -> None:
    with stage.meter.acting("somebody else"):
        roll_out()
    for number in range(40):
        put(f"one{number}", "delivered", templates=1)
        put(f"two{number}", "delivered", *["unsubscribed"] * (number < 20), templates=2)
    put("old", "delivered", templates=0)
    told = run(stage, "--rollout", "2")
    assert line(told, "total")["sent"] == "80"
    assert line(told, "templates", "version 2")["sent"] == "40"
    found = {
        (each["outcome"], each["version"]): (each["readers"], each["did"])
        for each in lines(told, "readers")
    }
    assert found["unsubscribed", "2"] == ("40", "20")
    assert found["unsubscribed", "1"] == ("40", "0")
    document = json.loads(run(stage, "--rollout", "2", "--json").stdout)
    assert document["title"].startswith("Version 2 compared with version 1, since 2026-11-22 07:03")
    first, *_ = document["verdicts"]
    assert first.startswith("unsubscribed: version 2 compared with 1: ")
    assert "percentage points more readers unsubscribed" in first
    assert {each["variation"] for each in document["readers"]} == {None}


def test_readers_with_both_versions_are_reported(stage: Cloud, put: Put) -> None:
    with stage.meter.acting("somebody else"):
        roll_out()
    put("ann", "delivered", templates=1)
    put("ann", "delivered", templates=2, number=2, due_at=NOW + SLOT)
    put("bo", "delivered", templates=2)
    notes = json.loads(run(stage, "--rollout", "2", "--json").stdout)["notes"]
    assert any("version that they got first (1 in total)" in each for each in notes)


def test_statistics_are_grouped_by_template_version(stage: Cloud, put: Put) -> None:
    put("ann", "delivered", templates=2)
    put("bo", "delivered")
    told = run(stage, "--batch", SLOT_ID)
    assert line(told, "templates", "version 2")["sent"] == "1"
    assert line(told, "templates", "deployed")["sent"] == "1"


def test_default_statistics_cover_the_current_week(
    stage: Cloud, put: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    monday = datetime(2026, 11, 23, tzinfo=UTC)
    monkeypatch.setattr(command, "now", lambda: monday + timedelta(minutes=15))
    put("ann", "delivered", due_at=monday - timedelta(minutes=1))
    put("bo", "delivered", due_at=monday)
    put("cy", "bounced", due_at=monday + timedelta(minutes=15))
    total = line(run(stage), "total")
    assert (total["sent"], total["delivered"], total["bounced"]) == ("2", "1", "1")
    assert run(stage, "--week", "2026-W48").stdout == run(stage).stdout


def test_statistics_page_is_also_written(stage: Cloud, put: Put, tmp_path: Path) -> None:
    put("ann", "delivered")
    file = tmp_path / "report.html"
    assert run(stage, "--batch", SLOT_ID, "--html", str(file)).exit_code == 0
    assert "<h1>Emails due in the slot 2026-11-22T07:00Z</h1>" in file.read_text()


def test_terminal_shows_statistics_tables_with_explanations(
    stage: Cloud, put: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    put("ann", "delivered", "clicked")
    screen = io.StringIO()
    monkeypatch.setattr(
        answers, "Console", lambda: Console(file=screen, force_terminal=True, width=120)
    )
    run(stage, "--batch", SLOT_ID)
    shown = screen.getvalue()
    assert "1 100.0%" in shown
    assert "not tracked. A stage tracks opened" in shown
    assert "Traceback" not in shown


def test_statistics_without_reports_say_so(stage: Cloud) -> None:
    told = run(stage, "--batch", SLOT_ID)
    assert told.exit_code == 0
    assert len(told.stdout.splitlines()) == 1
    assert "There are no delivery events yet" in told.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("--batch", "tomorrow"),
            "--batch 'tomorrow' is not a batch. Specify the slot of a batch in UTC",
        ),
        (
            ("--batch", "0001-01-01T00:00+14:00"),
            "is not a batch. Specify the slot of a batch in UTC",
        ),
        (("--batch", "2026-11-22T06:10"), "--batch '2026-11-22T06:10' is not a batch"),
        (("--week", ""), "--week '' is not an ISO 8601 week. Specify a week such as 2026-W47."),
        (("--week", "47"), "--week '47' is not an ISO 8601 week. Specify a week such as 2026-W47."),
        (("--week", "2026-W54"), "--week '2026-W54' is not an ISO 8601 week"),
        (
            ("--week", "2026-W48"),
            "--week 2026-W48 is in the future. Specify a week up to 2026-W47.",
        ),
        (("--experiment", "x"), "--experiment 'x' never ran. Past experiments: none."),
        (("--batch", "a", "--week", "b"), "--batch and --week cannot be used together"),
        (("--csv", "/no/such/file"), "--csv /no/such/file: folder /no/such does not exist"),
        (("--html", "/"), "--html / is a folder. Specify a file."),
    ],
)
def test_invalid_statistics_request_is_reported_on_a_single_line(
    stage: Cloud, arguments: tuple[str, ...], said: str
) -> None:
    refused = run(stage, *arguments)
    assert refused.exit_code == 2
    assert refused.stdout == ""
    assert said in refused.stderr
    assert len(refused.stderr.splitlines()) == 1


def test_denied_aws_request_is_reported_in_words(stage: Cloud) -> None:
    boto3.client("dynamodb").delete_table(TableName="engagement")
    refused = run(stage, "--batch", SLOT_ID)
    assert refused.exit_code == 2
    assert (
        "At least one of the tables of stage prod does not exist. Check --stage" in refused.stderr
    )
    assert "Traceback" not in refused.stderr
