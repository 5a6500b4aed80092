"""The redrive of SQS itself: the queues of the synthesised stage on moto, the destinations that the
alarms name, a model of move tasks, and the real handlers.
"""

import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from gazette_cdk.topology import CONTENT, STEPS
from proofs.enforce.stages import IN_THE_SANDBOX, templates_of
from proofs.enforce.template import Templates
from proofs.sources.service import Reply, items
from tests.functions.conftest import Cloud, fan_out, make_cold
from tests.functions.messages import event, profile, records
from tests.functions.move_tasks import FASTEST, NO_SOURCE, MoveTasks
from tests.functions.recommending import recommending
from tests.functions.redriving import CONSOLE, Letter

pytestmark = [pytest.mark.usefixtures("later"), pytest.mark.enable_socket]

STEPS_BY_QUEUE = {queue: step.name for step in (*STEPS, CONTENT) for queue in step.queues}
_STAGE = "gazette-prod-"
_EMAILS = {"generate-dead", "immediate-dead", "resend-dead", "failed"}
_EVENTS = {"ingest-dead", "undelivered", "followers-dead", "shard-dead", "sweep-dead"}


@pytest.fixture(scope="session")
def templates(synthesised_stages: Path) -> Templates:
    return templates_of(synthesised_stages, IN_THE_SANDBOX)


def destinations(templates: Templates, queue: str) -> list[str]:
    """The queues that the text of a queue's alarm names as custom destinations, in its order."""
    (text,) = (
        str(alarm.properties["AlarmDescription"])
        for alarm in templates.of_type("AWS::CloudWatch::Alarm")
        if alarm.properties.get("AlarmName") == f"{_STAGE}{queue}-not-empty"
    )
    named = re.findall(r"(?:the ARN of|redrive them to) gazette-prod-([a-z]+)", text)
    return [str(each) for each in named]


@dataclass(frozen=True, slots=True)
class Stage:
    """The queues of the stage on moto, and the functions that process their messages."""

    cloud: Cloud
    tasks: MoveTasks
    client: Any
    urls: dict[str, str]

    def arn(self, queue: str) -> str:
        answer = self.client.get_queue_attributes(
            QueueUrl=self.urls[queue], AttributeNames=["QueueArn"]
        )
        return str(answer["Attributes"]["QueueArn"])

    def put(self, queue: str, letters: list[Letter]) -> None:
        for letter in letters:
            self.client.send_message(
                QueueUrl=self.urls[queue],
                MessageBody=letter.body,
                MessageAttributes={
                    name: {"DataType": "String", "StringValue": value}
                    for name, value in letter.attributes.items()
                },
            )

    def start(self, queue: str, destination: str | None, **options: int) -> None:
        """Start a move task, as the console does."""
        into = {"DestinationArn": self.arn(destination)} if destination else {}
        self.client.start_message_move_task(SourceArn=self.arn(queue), **into, **options)

    def redrive(self, queue: str, destination: str | None) -> None:
        """Move all messages, and let the functions process them."""
        self.start(queue, destination)
        with pytest.raises(ClientError, match="already has an active task"):
            self.start(queue, destination)
        self.tasks.advance()
        self.work_off()

    def latest(self, queue: str) -> dict[str, Any]:
        """The latest task of a queue."""
        answer = self.client.list_message_move_tasks(SourceArn=self.arn(queue))
        task: dict[str, Any] = answer["Results"][0]
        return task

    def waiting(self, queue: str) -> int:
        answer = self.client.get_queue_attributes(
            QueueUrl=self.urls[queue], AttributeNames=["ApproximateNumberOfMessages"]
        )
        return int(answer["Attributes"]["ApproximateNumberOfMessages"])

    def work_off(self) -> None:
        """Let the functions process their queues until all are empty; no message may fail."""
        while any(self._invoke(queue, step) for queue, step in STEPS_BY_QUEUE.items()):
            pass

    def _invoke(self, queue: str, step: str) -> bool:
        messages = self.client.receive_message(
            QueueUrl=self.urls[queue], MaxNumberOfMessages=10, MessageAttributeNames=["All"]
        ).get("Messages", [])
        if not messages:
            return False
        received = records(*(each["Body"] for each in messages), queue=f"{_STAGE}{queue}")
        for record, message in zip(received["Records"], messages, strict=True):
            record["messageAttributes"] = {
                name: {"stringValue": given["StringValue"], "dataType": "String"}
                for name, given in message.get("MessageAttributes", {}).items()
            }
        assert self.cloud.invoke(step, received) == {"batchItemFailures": []}
        for message in messages:
            self.client.delete_message(
                QueueUrl=self.urls[queue], ReceiptHandle=message["ReceiptHandle"]
            )
        return True


@pytest.fixture
def stage(cloud: Cloud, templates: Templates, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    client = boto3.client("sqs")
    resources = {
        str(each.properties["QueueName"]): each.properties.get("RedrivePolicy")
        for each in templates.of_type("AWS::SQS::Queue")
    }
    urls = {name: client.create_queue(QueueName=name)["QueueUrl"] for name in resources}
    stage = Stage(
        cloud,
        MoveTasks(),
        client,
        {name.removeprefix(_STAGE): url for name, url in urls.items()},
    )
    for name, policy in resources.items():
        if policy:
            dead = policy["deadLetterTargetArn"].rpartition(":")[2].removeprefix(_STAGE)
            written = json.dumps({**policy, "deadLetterTargetArn": stage.arn(dead)})
            client.set_queue_attributes(QueueUrl=urls[name], Attributes={"RedrivePolicy": written})
    for queue in cloud.queues:
        url = stage.urls[queue.replace("_", "-")]
        cloud.queues[queue] = url
        variable = f"GAZETTE_{queue.upper()}_QUEUE_URL"
        assert variable in os.environ
        monkeypatch.setenv(variable, url)
    make_cold()
    cloud.answers.update(stage.tasks.answers)
    yield stage
    make_cold()


@pytest.mark.parametrize("queue", CONSOLE)
def test_move_task_to_the_destination_in_the_alarm_processes_each_message_once(
    stage: Stage, templates: Templates, monkeypatch: pytest.MonkeyPatch, queue: str
) -> None:
    way, cloud = CONSOLE[queue], stage.cloud
    with recommending(monkeypatch) if way.asks else nullcontext() as service:
        if service:
            service.answers(Reply(body=items("a")))
        letters = way.story(cloud)
        for _ in range(2):  # two copies of each message, as a redrive may be interrupted
            stage.put(queue, letters)
            for destination in destinations(templates, queue):
                stage.redrive(queue, destination)
            assert stage.latest(queue)["Status"] == "COMPLETED"
            assert stage.waiting(queue) == 0
        if queue not in _EMAILS:
            assert way.effect(cloud) == way.expected
        if queue in _EVENTS:
            for message in fan_out(cloud):
                cloud.work("generate", message)
        if queue in _EMAILS | _EVENTS:
            assert Counter(cloud.recipients()) == {"ann@example.com": 1}


def _a_run(stage: Stage) -> Letter:
    stage.cloud.say("subscriber.changed", profile(digest={"hour": 8, "minute": 0}))
    stage.cloud.say("event.created", event(1))
    (message,) = fan_out(stage.cloud)
    return Letter(message)


def test_message_that_sqs_moved_returns_to_its_source_by_default(stage: Stage) -> None:
    stage.put("generate", [_a_run(stage)])
    stage.tasks.exhaust(f"{_STAGE}generate")
    assert (stage.waiting("generate"), stage.waiting("generate-dead")) == (0, 1)
    stage.redrive("generate-dead", None)
    assert stage.latest("generate-dead")["Status"] == "COMPLETED"
    assert stage.cloud.recipients() == ["ann@example.com"]


@pytest.mark.parametrize("queue", ["failed", "undelivered", "feedback-undelivered", "quarantine"])
def test_message_that_sqs_did_not_move_requires_a_custom_destination(
    stage: Stage, templates: Templates, queue: str
) -> None:
    """The alarms name a custom destination for this reason."""
    stage.put(queue, [Letter("{}")])
    stage.redrive(queue, None)
    task = stage.latest(queue)
    assert (task["Status"], task["FailureReason"]) == ("FAILED", NO_SOURCE)
    assert stage.waiting(queue) == 1
    stage.start(queue, destinations(templates, queue)[0])


def test_queue_that_is_purged_has_no_move_task(stage: Stage, templates: Templates) -> None:
    assert destinations(templates, "ticks-undelivered") == []
    with pytest.raises(ClientError, match="is not the dead-letter queue of an SQS queue"):
        stage.start("ticks-undelivered", "shard")


def test_move_task_keeps_its_rate(stage: Stage) -> None:
    stage.put("ingest-dead", [Letter("{}")] * 5)
    stage.start("ingest-dead", "ingest", MaxNumberOfMessagesPerSecond=2)
    for moved in (2, 4, 5):
        stage.tasks.advance()
        assert stage.latest("ingest-dead")["ApproximateNumberOfMessagesMoved"] == moved
    assert stage.latest("ingest-dead")["Status"] == "COMPLETED"
    for rate in (0, FASTEST + 1):
        with pytest.raises(ClientError, match="rate"):
            stage.start("ingest-dead", "ingest", MaxNumberOfMessagesPerSecond=rate)
