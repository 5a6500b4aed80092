"""What failed comes back within a minute, by one request for all of an invocation."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import boto3
import pytest
from botocore.client import BaseClient
from botocore.exceptions import ReadTimeoutError
from gazette.adapters.aws.queues import PATIENCE

from tests.functions.conftest import Cloud, Context
from tests.functions.messages import delivery_event, envelope, profile, records

_STEPS = {
    "followers": "followers",
    "fanout": "shard",
    "generate": "generate",
    "resend": "resend",
    "feedback": "feedback",
    "sweep": "sweep",
    "content": "content",
}
"""Functions whose messages fail one by one, with a queue of each."""

_HIDE = "sqs.ChangeMessageVisibilityBatch"


def hidden(cloud: Cloud) -> list[dict[str, Any]]:
    """The requests by which messages were hidden."""
    return [request for name, request in cloud.meter.requests if name == _HIDE]


@contextmanager
def broken(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """DynamoDB answers nobody."""
    real: Any = BaseClient._make_api_call  # type: ignore[attr-defined]

    def answered(client: BaseClient, operation: str, request: dict[str, Any]) -> Any:
        if client.meta.service_model.service_name == "dynamodb":
            raise ReadTimeoutError(endpoint_url="dynamodb")
        return real(client, operation, request)

    with monkeypatch.context() as patch:
        patch.setattr(BaseClient, "_make_api_call", answered)
        yield


@pytest.mark.parametrize(("step", "queue"), _STEPS.items())
def test_failed_messages_are_hidden_together_for_10_to_60_seconds(
    cloud: Cloud, step: str, queue: str
) -> None:
    answer = cloud.invoke(step, records(*["no JSON"] * 10, queue=queue))
    assert len(answer["batchItemFailures"]) == 10
    (asked,) = hidden(cloud)
    assert asked["QueueUrl"].rpartition("/")[2] == queue
    assert [each["ReceiptHandle"] for each in asked["Entries"]] == [f"r{n}" for n in range(10)]
    pauses = [each["VisibilityTimeout"] for each in asked["Entries"]]
    assert all(10 <= pause <= 60 for pause in pauses)
    assert len(set(pauses)) > 1


def test_failed_messages_of_a_large_batch_are_hidden_by_tens(cloud: Cloud) -> None:
    bodies = ["no JSON"] * 25
    answer = cloud.invoke("feedback", records(*bodies, delivery_event(), queue="feedback"))
    assert len(answer["batchItemFailures"]) == 25
    requests = hidden(cloud)
    assert [len(asked["Entries"]) for asked in requests] == [10, 10, 5]
    handles = [each["ReceiptHandle"] for asked in requests for each in asked["Entries"]]
    assert handles == [f"r{number}" for number in range(25)]


def test_failed_messages_routed_together_are_hidden(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    bodies = [envelope("subscriber.changed", profile(name)) for name in ("ann", "ben")]
    with broken(monkeypatch):
        assert cloud.invoke("ingest", records(*bodies, queue="ingest"))["batchItemFailures"]
    (asked,) = hidden(cloud)
    assert [each["ReceiptHandle"] for each in asked["Entries"]] == ["r0", "r1"]


def test_successful_messages_make_no_visibility_request(cloud: Cloud) -> None:
    cloud.say("subscriber.changed", profile())
    cloud.work("feedback", delivery_event())
    assert not hidden(cloud)


def test_only_failed_messages_of_a_batch_are_hidden(cloud: Cloud) -> None:
    cloud.say("subscriber.changed", profile())
    cloud.invoke("feedback", records(delivery_event(), "no JSON", queue="feedback"))
    (asked,) = hidden(cloud)
    assert [each["ReceiptHandle"] for each in asked["Entries"]] == ["r1"]


@pytest.mark.parametrize(("receives", "shortest", "longest"), [(3, 10, 60), (5, 120, 240)])
def test_retry_delay_grows_with_the_receive_count(
    cloud: Cloud, receives: int, shortest: int, longest: int
) -> None:
    cloud.invoke("generate", records("no JSON", queue="immediate", receives=receives))
    (asked,) = hidden(cloud)
    assert asked["QueueUrl"].rpartition("/")[2] == "immediate"
    assert shortest <= asked["Entries"][0]["VisibilityTimeout"] <= longest


def test_delivery_event_is_a_dead_letter_before_its_fourth_receive(cloud: Cloud) -> None:
    cloud.invoke("feedback", records("no JSON", queue="feedback", receives=2))
    (asked,) = hidden(cloud)
    assert 170 <= asked["Entries"][0]["VisibilityTimeout"] <= 340


def test_failure_to_hide_a_message_is_logged(cloud: Cloud, logs: io.StringIO) -> None:
    """Here SQS refuses the receipt handle; where it does not answer it is the same."""
    answer = cloud.invoke("feedback", records("no JSON", queue="feedback"))
    assert answer == {"batchItemFailures": [{"itemIdentifier": "m0"}]}
    assert "messages are redelivered after" in logs.getvalue()


def test_queue_without_a_setting_is_logged(cloud: Cloud, logs: io.StringIO) -> None:
    answer = cloud.invoke("feedback", records("no JSON", queue="of-somebody-else"))
    assert answer == {"batchItemFailures": [{"itemIdentifier": "m0"}]}
    assert not hidden(cloud)
    assert "No setting has the URL of the queue of-somebody-else" in logs.getvalue()


def test_messages_are_not_hidden_if_time_runs_out(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch, logs: io.StringIO
) -> None:
    """An invocation that is cut off answers nothing, and all ten messages come again."""
    longest = int(PATIENCE.longest * 1000)
    monkeypatch.setattr(Context, "get_remaining_time_in_millis", lambda _: longest + 1999)
    answer = cloud.invoke("feedback", records("no JSON", queue="feedback"))
    assert answer == {"batchItemFailures": [{"itemIdentifier": "m0"}]}
    assert not hidden(cloud)
    assert "too little time to shorten" in logs.getvalue()


def test_sqs_accepts_the_receipt_handle_from_lambda(cloud: Cloud, logs: io.StringIO) -> None:
    sqs = boto3.client("sqs")
    url = cloud.queues["feedback"]
    sqs.send_message(QueueUrl=url, MessageBody="no JSON")
    (received,) = sqs.receive_message(QueueUrl=url)["Messages"]
    given = records("no JSON", queue="feedback")
    given["Records"][0]["receiptHandle"] = received["ReceiptHandle"]
    cloud.invoke("feedback", given)
    assert len(hidden(cloud)) == 1
    assert "message failed" in logs.getvalue()
    assert "messages are redelivered after" not in logs.getvalue()
