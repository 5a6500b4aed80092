"""A run that SES refuses six times on the embedded engine, and a person who brings it back.

By receive, send and delete, as a script would: the engine has no StartMessageMoveTask.
"""

import json
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from demo.ses import Answer
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


def end_the_pause(deployed: Deployed, user: str) -> None:
    """As if it were over: the row says so, and the message comes that SQS hides until then."""
    service = deployed.service
    (run,) = runs(deployed, user)
    past = datetime.now(UTC) - timedelta(minutes=1)
    service.tables.update_item(
        TableName=service.settings("resend")["GAZETTE_RUNS_TABLE"],
        Key={"user_id": {"S": user}, "run": {"S": run["run"]}},
        UpdateExpression="SET retry_at = :past",
        ExpressionAttributeValues={":past": {"S": f"{past:%Y-%m-%dT%H:%M:%S.%fZ}"}},
    )
    resend = service.queue_url("resend")
    service.queues.purge_queue(QueueUrl=resend)
    body = json.dumps({"user_id": user, "schedule": "daily", "sequence": 1})
    service.queues.send_message(QueueUrl=resend, MessageBody=body)


def redrive_by_hand(deployed: Deployed) -> None:
    """Receive, send, delete."""
    queues, failed = deployed.service.queues, deployed.service.queue_url("failed")
    (message,) = queues.receive_message(QueueUrl=failed, WaitTimeSeconds=5)["Messages"]
    resend = deployed.service.queue_url("resend")
    queues.send_message(QueueUrl=resend, MessageBody=message["Body"])
    queues.delete_message(QueueUrl=failed, ReceiptHandle=message["ReceiptHandle"])


def test_trace_aa_what_failed_and_is_redriven_reaches_its_reader_once_with_all_that_waited(
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
    assert "\tstarts_next\tit failed; run rae-daily-2 starts now" in shown
    redrive_by_hand(deployed)
    service.wait_until_drained("resend")
    (mail,) = deployed.inbox("rae")
    assert mail.tags["run"] == "rae-daily-2"
    assert "3 updates for you" in mail.part("plain")

    put("event.created", [a_comment("rae", 4)])
    deployed.settle()
    deployed.tick(due + timedelta(days=1))
    _, following = deployed.inbox("rae")
    assert " commented\n" in following.part("plain")
    assert [(run["run"][-1], run["reason"]) for run in runs(deployed, "rae")] == [
        ("1", "attempts_exhausted"),
        ("2", "accepted"),
        ("3", "accepted"),
    ]
    assert service.messages_in("failed") == service.messages_in("resend-dead") == 0
