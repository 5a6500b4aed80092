"""SES's events reach a queue through the default bus of the embedded engine, as on AWS."""

import http.client
import json
import time
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import boto3
import pytest
from gazette.adapters.mail.ses_events import decode_delivery_event
from gazette.domain.feedback.delivery_events import DeliveryEvent, DeliveryEventType
from gazette.domain.model import RunKey

from demo.engine import running
from demo.ses import Answer, StandIn
from demo.ses_events import Channel, default_bus
from demo.ses_http import Loss

pytestmark = pytest.mark.long

_PATIENCE = 30
_MESSAGE = {
    "FromEmailAddress": "digest@example.com",
    "Destination": {"ToAddresses": ["ann@example.com"]},
    "Content": {
        "Simple": {
            "Subject": {"Data": "News"},
            "Body": {"Text": {"Data": "News"}, "Html": {"Data": "<p>News</p>"}},
        }
    },
    "EmailTags": [{"Name": "run", "Value": "ann-daily-1"}, {"Name": "attempt", "Value": "2"}],
}


def test_message_with_a_lost_response_is_reported_on_the_default_bus(
    tmp_path: Path,
) -> None:
    channel = Channel(delay=timedelta(milliseconds=100), duplicated=1.0)
    with StandIn(channel=channel) as ses, running(ses_url=ses.url, folder=tmp_path) as engine:
        session = boto3.Session("test", "test", region_name="us-east-1")
        events = session.client("events", endpoint_url=engine.url)
        queues = session.client("sqs", endpoint_url=engine.url)
        queue = queues.create_queue(QueueName="feedback")["QueueUrl"]
        arn = queues.get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])
        events.put_rule(Name="feedback", EventPattern=json.dumps({"source": ["aws.ses"]}))
        events.put_targets(
            Rule="feedback", Targets=[{"Id": "queue", "Arn": arn["Attributes"]["QueueArn"]}]
        )
        ses.publish = default_bus(events)
        ses.script.append(Answer(200, "", taken=True, loss=Loss.CLOSE))
        connection = http.client.HTTPConnection(urlsplit(ses.url).netloc, timeout=_PATIENCE)
        connection.request("POST", "/v2/email/outbound-emails", json.dumps(_MESSAGE))
        with pytest.raises(http.client.RemoteDisconnected):
            connection.getresponse()
        connection.close()
        delivery_events: list[DeliveryEvent | None] = []
        ends_at = time.monotonic() + _PATIENCE
        while len(delivery_events) < 4 and time.monotonic() < ends_at:
            answer = queues.receive_message(
                QueueUrl=queue, WaitTimeSeconds=1, MaxNumberOfMessages=10
            )
            delivery_events += [
                decode_delivery_event(message["Body"]) for message in answer.get("Messages", [])
            ]
        queues.close()
        events.close()
        assert not ses.postman.failures
    (taken,) = ses.accepted
    assert {
        (delivery_event.type, delivery_event.run, delivery_event.attempt)
        for delivery_event in delivery_events
        if delivery_event
    } == {
        (kind, RunKey("ann", "daily", 1), 2)
        for kind in (DeliveryEventType.SENT, DeliveryEventType.DELIVERED)
    }
    assert [delivery_event.message_id for delivery_event in delivery_events if delivery_event] == [
        taken.message_id
    ] * 4
