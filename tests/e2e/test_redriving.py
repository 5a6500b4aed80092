"""What lies in a queue that must be empty on the embedded engine, and a person who brings it back.

By receive, send and delete, as a script would: the engine has no StartMessageMoveTask.
"""

import json
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from demo.ses import Answer
from tests.functions.messages import complaint, envelope
from tests.stage import Deployed, a_comment, a_profile, next_due

REFUSED = Answer(429, "TooManyRequestsException")


def runs(deployed: Deployed, user: str) -> list[dict[str, Any]]:
    found = deployed.service.tables.query(
        TableName=deployed.service.settings("resend")["GAZETTE_RUNS_TABLE"],
        KeyConditionExpression="user_id = :user",
        ExpressionAttributeValues={":user": {"S": user}},
        ConsistentRead=True,
    )
    return [
        {name: next(iter(value.values())) for name, value in row.items()} for row in found["Items"]
    ]


def refused(deployed: Deployed, user: str) -> int:
    return max((int(run["refusals"]) for run in runs(deployed, user)), default=0)


def wait_for_refusals(deployed: Deployed, user: str, number: int) -> None:
    for _ in range(150):
        if refused(deployed, user) == number:
            return
        time.sleep(0.2)
    pytest.fail(f"{number} refusals were expected, {refused(deployed, user)} came")


def end_the_pause(deployed: Deployed, user: str, *, queue: str = "resend") -> None:
    """As if it were over: the row says so, and the message comes that SQS hides until then.

    The message comes to `queue`.
    """
    service = deployed.service
    (run,) = runs(deployed, user)
    past = datetime.now(UTC) - timedelta(minutes=1)
    service.tables.update_item(
        TableName=service.settings("resend")["GAZETTE_RUNS_TABLE"],
        Key={"user_id": {"S": user}, "run": {"S": run["run"]}},
        UpdateExpression="SET retry_at = :past",
        ExpressionAttributeValues={":past": {"S": f"{past:%Y-%m-%dT%H:%M:%S.%fZ}"}},
    )
    service.queues.purge_queue(QueueUrl=service.queue_url("resend"))
    body = json.dumps({"user_id": user, "schedule": "daily", "sequence": 1})
    service.queues.send_message(QueueUrl=service.queue_url(queue), MessageBody=body)


def redrive_by_hand(deployed: Deployed) -> None:
    """Receive, send, delete."""
    queues, failed = deployed.service.queues, deployed.service.queue_url("failed")
    (message,) = queues.receive_message(QueueUrl=failed, WaitTimeSeconds=5)["Messages"]
    resend = deployed.service.queue_url("resend")
    queues.send_message(QueueUrl=resend, MessageBody=message["Body"])
    queues.delete_message(QueueUrl=failed, ReceiptHandle=message["ReceiptHandle"])


def test_trace_aa_redriven_failed_run_delivers_all_waiting_events_once(
    deployed: Deployed,
) -> None:
    put, service = deployed.service.put, deployed.service
    put("subscriber.changed", [a_profile("rae")])
    put("event.created", [a_comment("rae", number) for number in (1, 2)])
    deployed.settle()
    deployed.ses.script.extend([REFUSED] * 20)  # whoever asks for the quota takes one as well
    due = next_due()
    deployed.tick(due)
    for number in range(1, 6):
        wait_for_refusals(deployed, "rae", number)
        end_the_pause(deployed, "rae")
    wait_for_refusals(deployed, "rae", 6)
    service.wait_until_drained("resend")
    deployed.ses.script.clear()
    assert service.messages_in("failed") == 1
    assert not deployed.inbox("rae")

    put("event.created", [a_comment("rae", 3)])
    deployed.settle()
    shown = deployed.gazette("dlq", "show", "failed")
    assert "rae-daily-1" in shown
    assert "\tstarts_next\tthe run failed; run rae-daily-2 starts now" in shown
    redrive_by_hand(deployed)
    service.wait_until_drained("resend")
    (mail,) = deployed.inbox("rae")
    assert mail.tags["run"] == "rae-daily-2"
    assert "3 comments\n" in mail.part("plain").replace("\r\n", "\n")

    put("event.created", [a_comment("rae", 4)])
    deployed.settle()
    deployed.tick(due + timedelta(days=1))
    _, following = deployed.inbox("rae")
    assert " commented on “" in following.part("plain")
    assert [(run["run"][-1], run["reason"]) for run in runs(deployed, "rae")] == [
        ("1", "attempts_exhausted"),
        ("2", "accepted"),
        ("3", "accepted"),
    ]
    assert service.messages_in("failed") == service.messages_in("resend-dead") == 0


def move_all(deployed: Deployed, source: str, destination: str) -> None:
    """As a redrive in the console: bodies and attributes stay as they are."""
    queues, service = deployed.service.queues, deployed.service
    waiting, to = service.queue_url(source), service.queue_url(destination)
    left = service.messages_in(source)  # what comes back meanwhile stays
    while left > 0:
        messages = queues.receive_message(
            QueueUrl=waiting,
            MaxNumberOfMessages=min(left, 10),
            MessageAttributeNames=["All"],
            WaitTimeSeconds=5,
        )["Messages"]
        left -= len(messages)
        for message in messages:
            queues.send_message(
                QueueUrl=to,
                MessageBody=message["Body"],
                MessageAttributes={
                    name: {"DataType": "String", "StringValue": given["StringValue"]}
                    for name, given in message.get("MessageAttributes", {}).items()
                },
            )
            queues.delete_message(QueueUrl=waiting, ReceiptHandle=message["ReceiptHandle"])
    service.wait_until_drained(destination)
    deployed.settle()


def complaint_of(tags: Mapping[str, str]) -> str:
    """What SES reports of the email with these tags, whose reader complained."""
    event = json.loads(complaint(tags["run"]))
    event["detail"]["mail"]["tags"] = {name: [value] for name, value in tags.items()}
    return json.dumps(event)


def leave(deployed: Deployed, queue: str, body: str, **attributes: str) -> None:
    """Put a message where EventBridge, or a function, leaves it."""
    deployed.service.queues.send_message(
        QueueUrl=deployed.service.queue_url(queue),
        MessageBody=body,
        MessageAttributes={
            name: {"DataType": "String", "StringValue": value} for name, value in attributes.items()
        },
    )


def test_messages_redriven_as_the_alarms_describe_are_in_a_single_email(
    deployed: Deployed,
) -> None:
    """An undelivered event, one in the quarantine, and a complaint that did not reach feedback."""
    service = deployed.service
    service.put("subscriber.changed", [a_profile("uma")])
    deployed.settle()
    first, second = (
        envelope("event.created", a_comment("uma", number), source="shop") for number in (1, 2)
    )
    leave(deployed, "undelivered", first, ERROR_CODE="NO_PERMISSIONS", RETRY_ATTEMPTS="0")
    leave(deployed, "quarantine", second, reason="excerpt: too new")
    move_all(deployed, "undelivered", "ingest")
    move_all(deployed, "quarantine", "feedback")  # by mistake: it comes back
    assert service.messages_in("quarantine") == 1
    move_all(deployed, "quarantine", "ingest")
    deployed.tick(next_due())
    (mail,) = deployed.inbox("uma")
    assert "2 comments\n" in mail.part("plain").replace("\r\n", "\n")

    assert "uma is suppressed" not in deployed.gazette("explain", "uma")
    leave(
        deployed,
        "feedback-undelivered",
        complaint_of(mail.tags),
        ERROR_CODE="NO_PERMISSIONS",
    )
    move_all(deployed, "feedback-undelivered", "feedback")
    assert "uma is suppressed" in deployed.gazette("explain", "uma")
    for queue in ("undelivered", "quarantine", "feedback-undelivered", "ingest-dead"):
        assert service.messages_in(queue) == 0, queue
    assert service.messages_in("feedback-dead") == 0
