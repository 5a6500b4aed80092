"""`gazette quarantine` on moto: looking changes nothing, and redriving loses nothing."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest
from botocore.client import BaseClient
from botocore.exceptions import ClientError, EndpointConnectionError, NoCredentialsError
from gazette.adapters.aws.queues import SqsQuarantine
from moto import mock_aws
from typer.testing import CliRunner, Result

from cli.dead_letters import sqs_queues
from cli.main import app
from tests.credentials import set_credentials
from tests.functions.messages import delivery_event

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


def test_a_list_says_when_what_and_why_one_line_each(sqs: Sqs) -> None:
    sqs.quarantine(BODY, reason="event.created does not fit its schema: " + "x" * 300)
    sqs.quarantine("not json", "[1]", '{"detail-type": "a\\tb\\u001b"}')
    result = run("list")
    assert result.exit_code == 0
    rows = [line.split("\t") for line in result.stdout.splitlines()]
    assert sorted(row[1] for row in rows) == ["(none)", "(not JSON)", "a?b?", "event.created"]
    assert rows[0][1:] == ["event.created", f"event.created does not fit its schema: {'x' * 300}"]
    assert {len(row) for row in rows} == {3}


def test_a_list_removes_nothing_and_hides_nothing(sqs: Sqs) -> None:
    sqs.quarantine(*(f"m{number}" for number in range(25)))
    assert len(run("list").stdout.splitlines()) == 25
    assert len(sqs.bodies("quarantine")) == 25


def test_a_list_ends_at_its_limit_and_says_that_there_is_more(sqs: Sqs) -> None:
    sqs.quarantine(*(f"m{number}" for number in range(25)))
    result = run("list", "--limit", "12")
    assert len(result.stdout.splitlines()) == 12
    assert "12 of about 25" in result.stderr


def test_an_empty_quarantine_says_so(sqs: Sqs) -> None:
    result = run("list")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "gazette-prod-quarantine is empty.\n"


def test_redriving_moves_every_body_unchanged(sqs: Sqs) -> None:
    bodies = [BODY, *(f"m{number:02}" for number in range(24))]
    sqs.quarantine(*bodies)
    result = run("redrive")
    assert (result.exit_code, result.stdout) == (0, "25 redriven, 0 remaining\n")
    assert sqs.bodies("ingest") == sorted(bodies)
    assert sqs.bodies("quarantine") == []


def test_a_delivery_event_of_ses_goes_back_to_feedback(sqs: Sqs) -> None:
    sqs.quarantine(BODY, delivery_event())
    assert run("redrive").exit_code == 0
    assert sqs.bodies("ingest") == [BODY]
    (found,) = sqs.bodies("feedback")
    assert "ann-daily-1" in found


def test_what_comes_back_still_wrong_is_not_moved_again(
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


def test_what_comes_back_is_not_counted_as_left_and_what_arrives_meanwhile_is(
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
    assert "`gazette quarantine list` shows the reason" in result.stderr


def test_what_keeps_coming_in_does_not_keep_it_going(
    sqs: Sqs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As long as each receive finds a message that came after the command began."""
    sqs.quarantine("old")
    receive = sqs_queues.Held.receive

    def receive_as_more_comes(held: sqs_queues.Held) -> Any:
        sqs.quarantine("new")
        return receive(held)

    monkeypatch.setattr(sqs_queues.Held, "receive", receive_as_more_comes)
    result = run("redrive")
    assert result.stdout.startswith("1 redriven, ")
    assert sqs.bodies("ingest") == ["old"]


@pytest.mark.parametrize("off_by", [-3600, 3600])
def test_the_clock_of_sqs_counts_where_this_machine_is_off(off_by: int) -> None:
    answer = {"ResponseMetadata": {"HTTPHeaders": {"date": "Sat, 21 Nov 2026 09:30:00 GMT"}}}
    by_sqs = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
    wrong = by_sqs + timedelta(seconds=off_by)
    assert sqs_queues.service_time(answer, wrong) == by_sqs + timedelta(seconds=1)
    right = by_sqs + timedelta(milliseconds=900)
    assert sqs_queues.service_time(answer, right) == right
    assert sqs_queues.service_time({"ResponseMetadata": {"HTTPHeaders": {}}}, wrong) == wrong


def test_a_send_that_fails_leaves_the_message(sqs: Sqs, monkeypatch: pytest.MonkeyPatch) -> None:
    sqs.quarantine("m1", "m2", "m3")
    with monkeypatch.context() as patched:
        refuse(patched, "SendMessage", denied("SendMessage"), after=1)
        result = run("redrive")
    assert result.exit_code == 2
    assert result.stdout == "1 redriven, 2 remaining\n"
    assert "need sqs:SendMessage on gazette-prod-ingest" in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert sorted(sqs.bodies("ingest") + sqs.bodies("quarantine")) == ["m1", "m2", "m3"]


def test_a_crash_between_send_and_delete_repeats_and_loses_nothing(
    sqs: Sqs, monkeypatch: pytest.MonkeyPatch
) -> None:
    sqs.quarantine("m1", "m2")
    with monkeypatch.context() as patched:
        refuse(patched, "DeleteMessage", KeyboardInterrupt(), after=0)
        assert run("redrive").exit_code != 0
    assert run("redrive").stdout == "2 redriven, 0 remaining\n"
    assert set(sqs.bodies("ingest")) == {"m1", "m2"}


def test_a_stage_that_is_not_there_is_one_line(sqs: Sqs) -> None:
    for command in ("list", "redrive"):
        result = run(command, "--stage", "nowhere")
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr == (
            "gazette: Queue gazette-nowhere-quarantine does not exist. Check --stage, "
            "the account and the region.\n"
        )


def test_nothing_is_moved_where_ingest_is_missing(sqs: Sqs) -> None:
    sqs.quarantine("m1")
    sqs.client.delete_queue(QueueUrl=sqs.urls["ingest"])
    result = run("redrive")
    assert result.exit_code == 2
    assert "gazette-prod-ingest" in result.stderr
    assert sqs.bodies("quarantine") == ["m1"]


@pytest.mark.parametrize(
    ("err", "said"),
    [
        (NoCredentialsError(), "No AWS credentials"),
        (EndpointConnectionError(endpoint_url="http://sqs"), "AWS does not respond"),
        (denied("GetQueueUrl"), "Access denied"),
        (ClientError({"Error": {"Code": "ExpiredToken"}}, "GetQueueUrl"), "Log in"),
        (ClientError({"Error": {"Code": "Other"}}, "GetQueueUrl"), "AWS rejected GetQueueUrl"),
    ],
)
def test_a_refusal_is_one_line_with_what_to_do(
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
def test_a_wrong_environment_is_one_line(
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
