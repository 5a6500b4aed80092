"""A redrive in the SQS console: every message as it lies in its queue, by the real handlers.

SQS moves body and attributes, and gives the message a new id. No engine has StartMessageMoveTask;
`test_native_redrive.py` uses a model of it.
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-configure-dead-letter-queue-redrive.html
"""

from contextlib import nullcontext

import pytest

from gazette_cdk.topology import CONTENT, STEPS
from proofs.sources.service import Reply, items
from tests.functions.conftest import Cloud
from tests.functions.messages import complaint, delivery_event, envelope, event, profile, records
from tests.functions.recommending import recommending
from tests.functions.redriving import CONSOLE, Letter, events_of, feedback_of, quarantined

pytestmark = [pytest.mark.usefixtures("later"), pytest.mark.enable_socket]

_STEPS = {queue: step.name for step in (*STEPS, CONTENT) for queue in step.queues}


def redrive(cloud: Cloud, destination: str, letters: list[Letter]) -> None:
    """Move messages to a queue and let its function process them; none may fail."""
    received = records(*(letter.body for letter in letters), queue=destination)
    for record, letter in zip(received["Records"], letters, strict=True):
        record["messageAttributes"] = {
            name: {"stringValue": value, "dataType": "String"}
            for name, value in letter.attributes.items()
        }
    assert cloud.invoke(_STEPS[destination], received) == {"batchItemFailures": []}


@pytest.mark.parametrize("queue", CONSOLE)
def test_console_redrive_processes_each_message_once(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch, queue: str
) -> None:
    """The second destination gets what the first one puts back into the queue."""
    way = CONSOLE[queue]
    with recommending(monkeypatch) if way.asks else nullcontext() as service:
        if service:
            service.answers(Reply(body=items("a")))
        letters = way.story(cloud)
        assert letters
        for _ in range(2):  # whoever redrives presses the button again
            left = letters
            for destination in way.destinations:
                redrive(cloud, destination, left)
                left = quarantined(cloud)
            assert left == []
            assert way.effect(cloud) == way.expected


def test_event_redriven_to_feedback_returns_to_the_quarantine(cloud: Cloud) -> None:
    """It has no other copy: whoever mixes up the two destinations must not lose it."""
    cloud.say("subscriber.changed", profile())
    lost = Letter(envelope("event.created", event(1)), {"reason": "link_hosts"})
    redrive(cloud, "feedback", [lost])
    (back,) = quarantined(cloud)
    assert back.body == lost.body
    assert back.attributes["reason"] == (
        "An event from source test is not an SES delivery event. Redrive it to the ingest queue."
    )
    redrive(cloud, "ingest", [back])
    assert events_of(cloud) == [("ann", "e1")]
    assert quarantined(cloud) == []


@pytest.mark.parametrize(
    "body", [complaint(), delivery_event("Sent"), '{"eventType": "Send", "mail": {}}']
)
def test_delivery_event_redriven_to_ingest_returns_to_the_quarantine(
    cloud: Cloud, body: str
) -> None:
    redrive(cloud, "ingest", [Letter(body)])
    (back,) = quarantined(cloud)
    assert back.body == body
    assert feedback_of(cloud) == ([], [], [])
