"""`gazette quarantine` on moto: looking changes nothing, and redriving loses nothing."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest
from botocore.client import BaseClient
from botocore.exceptions import ClientError, EndpointConnectionError, NoCredentialsError
from gazette.adapters.aws.dead_letters import queues as sqs_queues
from gazette.adapters.aws.queues import SqsQuarantine
from moto import mock_aws
from typer.testing import CliRunner, Result

from gazette_cli.main import app
from tests.credentials import set_credentials
from tests.functions.messages import delivery_event, delivery_report

BODY = '{"detail-type":  "event.created", "detail": {"id": "ü"}}'


class Sqs:
    """The queues of the stage `prod`."""

    def __init__(self) -> None:
        self.client = boto3.client("sqs")
        self.urls = {
            name: self.client.create_queue(QueueName=f"gazette-prod-{name}")["QueueUrl"]
            for name in ("quarantine", "ingest", "feedback")
        }

    def quarantine(self, *bodies: str, reason: str = "detail.id: must be text") -> None:
        """Quarantine a message, as ingest does."""
        for body in bodies:
            SqsQuarantine(self.client, self.urls["quarantine"]).keep(body, reason)

    def bodies(self, name: str) -> list[str]:
        """The bodies that a receive would return now."""
        found = []
        while messages := self.client.receive_message(
            QueueUrl=self.urls[name], MaxNumberOfMessages=10, VisibilityTimeout=600
        ).get("Messages"):
            found += [message["Body"] for message in messages]
        return sorted(found)


@pytest.fixture
def sqs(monkeypatch: pytest.MonkeyPatch) -> Iterator[Sqs]:
    set_credentials(monkeypatch)
    monkeypatch.setenv("AWS_CONFIG_FILE", "none")
    monkeypatch.setattr(sqs_queues, "POLL", 0)  # moto would sleep, and has one server only
    with mock_aws():
        yield Sqs()


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["quarantine", *arguments])


def refuse(
    monkeypatch: pytest.MonkeyPatch, operation: str, err: BaseException, *, after: int
) -> None:
    """Let the calls of `operation` fail after the first few."""
    real: Any = BaseClient._make_api_call  # type: ignore[attr-defined]
    calls = []

    def call(client: BaseClient, name: str, arguments: dict[str, Any]) -> Any:
        calls.append(name)
        if name == operation and calls.count(operation) > after:
            raise err
        return real(client, name, arguments)

    monkeypatch.setattr(BaseClient, "_make_api_call", call)


def denied(operation: str) -> ClientError:
    return ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, operation)


def test_quarantine_list_shows_time_message_and_reason_per_line(sqs: Sqs) -> None:
    sqs.quarantine(BODY, reason="event.created does not match its schema: " + "x" * 300)
    sqs.quarantine("not json", "[1]", '{"detail-type": "a\\tb\\u001b"}')
    result = run("list")
    assert result.exit_code == 0
    rows = [line.split("\t") for line in result.stdout.splitlines()]
    assert sorted(row[1] for row in rows) == ["(none)", "(not JSON)", "a?b?", "event.created"]
    assert rows[0][1:] == ["event.created", f"event.created does not match its schema: {'x' * 300}"]
    assert {len(row) for row in rows} == {3}


def test_quarantine_list_neither_removes_nor_hides_messages(sqs: Sqs) -> None:
    sqs.quarantine(*(f"m{number}" for number in range(25)))
    assert len(run("list").stdout.splitlines()) == 25
    assert len(sqs.bodies("quarantine")) == 25


def test_quarantine_list_stops_at_its_limit_and_reports_more(sqs: Sqs) -> None:
    sqs.quarantine(*(f"m{number}" for number in range(25)))
    result = run("list", "--limit", "12")
    assert len(result.stdout.splitlines()) == 12
    assert "12 of about 25" in result.stderr


def test_empty_quarantine_is_reported(sqs: Sqs) -> None:
    result = run("list")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "gazette-prod-quarantine is empty.\n"


def test_redrive_moves_every_body_unchanged(sqs: Sqs) -> None:
    bodies = [BODY, *(f"m{number:02}" for number in range(24))]
    sqs.quarantine(*bodies)
    result = run("redrive")
    assert (result.exit_code, result.stdout) == (0, "25 redriven, 0 remaining\n")
    assert sqs.bodies("ingest") == sorted(bodies)
    assert sqs.bodies("quarantine") == []


def test_ses_event_in_quarantine_is_redriven_to_feedback(sqs: Sqs) -> None:
    sqs.quarantine(BODY, delivery_event())
    assert run("redrive").exit_code == 0
    assert sqs.bodies("ingest") == [BODY]
    (found,) = sqs.bodies("feedback")
    assert "ann-daily-1" in found


def test_delivery_report_in_quarantine_is_redriven_to_feedback(sqs: Sqs) -> None:
    reports = [delivery_report("bounced", "x"), delivery_report("sent", "ann-daily-1", source="y")]
    sqs.quarantine(BODY, *reports)
    assert run("redrive").exit_code == 0
    assert (sqs.bodies("ingest"), sqs.bodies("feedback")) == ([BODY], sorted(reports))


def test_redriven_message_that_fails_again_is_not_moved_twice(
    sqs: Sqs, monkeypatch: pytest.MonkeyPatch
) -> None:
    sqs.quarantine("m1", "m2", "m3")
    send = sqs_queues.Queue.send

    def send_and_refuse(queue: sqs_queues.Queue, body: str) -> None:
        send(queue, body)
        sqs.quarantine(body)

    monkeypatch.setattr(sqs_queues.Queue, "send", send_and_refuse)
    result = run("redrive")
    assert (result.exit_code, result.stdout) == (0, "3 redriven, 0 remaining, 3 returned\n")
    assert sqs.bodies("ingest") == ["m1", "m2", "m3"]
    assert sqs.bodies("quarantine") == ["m1", "m2", "m3"]


def test_returned_messages_and_new_arrivals_are_counted_separately(
    sqs: Sqs, monkeypatch: pytest.MonkeyPatch
) -> None:
    sqs.quarantine("m1", "m2", "m3")
    send = sqs_queues.Queue.send

    def send_and_refuse_one(queue: sqs_queues.Queue, body: str) -> None:
        send(queue, body)
        if body == "m2":
            sqs.quarantine(body, "new")

    monkeypatch.setattr(sqs_queues.Queue, "send", send_and_refuse_one)
    result = run("redrive", "--json")
    assert json.loads(result.stdout) == {"moved": 3, "left": 1, "came_back": 1}
    assert "To see the reasons, run `gazette quarantine list`" in result.stderr


def test_redrive_ends_despite_constantly_arriving_messages(
    sqs: Sqs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As long as each receive finds a message that came after the command began."""
    sqs.quarantine("old")
    receive = sqs_queues.Held.receive

    def receive_as_more_comes(held: sqs_queues.Held, **given: Any) -> Any:
        sqs.quarantine("new")
        return receive(held, **given)

    monkeypatch.setattr(sqs_queues.Held, "receive", receive_as_more_comes)
    result = run("redrive")
    assert result.stdout.startswith("1 redriven, ")
    assert sqs.bodies("ingest") == ["old"]


@pytest.mark.parametrize("off_by", [-3600, 3600])
def test_redrive_uses_the_sqs_clock_if_the_local_clock_is_wrong(off_by: int) -> None:
    answer = {"ResponseMetadata": {"HTTPHeaders": {"date": "Sat, 21 Nov 2026 09:30:00 GMT"}}}
    by_sqs = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
    wrong = by_sqs + timedelta(seconds=off_by)
    assert sqs_queues.service_time(answer, wrong) == by_sqs + timedelta(seconds=1)
    right = by_sqs + timedelta(milliseconds=900)
    assert sqs_queues.service_time(answer, right) == right
    assert sqs_queues.service_time({"ResponseMetadata": {"HTTPHeaders": {}}}, wrong) == wrong


def test_failed_send_leaves_the_message_in_quarantine(
    sqs: Sqs, monkeypatch: pytest.MonkeyPatch
) -> None:
    sqs.quarantine("m1", "m2", "m3")
    with monkeypatch.context() as patched:
        refuse(patched, "SendMessage", denied("SendMessage"), after=1)
        result = run("redrive")
    assert result.exit_code == 2
    assert result.stdout == "1 redriven, 2 remaining\n"
    assert "need sqs:SendMessage on gazette-prod-ingest" in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert sorted(sqs.bodies("ingest") + sqs.bodies("quarantine")) == ["m1", "m2", "m3"]


def test_crash_between_send_and_delete_loses_no_message(
    sqs: Sqs, monkeypatch: pytest.MonkeyPatch
) -> None:
    sqs.quarantine("m1", "m2")
    with monkeypatch.context() as patched:
        refuse(patched, "DeleteMessage", KeyboardInterrupt(), after=0)
        assert run("redrive").exit_code != 0
    assert run("redrive").stdout == "2 redriven, 0 remaining\n"
    assert set(sqs.bodies("ingest")) == {"m1", "m2"}


def test_quarantine_of_a_missing_stage_is_reported_on_a_single_line(sqs: Sqs) -> None:
    for command in ("list", "redrive"):
        result = run(command, "--stage", "nowhere")
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr == (
            "gazette: Queue gazette-nowhere-quarantine does not exist. Check --stage, "
            "the account and the region.\n"
        )


def test_redrive_moves_no_messages_if_ingest_is_missing(sqs: Sqs) -> None:
    sqs.quarantine("m1")
    sqs.client.delete_queue(QueueUrl=sqs.urls["ingest"])
    result = run("redrive")
    assert result.exit_code == 2
    assert "gazette-prod-ingest" in result.stderr
    assert sqs.bodies("quarantine") == ["m1"]


@pytest.mark.parametrize(
    ("err", "said"),
    [
        (NoCredentialsError(), "There are no AWS credentials"),
        (EndpointConnectionError(endpoint_url="http://sqs"), "AWS does not respond"),
        (denied("GetQueueUrl"), "Access denied"),
        (ClientError({"Error": {"Code": "ExpiredToken"}}, "GetQueueUrl"), "Log in"),
        (ClientError({"Error": {"Code": "Other"}}, "GetQueueUrl"), "AWS rejected GetQueueUrl"),
    ],
)
def test_quarantine_reports_a_denied_request_with_a_remedy(
    sqs: Sqs, monkeypatch: pytest.MonkeyPatch, err: Exception, said: str
) -> None:
    refuse(monkeypatch, "GetQueueUrl", err, after=0)
    result = run("list")
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("AWS_DEFAULT_REGION", None, "No region is set"),
        ("AWS_PROFILE", "nobody", "Log in, or set AWS_PROFILE"),
        ("AWS_ENDPOINT_URL", "nonsense", "Check AWS_ENDPOINT_URL"),
    ],
)
def test_invalid_aws_environment_is_reported_on_a_single_line(
    sqs: Sqs, monkeypatch: pytest.MonkeyPatch, variable: str, value: str | None, said: str
) -> None:
    monkeypatch.delenv(variable, raising=False)
    if value:
        monkeypatch.setenv(variable, value)
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    result = run("list")
    assert result.exit_code == 2
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1
