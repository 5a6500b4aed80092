"""Bounces and complaints on moto: from the event of SES to the suppression."""

import io
import json
from collections import Counter
from datetime import timedelta

import pytest
from gazette.adapters.dynamodb.feedback.suppressions import DynamoSuppressions
from gazette.adapters.dynamodb.runs import DynamoRuns
from gazette.bootstrap.parts.clock import now
from gazette.domain.delivery.run import Reason, Status
from gazette.domain.identity import address_hash
from gazette.domain.subscribers.subscriber import SubscriberStatus
from gazette.domain.subscribers.suppression import Cause

from tests.builders import SUPPRESSION_KEY, a_claimed_run, a_run
from tests.functions.conftest import Cloud, fan_out
from tests.functions.messages import ago, bounce, complaint, delivery_event, event, profile, records
from tests.functions.test_handlers import ann, stored_run

ANN = address_hash("ann@example.com")


def cause() -> Cause | None:
    found = DynamoSuppressions("suppressions", key=SUPPRESSION_KEY, clock=now).get(ANN)
    return found.cause if found else None


@pytest.mark.usefixtures("later")
def test_hard_bounce_stops_all_email_to_the_address(cloud: Cloud, logs: io.StringIO) -> None:
    """Nor to another reader who registers with it."""
    cloud.say("subscriber.changed", profile())
    cloud.say("event.created", event(1))
    (message,) = fan_out(cloud)
    cloud.work("feedback", bounce("ann-weekly-9"))
    assert (cause(), ann().status) == (Cause.BOUNCED, SubscriberStatus.SUPPRESSED)
    cloud.work("generate", message)
    assert not cloud.sent()
    assert (stored_run().status, stored_run().reason) == (Status.SKIPPED, Reason.SUPPRESSED)
    cloud.say("subscriber.changed", profile("bo", email="Ann@Example.com"))
    cloud.say("event.created", event(2, user_id="bo"))
    assert not [row for row in cloud.rows("schedules") if row["user_id"] == "bo"]
    written = logs.getvalue()
    assert '"suppressed":"bounced"' in written
    assert '"cause":"Permanent General"' in written
    assert "example.com" not in written.lower()


def test_delivery_events_received_by_sns_also_suppress(cloud: Cloud) -> None:
    cloud.say("subscriber.changed", profile())
    record = json.loads(complaint())["detail"]
    record["eventType"] = "Complaint"
    cloud.work("feedback", json.dumps({"Type": "Notification", "Message": json.dumps(record)}))
    assert (cause(), ann().status) == (Cause.COMPLAINED, SubscriberStatus.SUPPRESSED)


def test_only_the_unreadable_bounce_is_returned(cloud: Cloud) -> None:
    """And proves all the same that the email was sent."""
    cloud.say("subscriber.changed", profile())
    runs = DynamoRuns("runs", retention=timedelta(days=180))
    before = runs.create(a_run(7))
    runs.swap(before, a_claimed_run(7, status=Status.UNKNOWN))
    broken = delivery_event("Bounced", "ann-daily-7")
    answer = cloud.invoke("feedback", records(delivery_event(), broken, complaint()))
    assert answer == {"batchItemFailures": [{"itemIdentifier": "m1"}]}
    assert cause() is Cause.COMPLAINED
    settled = runs.get(a_run(7).key)
    assert settled
    assert settled.status is Status.SENT


def test_soft_bounces_suppress_at_the_fifth_message(cloud: Cloud) -> None:
    cloud.say("subscriber.changed", profile())
    for number in range(1, 6):
        again = bounce(kind="Transient", message_id=f"m{number}")
        cloud.work("feedback", again, again)
        assert cause() is (Cause.BOUNCED if number == 5 else None)
    assert ann().status is SubscriberStatus.SUPPRESSED


def test_out_of_office_replies_do_not_suppress_a_reader(cloud: Cloud) -> None:
    """Their mailbox answers each email by itself, which SES reports as a bounce."""
    cloud.say("subscriber.changed", profile())
    about = {"bounceType": "Transient", "bounceSubType": "General"}
    for number in range(1, 8):
        cloud.work("feedback", delivery_event("Bounced", message_id=f"m{number}", bounce=about))
    assert (cause(), ann().status) == (None, SubscriberStatus.ACTIVE)


def test_suppressed_reader_gets_email_at_a_new_address(cloud: Cloud) -> None:
    cloud.say("subscriber.changed", profile())
    cloud.work("feedback", bounce())
    elsewhere = profile(email="ann@example.org", changed_at=ago(days=1))
    cloud.say("subscriber.changed", elsewhere)
    assert ann().status is SubscriberStatus.ACTIVE


@pytest.mark.usefixtures("later")
def test_hard_bounce_costs_four_write_units(cloud: Cloud) -> None:
    """The suppression, the status, and the schedule out of `due`. Open runs look by themselves."""
    cloud.say("subscriber.changed", profile())
    cloud.say("event.created", event(1))
    fan_out(cloud)
    cloud.work("feedback", delivery_event(run="canary"))
    cloud.meter.clear()
    cloud.work("feedback", bounce("ann-weekly-9"))
    assert cloud.meter.write_units == Counter(suppressions=1, subscribers=1, schedules=2)
    cloud.meter.clear()
    cloud.work("feedback", bounce("ann-weekly-9"))
    assert cloud.meter.write_units == Counter(suppressions=1)


def test_soft_bounce_costs_a_write_unit(cloud: Cloud) -> None:
    cloud.say("subscriber.changed", profile())
    cloud.work("feedback", delivery_event(run="canary"))
    cloud.meter.clear()
    cloud.work("feedback", bounce("ann-weekly-9", kind="Transient"))
    assert cloud.meter.write_units == Counter(bounces=1)
