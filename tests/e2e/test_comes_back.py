"""Delivery events, put on the default bus of the embedded engine as SES puts them.

The engine has no events of SES: demo/engine_start.py lets its PutEvents take `aws.ses`, as only
AWS itself may. From there on the way is the deployed one: rule, queue, function, tables. Shapes:
https://docs.aws.amazon.com/ses/latest/dg/event-publishing-retrieving-sns-examples.html
"""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest

from demo.ses import Accepted, Answer
from demo.ses_events import default_bus
from demo.ses_http import Loss
from tests.stage import Deployed, a_comment, a_profile, next_due, unseen_for

DAY = timedelta(days=1)


def a_digest(deployed: Deployed, user: str) -> tuple[Accepted, datetime]:
    """The first email of a new reader, and when it was due."""
    deployed.service.put("subscriber.changed", [a_profile(user)])
    deployed.service.put("event.created", [a_comment(user, 1)])
    deployed.settle()
    due = next_due()
    deployed.tick(due)
    (mail,) = deployed.inbox(user)
    return mail, due


def record(event_type: str, mail: Accepted, about: Mapping[str, Any]) -> dict[str, Any]:
    """What SES says of an email that it took ten minutes ago."""
    return {
        "eventType": event_type,
        "mail": {
            "timestamp": now(minutes=10),
            "source": "digest@campus.example",
            "sendingAccountId": "000000000000",
            "messageId": mail.message_id,
            "destination": [mail.to],
            "headersTruncated": False,
            "tags": {
                "ses:configuration-set": [mail.configuration_set],
                "ses:caller-identity": ["gazette-local-generate"],
                **{name: [value] for name, value in mail.tags.items()},
            },
        },
        **about,
    }


def now(*, minutes: int = 0) -> str:
    """This instant, or so many minutes before it, as SES writes it."""
    return f"{datetime.now(UTC) - timedelta(minutes=minutes):%Y-%m-%dT%H:%M:%S.000Z}"


def delivery(mail: Accepted) -> dict[str, Any]:
    told = {"timestamp": now(), "recipients": [mail.to], "smtpResponse": "250 2.6.0 received"}
    return record("Delivery", mail, {"delivery": told})


def put(deployed: Deployed, detail_type: str, detail: Mapping[str, Any]) -> None:
    """On the default bus, twice; and wait until feedback has heard of it."""
    entry = {"Source": "aws.ses", "DetailType": detail_type, "Detail": json.dumps(detail)}
    default_bus(deployed.service.events)([entry, entry])
    deployed.service.wait_until_drained("feedback")


def row(deployed: Deployed, table: str, **key: str) -> dict[str, Any]:
    """A row of a table, its texts alone; empty where there is none."""
    name = deployed.service.settings("feedback")[f"GAZETTE_{table.upper()}_TABLE"]
    found = deployed.service.tables.get_item(
        TableName=name, Key={each: {"S": value} for each, value in key.items()}, ConsistentRead=True
    )
    return {each: value.get("S") for each, value in found.get("Item", {}).items()}


def run_of(deployed: Deployed, user: str, sequence: int = 1) -> tuple[str | None, str | None]:
    found = row(deployed, "runs", user_id=user, run=f"daily#{sequence:010d}")
    return found.get("status"), found.get("reason")


def may_have_been_sent(deployed: Deployed, user: str) -> Accepted:
    """An email that SES took, and the worker that sent it never learned so."""
    deployed.ses.script.append(Answer(200, "", taken=True, loss=Loss.CLOSE))
    mail, _ = a_digest(deployed, user)
    assert run_of(deployed, user) == ("unknown", "uncertain")
    return mail


def test_delivery_event_settles_an_unknown_run(deployed: Deployed) -> None:
    mail = may_have_been_sent(deployed, "amy")
    put(deployed, "Email Delivered", delivery(mail))
    assert run_of(deployed, "amy") == ("sent", "evidence")
    assert len(deployed.inbox("amy")) == 1


def test_delivery_event_by_sns_settles_an_unknown_run(deployed: Deployed) -> None:
    """On the topic of the stack, as SES publishes there."""
    mail = may_have_been_sent(deployed, "sue")
    with_keys = boto3.Session("test", "test", region_name=deployed.engine.environment["AWS_REGION"])
    topics = with_keys.client("sns", endpoint_url=deployed.engine.url)
    (topic,) = (
        each["TopicArn"]
        for each in topics.list_topics()["Topics"]
        if "DeliveryEvents" in each["TopicArn"]
    )
    topics.publish(TopicArn=topic, Message="Successfully validated SNS topic for Amazon SES.")
    topics.publish(TopicArn=topic, Message=json.dumps(delivery(mail)))
    topics.close()
    deployed.service.wait_until_drained("feedback")
    assert run_of(deployed, "sue") == ("sent", "evidence")


def test_hard_bounce_ends_all_scheduled_digests(deployed: Deployed) -> None:
    mail, due = a_digest(deployed, "bob")
    told = {
        "timestamp": now(),
        "bounceType": "Permanent",
        "bounceSubType": "General",
        "bouncedRecipients": [{"emailAddress": mail.to, "action": "failed", "status": "5.1.1"}],
        "feedbackId": "0100018f0a1b-f",
        "reportingMTA": "dsn; mta.example.com",
    }
    put(deployed, "Email Bounced", record("Bounce", mail, {"bounce": told}))
    listed = deployed.gazette("suppression", "list")
    assert re.search(r"^h[0-9a-f]{64}\tbounced\t", listed, re.MULTILINE)
    again = deployed.gazette("suppression", "add", mail.to, "--reason", "bounced")
    assert "was already suppressed: bounced" in again
    assert row(deployed, "subscribers", user_id="bob")["status"] == "suppressed"
    assert "due" not in row(deployed, "schedules", user_id="bob", name="daily")

    deployed.service.put("event.created", [a_comment("bob", 2)])
    deployed.settle()
    deployed.tick(due + DAY)
    assert run_of(deployed, "bob", 2) == (None, None)
    assert len(deployed.inbox("bob")) == 1


@pytest.mark.long
def test_click_reactivates_a_dormant_reader_after_deployment(deployed: Deployed) -> None:
    mail, due = a_digest(deployed, "kay")
    unseen_for(deployed, "kay", days=60)
    deployed.service.put("event.created", [a_comment("kay", 2)])
    deployed.settle()
    deployed.tick(due + DAY)
    assert run_of(deployed, "kay", 2) == ("skipped", "dormant")
    assert row(deployed, "subscribers", user_id="kay")["status"] == "dormant"

    told = {
        "timestamp": now(),
        "link": "https://example.com/p1",
        "linkTags": None,
        "ipAddress": "192.0.2.1",
        "userAgent": "Mozilla/5.0",
    }
    put(deployed, "Email Clicked", record("Click", mail, {"click": told}))
    deployed.settle()
    assert row(deployed, "subscribers", user_id="kay")["status"] == "active"
    deployed.tick(due + 2 * DAY)
    _, back = deployed.inbox("kay")
    assert "Reader 2" in back.message["Subject"]


def test_every_delivery_event_is_readable(deployed: Deployed) -> None:
    for queue in ("feedback-dead", "feedback-undelivered"):
        assert deployed.service.messages_in(queue) == 0
