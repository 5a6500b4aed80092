"""A mailbox provider that refuses by policy says nothing about the mailbox.

`status` and `diagnosticCode` are those of a delivery status notification, as SES passes them on:
https://docs.aws.amazon.com/ses/latest/dg/notification-contents.html#bounced-recipients
"""

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from gazette.adapters.mail.ses_events import decode_delivery_event
from gazette.domain.delivery.run import Status
from gazette.domain.feedback.delivery_events import DeliveryEvent, Fault, mark_of
from gazette.domain.identity import address_hash, run_id
from gazette.domain.model import DAILY, RunKey
from gazette.domain.subscribers.subscriber import Subscriber, SubscriberStatus
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import a_run
from tests.world import SOFT_LIMIT, World

GOOGLE = (
    "smtp; 550-5.7.26 This mail has been blocked because the sender is unauthenticated.\n"
    "550-5.7.26 Gmail requires all senders to authenticate with either SPF or DKIM.\n"
    "550 5.7.26 https://support.google.com/mail/answer/81126 d2e1a72fcca58 - gsmtp"
)
NO_MAILBOX = "smtp; 550 5.1.1 user unknown"


def bounced(
    user: str = "ann", message_id: str = "m1", *, kind: Any = "Permanent", **recipient: Any
) -> str:
    """The event of one reader whose email bounced, with what is said of the recipient."""
    subtype = recipient.pop("subtype", "General")
    address = f"{user}@example.com"
    return json.dumps(
        {
            "source": "aws.ses",
            "detail-type": "Email Bounced",
            "detail": {
                "mail": {
                    "messageId": message_id,
                    "timestamp": "2026-03-01T06:10:02.012Z",
                    "destination": [address],
                    "tags": {"run": [run_id(RunKey(user, DAILY, 1))], "attempt": ["1"]},
                },
                "bounce": {
                    "bounceType": kind,
                    "bounceSubType": subtype,
                    "bouncedRecipients": [{"emailAddress": address, **recipient}],
                    "reportingMTA": "dns; a8-96.smtp-out.amazonses.com",
                },
            },
        }
    )


def read(body: str) -> DeliveryEvent:
    delivery_event = decode_delivery_event(body)
    assert delivery_event is not None
    return delivery_event


def status(world: World, user: str) -> SubscriberStatus:
    reader = world.subscribers.get(user)
    assert isinstance(reader, Subscriber)
    return reader.status


def test_trace_z_wrong_sender_dns_record_suppresses_no_address() -> None:
    """A whole batch is refused, digest after digest, because DMARC fails."""
    world = World()
    batch = [f"reader{number}" for number in range(40)]
    for user in batch:
        world.choose(user, at=world.clock() - timedelta(days=1))
        key = RunKey(user, DAILY, 1)
        world.runs.create(replace(a_run(1), key=key, status=Status.SENT, categories=("comment",)))
    for number in range(SOFT_LIMIT.bounces + 1):
        for user in batch:
            for kind in ("Permanent", "Transient"):
                message_id = f"{user}-{kind}-{number}"
                body = bounced(user, message_id, kind=kind, status="5.7.26", diagnosticCode=GOOGLE)
                world.feedback(read(body))
    assert not world.suppressions.rows
    assert {status(world, user) for user in batch} == {SubscriberStatus.ACTIVE}
    assert not world.schedules.withdrawn
    assert not world.told_held


@pytest.mark.parametrize("kind", ["Permanent", "Transient", "Undetermined", None])
@pytest.mark.parametrize(
    "recipient",
    [
        {"status": "5.7.26"},
        {"status": "5.7.1", "diagnosticCode": "smtp; 554 Service unavailable; Client host blocked"},
        {"status": "4.7.0"},
        {"status": " 5.7.1 (delivery not authorized)"},
        {"status": "5.0.0", "diagnosticCode": GOOGLE},
        {"status": "5.3.0", "diagnosticCode": "smtp;550-5.7.1 blocked using a list"},
        {"status": "5.3.0", "diagnosticCode": "smtp; 554 #5.7.1 Message rejected"},
        {"status": "5.3.0", "diagnosticCode": "smtp; 550 Message rejected (5.7.1)."},
        {"status": "5.5.0", "diagnosticCode": "smtp; 550 5.7.708 Service unavailable"},
        {"status": "5.1.1", "diagnosticCode": "smtp; 550 5.7.1 Unauthenticated email"},
        {"diagnosticCode": "smtp; 421 4.7.28 Unusual rate of unsolicited mail"},
        {"diagnosticCode": "x-postfix; host mx said: 554 5.7.9 Message not accepted for policy"},
    ],
)
def test_policy_rejection_is_a_fault_of_the_message(kind: Any, recipient: dict[str, Any]) -> None:
    delivery_event = read(bounced(kind=kind, **recipient))
    assert (delivery_event.fault, delivery_event.is_by_policy) == (Fault.OF_MESSAGE, True)
    assert delivery_event.address == address_hash("ann@example.com")
    assert mark_of(delivery_event) is None


@pytest.mark.parametrize(
    "recipient",
    [
        {"status": "5.1.1", "diagnosticCode": NO_MAILBOX},
        {"status": "5.1.1"},
        {"status": "5.1.2", "diagnosticCode": "smtp; 550 5.1.2 no such domain"},
        {"status": "5.1.10", "diagnosticCode": "smtp; 550 5.1.10 RESOLVER.ADR.RecipientNotFound"},
        {"status": "5.2.1", "diagnosticCode": "smtp; 550-5.2.1 account is disabled"},
        {"status": "5.0.0", "diagnosticCode": "smtp; 550 no such user"},
        {"status": "5.17.1"},
        {"status": "5.70.1"},
        {"status": "5.1.1", "diagnosticCode": "smtp; 550 5.1.1 unknown, said 5.7.1.2"},
        {"status": "5.1.1", "diagnosticCode": "smtp; 550 5.1.1 unknown, said 192.5.7.1"},
        {"status": "5.1.1", "diagnosticCode": "smtp; 550 5.1.1 unknown, said mta-v5.7.1"},
        {"status": "5.1.1", "diagnosticCode": "smtp; 550 5.1.1 ٥.7.1"},
        {"status": "2.7.0"},
        {"status": 5.7},
        {"status": ["5.7.1"], "diagnosticCode": {"5.7.1": "5.7.1"}},
        {},
    ],
)
def test_mailbox_bounces_are_still_counted(recipient: dict[str, Any]) -> None:
    delivery_event = read(bounced(**recipient))
    assert (delivery_event.fault, delivery_event.is_by_policy) == (Fault.HARD, False)


@pytest.mark.parametrize("subtype", ["OnAccountSuppressionList", "Suppressed"])
def test_ses_suppression_list_bounce_is_always_hard(subtype: str) -> None:
    """SES did not try: nobody refused anything."""
    delivery_event = read(bounced(subtype=subtype, status="5.7.1", diagnosticCode=GOOGLE))
    assert (delivery_event.fault, delivery_event.is_by_policy) == (Fault.HARD, False)


@pytest.mark.parametrize("subtype", ["MessageTooLarge", "ContentRejected", "AttachmentRejected"])
def test_other_message_faults_are_not_policy_rejections(subtype: str) -> None:
    delivery_event = read(bounced(kind="Transient", subtype=subtype, status="5.3.4"))
    assert (delivery_event.fault, delivery_event.is_by_policy) == (Fault.OF_MESSAGE, False)


def test_status_code_is_found_in_very_long_text() -> None:
    long = "5.7." * 200_000
    assert read(bounced(status=long, diagnosticCode=long)).fault is Fault.HARD
    assert read(bounced(status="5.7.1", diagnosticCode=long)).is_by_policy


_ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.from_regex(r"[245]\.7\.\d{0,4}"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(status=_ANYTHING, diagnostic=_ANYTHING, recipients=_ANYTHING)
def test_arbitrary_diagnostic_text_is_handled_without_error(
    status: Any, diagnostic: Any, recipients: Any
) -> None:
    delivery_event = read(bounced(status=status, diagnosticCode=diagnostic))
    assert delivery_event.fault in {Fault.HARD, Fault.OF_MESSAGE}
    assert delivery_event.is_by_policy == (delivery_event.fault is Fault.OF_MESSAGE)
    body = json.loads(bounced())
    body["detail"]["bounce"]["bouncedRecipients"] = recipients
    assert read(json.dumps(body)).fault is Fault.HARD
