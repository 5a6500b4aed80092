"""The behaviour of SQS that redrives need, on our fake and on moto."""

from datetime import timedelta
from random import Random
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from tests.builders import SettableClock
from tests.fake_sqs import FakeSqs

NAME = "gazette-prod-failed"


@pytest.fixture
def sqs(engine: str) -> Any:
    if engine != "moto":
        return FakeSqs(SettableClock(), Random(1), [NAME])
    client = boto3.client("sqs")
    client.create_queue(QueueName=NAME)
    return client


def receive(sqs: Any, url: str, *, hidden: int = 120) -> list[dict[str, Any]]:
    answer = sqs.receive_message(
        QueueUrl=url,
        MaxNumberOfMessages=10,
        MessageAttributeNames=["reason"],
        MessageSystemAttributeNames=["SentTimestamp", "ApproximateReceiveCount"],
        VisibilityTimeout=hidden,
        WaitTimeSeconds=1,
    )
    return list(answer.get("Messages", []))


def count(sqs: Any, url: str) -> tuple[int, int]:
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    told = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
    visible, hidden = (int(told[name]) for name in names)
    return visible, hidden


@pytest.fixture
def url(sqs: Any) -> str:
    return str(sqs.get_queue_url(QueueName=NAME)["QueueUrl"])


def test_missing_queue_is_an_error_of_its_own(sqs: Any) -> None:
    with pytest.raises(sqs.exceptions.QueueDoesNotExist) as missing:
        sqs.get_queue_url(QueueName="gazette-prod-none")
    assert isinstance(missing.value, ClientError)


def test_received_message_is_hidden_until_it_is_released(sqs: Any, url: str) -> None:
    sqs.send_message(QueueUrl=url, MessageBody="one")
    (message,) = receive(sqs, url)
    assert count(sqs, url) == (0, 1)
    assert receive(sqs, url) == []
    entry = {"Id": "0", "ReceiptHandle": message["ReceiptHandle"], "VisibilityTimeout": 0}
    sqs.change_message_visibility_batch(QueueUrl=url, Entries=[entry])
    assert count(sqs, url) == (1, 0)
    (again,) = receive(sqs, url)
    assert again["MessageId"] == message["MessageId"]
    assert again["Attributes"]["SentTimestamp"] == message["Attributes"]["SentTimestamp"]
    assert [each["Attributes"]["ApproximateReceiveCount"] for each in (message, again)] == [
        *("1", "2")
    ]


def test_receive_returns_at_most_ten_messages(sqs: Any, url: str) -> None:
    for number in range(12):
        sqs.send_message(QueueUrl=url, MessageBody=str(number))
    first = receive(sqs, url)
    rest = receive(sqs, url)
    assert (len(first), len(rest)) == (10, 2)
    assert len({each["MessageId"] for each in (*first, *rest)}) == len(first) + len(rest)
    assert {each["Body"] for each in (*first, *rest)} == {str(number) for number in range(12)}


def test_deleted_message_is_gone_and_equal_bodies_have_equal_digests(sqs: Any, url: str) -> None:
    for _ in range(2):
        sqs.send_message(QueueUrl=url, MessageBody="same")
    first, second = receive(sqs, url)
    assert first["MD5OfBody"] == second["MD5OfBody"]
    assert first["MessageId"] != second["MessageId"]
    sqs.delete_message(QueueUrl=url, ReceiptHandle=first["ReceiptHandle"])
    assert count(sqs, url) == (0, 1)


def test_message_keeps_its_attributes(sqs: Any, url: str) -> None:
    reason = {"DataType": "String", "StringValue": "user_id: must not be empty"}
    sqs.send_message(QueueUrl=url, MessageBody="one", MessageAttributes={"reason": reason})
    (message,) = receive(sqs, url)
    assert message["MessageAttributes"]["reason"]["StringValue"] == reason["StringValue"]


def test_fake_shows_a_hidden_message_after_its_time_and_moves_it_with_its_id() -> None:
    """moto would have to wait for it."""
    clock = SettableClock()
    sqs = FakeSqs(clock, Random(1), [NAME, "gazette-prod-resend"])
    sent = sqs.send_message(QueueUrl="gazette-prod-resend", MessageBody="one")["MessageId"]
    (message,) = receive(sqs, "gazette-prod-resend")
    clock.now += timedelta(seconds=121)
    (again,) = receive(sqs, "gazette-prod-resend")
    sqs.delete_message(QueueUrl="gazette-prod-resend", ReceiptHandle=message["ReceiptHandle"])
    assert count(sqs, "gazette-prod-resend") == (0, 1)
    (stored,) = sqs.queues["gazette-prod-resend"].values()
    sqs.bring_back("gazette-prod-resend", NAME, stored)
    (dead,) = receive(sqs, NAME)
    assert dead["MessageId"] == sent
    assert dead["Attributes"]["SentTimestamp"] == again["Attributes"]["SentTimestamp"]
