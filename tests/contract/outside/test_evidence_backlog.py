"""Whether delivery events come in: our fake, and DynamoDB, SQS and CloudWatch on moto."""

from datetime import UTC, datetime, timedelta

import boto3
import pytest
from gazette.adapters.aws.evidence_backlog import SqsEvidenceBacklog
from gazette.adapters.dynamodb.control.evidence import DynamoEvidenceLog
from gazette.adapters.mail.canary import SesCanary
from gazette.adapters.mail.ses import ses_client
from gazette.domain.errors import Unavailable
from gazette.domain.ports.mail import EvidenceLog

from demo.ses import Answer, StandIn
from tests.builders import NOW
from tests.fakes import FakeEvidenceLog

pytestmark = pytest.mark.enable_socket

MINUTE = timedelta(minutes=1)
GRACE = 15 * MINUTE


@pytest.fixture
def evidence_log(engine: str) -> EvidenceLog:
    return FakeEvidenceLog() if engine != "moto" else DynamoEvidenceLog("control")


def test_evidence_log_is_initially_empty(evidence_log: EvidenceLog) -> None:
    assert evidence_log.latest() is None


def test_latest_delivery_event_is_kept_in_any_order(evidence_log: EvidenceLog) -> None:
    for minutes in (0, 5, 3, 5):
        evidence_log.record(NOW + minutes * MINUTE)
    assert evidence_log.latest() == NOW + 5 * MINUTE


def test_earlier_delivery_event_of_another_process_is_ignored(
    engine: str, evidence_log: EvidenceLog
) -> None:
    evidence_log.record(NOW + 5 * MINUTE)
    if engine == "moto":
        DynamoEvidenceLog("control").record(NOW)
    assert evidence_log.latest() == NOW + 5 * MINUTE


def test_busy_process_records_evidence_twice_a_minute(engine: str, answers: list[str]) -> None:
    if engine != "moto":
        return
    log = DynamoEvidenceLog("control")
    answers.extend([""] * 100)
    for second in range(60):
        log.record(NOW + timedelta(seconds=second))
    assert len(answers) == 98


class Queues:
    """The feedback queue, and the one where its messages end."""

    def __init__(self) -> None:
        self.sqs = boto3.client("sqs")
        self.cloudwatch = boto3.client("cloudwatch")
        self.urls = [
            self.sqs.create_queue(QueueName=name)["QueueUrl"] for name in ("feedback", "failed")
        ]
        self.backlog = SqsEvidenceBacklog(
            self.sqs,
            self.cloudwatch,
            queue_url=self.urls[0],
            failed_urls=(self.urls[1],),
            clock=lambda: datetime.now(UTC),
        )

    def put(self, number: int) -> None:
        self.sqs.send_message(QueueUrl=self.urls[number], MessageBody="a delivery event")

    def oldest(self, age: timedelta) -> None:
        self.cloudwatch.put_metric_data(
            Namespace="AWS/SQS",
            MetricData=[
                {
                    "MetricName": "ApproximateAgeOfOldestMessage",
                    "Dimensions": [{"Name": "QueueName", "Value": "feedback"}],
                    "Value": age.total_seconds(),
                    "Timestamp": datetime.now(UTC) - MINUTE,
                }
            ],
        )


@pytest.fixture
def queues(engine: str) -> Queues | None:
    return Queues() if engine == "moto" else None


def test_empty_queues_have_no_backlog(queues: Queues | None) -> None:
    if queues:
        assert queues.backlog.is_clear(GRACE)


def test_failed_message_counts_as_backlog(queues: Queues | None) -> None:
    if queues:
        queues.put(1)
        assert not queues.backlog.is_clear(GRACE)


@pytest.mark.parametrize(("age", "clear"), [(14 * MINUTE, True), (15 * MINUTE, False)])
def test_backlog_younger_than_the_grace_is_ignored(
    queues: Queues | None, age: timedelta, clear: bool
) -> None:
    if queues:
        queues.put(0)
        queues.oldest(age)
        assert queues.backlog.is_clear(GRACE) == clear


def test_backlog_of_unknown_age_is_not_ignored(queues: Queues | None) -> None:
    if queues:
        queues.put(0)
        assert not queues.backlog.is_clear(GRACE)


def test_delivery_event_in_processing_counts_as_backlog(queues: Queues | None) -> None:
    if queues:
        queues.put(0)
        queues.sqs.receive_message(QueueUrl=queues.urls[0])
        assert not queues.backlog.is_clear(GRACE)


def test_backlog_of_an_unreachable_queue_is_unavailable(queues: Queues | None) -> None:
    if queues:
        queues.sqs.delete_queue(QueueUrl=queues.urls[1])
        with pytest.raises(Unavailable):
            queues.backlog.is_clear(GRACE)


def canary(ses: StandIn) -> SesCanary:
    return SesCanary(
        ses_client(timedelta(seconds=5)),
        sender="Gazette <digest@example.com>",
        configuration_set="digest",
        installation="here",
    )


def test_canary_goes_to_the_mailbox_simulator_without_a_run(ses: StandIn) -> None:
    canary(ses).send()
    (sent,) = ses.accepted
    assert (sent.to, sent.tags["run"]) == ("success@simulator.amazonses.com", "canary")


def test_rejected_canary_is_reported(ses: StandIn) -> None:
    ses.script.append(Answer(429, "TooManyRequestsException"))
    with pytest.raises(Unavailable):
        canary(ses).send()
    assert ses.requests == 1
