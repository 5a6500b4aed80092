"""`gazette import` on moto: what it says before, meanwhile and afterwards."""

import json
import re
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.client import BaseClient
from botocore.exceptions import ClientError
from gazette.adapters.aws.dead_letters import queues as sqs_queues
from gazette.adapters.aws.queues import SqsQuarantine
from gazette.settings.feedback import FeedbackSettings
from gazette.settings.ingest import IngestSettings
from typer.testing import CliRunner, Result

from gazette_cli.imports import pacing, putting
from gazette_cli.imports.display import Display
from gazette_cli.imports.items import DETAIL_TYPES, Kind
from gazette_cli.imports.state import read_state, state_path
from gazette_cli.main import app
from tests.functions.conftest import Cloud
from tests.functions.deployed import deploy
from tests.unit.imports.files import SINCE, follow, reader, suppression, write

PAGE = Path(__file__).parents[3] / "docs" / "migration.md"


class Stage:
    """The stage `prod`, and the entries on its bus."""

    def __init__(self, cloud: Cloud) -> None:
        self.cloud = cloud
        self.sqs = boto3.client("sqs")
        self.quarantine = self.sqs.create_queue(QueueName="gazette-prod-quarantine")["QueueUrl"]
        self.sqs.create_queue(QueueName="gazette-prod-ingest")

    @property
    def put(self) -> list[tuple[str, int]]:
        """The detail type and the number of items of each entry."""
        entries = [
            entry
            for name, request in self.cloud.meter.requests
            if name == "events.PutEvents"
            for entry in request["Entries"]
        ]
        return [(entry["DetailType"], _items(json.loads(entry["Detail"]))) for entry in entries]


def _items(detail: dict[str, Any]) -> int:
    (field,) = {"subscribers", "follows"} & detail.keys() or {""}
    return len(detail.get(field, [detail]))


@pytest.fixture
def stage(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> Stage:
    deploy("feedback", FeedbackSettings.from_env().to_env())
    deploy("ingest", IngestSettings.from_env().to_env())
    monkeypatch.setattr(sqs_queues, "POLL", 0)  # moto would sleep, and has one server only
    monkeypatch.setattr(pacing, "COUNTED_AFTER", 0)
    monkeypatch.setattr(pacing, "BETWEEN_LOOKS", 0)
    found = Stage(cloud)
    cloud.meter.clear()
    return found


def run(*arguments: str, said: str | None = None) -> Result:
    return CliRunner().invoke(app, ["import", *arguments], input=said)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    people = [reader(number) for number in range(250)]
    return write(tmp_path / "readers.ndjson", *people, follow(1), suppression(1), suppression(2))


def test_check_tells_counts_cost_and_duration_and_puts_nothing(stage: Stage, file: Path) -> None:
    done = run("check", str(file))
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[:3] == ["suppressions: 2", "profiles: 250", "follows: 1"]
    assert lines[3].startswith("cost: $0.0")
    assert lines[4] == "duration: about 1 minutes, limited by the concurrency of ingest"
    assert not stage.cloud.meter.calls
    assert [each.name for each in file.parent.iterdir()] == [file.name]


def test_invalid_file_is_reported_as_a_whole_and_nothing_is_put(
    stage: Stage, tmp_path: Path
) -> None:
    file = write(tmp_path / "f", *(reader(each, email="") for each in range(30)), suppression(1))
    done = run(str(file), "--yes")
    assert done.exit_code == 1
    assert "line 1: subscriber.email: must be one email address" in done.stderr
    assert "line 21" not in done.stderr
    assert "30 problems. No item was imported." in done.stderr
    errors = file.with_name("f.errors").read_text().splitlines()
    assert len(errors) == 30
    assert not stage.cloud.meter.calls
    assert not state_path(file).exists()


def test_file_is_imported_in_lists_and_suppressions_first(stage: Stage, file: Path) -> None:
    done = run("run", str(file), "--yes", "--rate", "100000")
    assert done.exit_code == 0, done.output
    assert done.stdout == (
        "imported into stage prod: 2 of 2 suppressions, 250 of 250 profiles, 1 of 1 follows\n"
    )
    assert stage.put == [
        *[("subscriber.changed", 100)] * 2,
        ("subscriber.changed", 50),
        ("follow.created", 1),
    ]
    names = [name for name, _ in stage.cloud.meter.requests]
    last_suppression = max(n for n, name in enumerate(names) if name == "dynamodb.UpdateItem")
    assert last_suppression < names.index("events.PutEvents")
    assert len(stage.cloud.rows("suppressions")) == 2


def test_import_waits_for_messages_that_ingest_is_processing(
    stage: Stage, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = stage.sqs.get_queue_url(QueueName="gazette-prod-ingest")["QueueUrl"]
    stage.sqs.send_message(QueueUrl=url, MessageBody="a list of profiles")
    (message,) = stage.sqs.receive_message(QueueUrl=url)["Messages"]
    counts: list[int] = []

    def waiting(_: Display, messages: int) -> None:
        counts.append(messages)
        if messages:
            with stage.cloud.meter.acting("somebody else"):
                stage.sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])

    monkeypatch.setattr(Display, "waiting", waiting)
    assert run("run", str(file), "--yes").exit_code == 0
    assert counts == [1]


def test_import_that_is_interrupted_while_it_waits_for_ingest_continues(
    stage: Stage, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(pacing, "COUNTED_AFTER", 60)
    with monkeypatch.context() as patched:
        patched.setattr(Display, "waiting", interrupted)
        assert run("run", str(file), "--yes").exit_code == 130
    monkeypatch.setattr(pacing, "COUNTED_AFTER", 0)
    stage.cloud.meter.clear()
    assert run("run", str(file), "--yes").exit_code == 0
    assert not stage.put


def test_import_asks_before_it_puts(stage: Stage, file: Path) -> None:
    done = run("run", str(file), said="n\n")
    assert done.exit_code == 1
    assert "cost: $" in done.stderr
    assert not stage.cloud.meter.calls
    assert not state_path(file).exists()


def test_finished_import_is_not_repeated(stage: Stage, file: Path) -> None:
    assert run("run", str(file), "--yes").exit_code == 0
    stage.cloud.meter.clear()
    again = run("run", str(file), "--yes")
    assert again.exit_code == 2
    assert f"To import it again, delete {state_path(file)}." in again.stderr
    assert not stage.put


def test_changed_file_begins_anew(stage: Stage, file: Path) -> None:
    assert run("run", str(file), "--yes").exit_code == 0
    stage.cloud.meter.clear()
    write(file, reader(1))
    assert run("run", str(file), "--yes").exit_code == 0
    assert stage.put == [("subscriber.changed", 1)]


@pytest.mark.usefixtures("stage")
def test_ctrl_c_ends_with_one_line_and_continues_later(
    stage: Stage, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(putting, "A_CHUNK", 100)
    original: Any = BaseClient._make_api_call  # type: ignore[attr-defined] # as botocore has it
    puts: list[str] = []

    def interrupted(client: BaseClient, operation: str, request: dict[str, Any]) -> Any:
        if operation == "PutEvents":
            puts.append(operation)
            if len(puts) == 2:
                raise KeyboardInterrupt
        return original(client, operation, request)

    with monkeypatch.context() as patched:
        patched.setattr(BaseClient, "_make_api_call", interrupted)
        done = run("run", str(file), "--yes")
    assert done.exit_code == 130
    assert "Interrupted: 2 of 2 suppressions, 100 of 250 profiles, 0 of 1 follows" in done.stderr
    assert "Run the same command to continue" in done.stderr
    assert "Traceback" not in done.output
    state = read_state(state_path(file))
    assert state
    assert state.acknowledged["subscriber"] == 100
    stage.cloud.meter.clear()
    again = run("run", str(file))
    assert again.exit_code == 0, again.output
    assert "Continuing the import" in again.stderr
    assert stage.put == [
        ("subscriber.changed", 100),
        ("subscriber.changed", 50),
        ("follow.created", 1),
    ]


def test_refused_items_end_the_import_with_the_reason(
    stage: Stage, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original: Any = BaseClient._make_api_call  # type: ignore[attr-defined] # as botocore has it

    def denied(client: BaseClient, operation: str, request: dict[str, Any]) -> Any:
        if operation == "PutEvents":
            error: Any = {"Code": "AccessDeniedException", "Message": "no identity-based policy"}
            raise ClientError({"Error": error}, operation)
        return original(client, operation, request)

    with monkeypatch.context() as patched:
        patched.setattr(BaseClient, "_make_api_call", denied)
        done = run("run", str(file), "--yes")
    assert done.exit_code == 2
    assert "250 items were not published to the bus gazette: AccessDeniedException" in done.stderr
    assert "run the same command to continue" in done.stderr
    assert stage.cloud.meter.calls["events.PutEvents"] == 0


def test_rejected_items_are_told_by_reason(stage: Stage, file: Path) -> None:
    quarantine = SqsQuarantine(stage.sqs, stage.quarantine)
    for number in range(12):
        quarantine.keep(json.dumps({"source": "gazette.import", "n": number}), "detail.a: wrong")
    quarantine.keep(json.dumps({"source": "shop.comments"}), "of another service")
    quarantine.keep("no event", "not JSON")
    done = run("run", str(file), "--yes", "--json")
    assert done.exit_code == 1
    found = json.loads(done.stdout)
    assert found["quarantined"] == [{"reason": "detail.a: wrong", "messages": 12}]
    assert (found["suppressions"], found["profiles"], found["follows"]) == (2, 250, 1)


def test_times_without_a_date_come_from_the_option(stage: Stage, tmp_path: Path) -> None:
    line = reader(1)
    del line["subscriber"]["changed_at"]
    file = write(tmp_path / "f", line)
    assert run("run", str(file), "--yes").exit_code == 1
    assert run("run", str(file), "--yes", "--changed-at", SINCE).exit_code == 0
    assert stage.put == [("subscriber.changed", 1)]
    assert SINCE in str(stage.cloud.meter.requests)


def test_verify_finds_what_is_missing(stage: Stage, tmp_path: Path) -> None:
    file = write(
        tmp_path / "f",
        *(reader(each) for each in range(4)),
        *(follow(each) for each in range(3)),
        *(suppression(1), suppression(2)),
    )
    stage.cloud.say("subscriber.changed", reader(0)["subscriber"])
    stage.cloud.say(
        "subscriber.changed", reader(1, changed_at="2026-10-01T00:00:00Z")["subscriber"]
    )
    stage.cloud.say("subscriber.changed", reader(2, email="other@example.com")["subscriber"])
    stage.cloud.say("follow.created", follow(0)["follow"])
    stage.cloud.say("follow.created", follow(1, changed_at="2026-10-01T00:00:00Z")["follow"])
    run_suppression = CliRunner().invoke(app, ["suppression", "add", "gone1@example.com"])
    assert run_suppression.exit_code == 0
    done = run("verify", str(file), "--json")
    assert done.exit_code == 1
    assert {(each["line"], each["difference"]) for each in json.loads(done.stdout)["missing"]} == {
        (2, "the profile is older: 2026-10-01T00:00:00+00:00"),
        (3, "the address differs"),
        (4, "the reader is unknown"),
        (6, "the follow is older"),
        (7, "the follow is unknown"),
        (9, "the address is not suppressed"),
    }


@pytest.mark.usefixtures("stage")
def test_sample_is_random_and_of_the_size(tmp_path: Path) -> None:
    file = write(tmp_path / "f", *(reader(each) for each in range(200)))
    found = json.loads(run("verify", str(file), "--sample", "20", "--json").stdout)
    assert found["verified"] == 20
    lines = [each["line"] for each in found["missing"]]
    assert lines == sorted(set(lines))
    assert lines != list(range(1, 21))


@pytest.mark.parametrize("command", ["check", "run", "verify"])
@pytest.mark.usefixtures("stage")
def test_missing_file_is_reported_on_one_line(tmp_path: Path, command: str) -> None:
    done = run(command, str(tmp_path / "none"))
    assert done.exit_code == 2
    assert "No such file or directory" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_damaged_state_is_reported_with_a_remedy(stage: Stage, file: Path) -> None:
    state_path(file).write_text("{")
    done = run("run", str(file), "--yes")
    assert done.exit_code == 2
    assert "is not the state of an import" in done.stderr
    assert not stage.put


def test_commands_of_the_migration_page_import_its_example(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = PAGE.read_text()
    (example,) = re.findall(r"```json\n(\{\"subscriber.+?)```", page, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    Path("readers.ndjson").write_text(example)
    commands = [
        line.removeprefix("gazette import ").split()
        for block in re.findall(r"```sh\n(.+?)```", page, re.DOTALL)
        for line in block.splitlines()
        if line.startswith("gazette import ")
    ]
    assert [words[0] for words in commands] == ["check", "run", "verify"]
    for *words, option, name in commands:
        assert [option, name] == ["--stage", "test"], "the commands here are about prod"
        if words[0] == "verify":  # ingest has processed what is on the bus
            for line in map(json.loads, example.splitlines()):
                for kind, detail in line.items():
                    if kind in {"subscriber", "follow"}:
                        stage.cloud.say(DETAIL_TYPES[Kind(kind)], detail)
        done = run(*words)
        assert done.exit_code == 0, (words, done.output)
    assert len(stage.cloud.rows("suppressions")) == 1
