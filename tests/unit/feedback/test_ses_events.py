"""How the events of SES are read.

The shapes are those of AWS's documentation, with values of our own:
https://docs.aws.amazon.com/ses/latest/dg/monitoring-eventbridge.html
https://docs.aws.amazon.com/eventbridge/latest/ref/events-structure.html
https://docs.aws.amazon.com/ses/latest/dg/event-publishing-retrieving-sns-contents.html
https://docs.aws.amazon.com/ses/latest/dg/event-publishing-retrieving-sns-examples.html
"""

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from gazette.adapters.mail.ses_events import decode_delivery_event
from gazette.domain.errors import ForeignEvent, InvalidEvent
from gazette.domain.feedback.delivery_events import DeliveryEvent, DeliveryEventType, Fault
from gazette.domain.identity import address_hash, run_id
from gazette.domain.model import RunKey
from hypothesis import given
from hypothesis import strategies as st

RUN = RunKey("ann@example.com", "daily", 17)
ID = "0100018f0a1b2c3d-11111111-2222-3333-4444-555555555555-000000"
READER = "ann@example.com"
GREETING = "Successfully validated SNS topic for Amazon SES event publishing."
AT = "2026-03-01T06:10:02.012Z"

# detail-type, detail.eventType, what the record holds beside `mail`, and what it is to us
RECORDS: list[tuple[str, str, dict[str, Any], DeliveryEventType]] = [
    ("Email Sent", "Send", {"send": {}}, DeliveryEventType.SENT),
    (
        "Email Delivered",
        "Delivery",
        {
            "delivery": {
                "timestamp": "2026-03-01T06:10:03.512Z",
                "recipients": [READER],
                "processingTimeMillis": 1500,
                "reportingMTA": "mta.example.com",
                "smtpResponse": "250 2.6.0 Message received",
            }
        },
        DeliveryEventType.DELIVERED,
    ),
    (
        "Email Delivery Delayed",
        "DeliveryDelay",
        {
            "deliveryDelay": {
                "timestamp": "2026-03-01T06:25:40.095Z",
                "delayType": "TransientCommunicationFailure",
                "expirationTime": "2026-03-01T18:10:02.914Z",
                "delayedRecipients": [
                    {"emailAddress": READER, "status": "4.4.1", "diagnosticCode": "smtp; 421"}
                ],
            }
        },
        DeliveryEventType.DELAYED,
    ),
    (
        "Email Bounced",
        "Bounce",
        {
            "bounce": {
                "timestamp": "2026-03-01T06:10:04.669Z",
                "bounceType": "Permanent",
                "bounceSubType": "General",
                "bouncedRecipients": [
                    {"emailAddress": READER, "action": "failed", "status": "5.1.1"}
                ],
                "feedbackId": "0100018f0a1b-f",
                "reportingMTA": "dsn; mta.example.com",
            }
        },
        DeliveryEventType.BOUNCED,
    ),
    (
        "Email Complaint Received",
        "Complaint",
        {
            "complaint": {
                "timestamp": "2026-03-01T09:00:02.669Z",
                "arrivalDate": "2026-03-01T09:00:02.669Z",
                "complaintFeedbackType": "abuse",
                "complainedRecipients": [{"emailAddress": READER}],
                "feedbackId": "0100018f0a1b-g",
                "userAgent": "Mailbox feedback loop",
            }
        },
        DeliveryEventType.COMPLAINED,
    ),
    ("Email Rejected", "Reject", {"reject": {"reason": "Bad content"}}, DeliveryEventType.REJECTED),
    (
        "Email Opened",
        "Open",
        {
            "open": {
                "timestamp": "2026-03-01T07:00:19.652Z",
                "ipAddress": "192.0.2.1",
                "userAgent": "Mozilla/5.0",
            }
        },
        DeliveryEventType.OPENED,
    ),
    (
        "Email Clicked",
        "Click",
        {
            "click": {
                "timestamp": "2026-03-01T07:00:39.652Z",
                "link": "https://example.com/p/1",
                "linkTags": {"place": ["top"]},
                "ipAddress": "192.0.2.1",
                "userAgent": "Mozilla/5.0",
            }
        },
        DeliveryEventType.CLICKED,
    ),
    (
        "Email Rendering Failed",
        "Rendering Failure",
        {"failure": {"templateName": "Welcome", "errorMessage": "Attribute 'name' is missing"}},
        DeliveryEventType.RENDERING_FAILED,
    ),
    (
        "Email Subscribed",
        "Subscription",
        {
            "subscription": {
                "timestamp": "2026-03-01T07:12:44.595Z",
                "source": "UnsubscribeHeader",
                "contactList": "readers",
                "oldTopicPreferences": {"unsubscribeAll": False},
                "newTopicPreferences": {"unsubscribeAll": True},
            }
        },
        DeliveryEventType.SUBSCRIPTION,
    ),
]


AGAINST: dict[DeliveryEventType, dict[str, Any]] = {
    DeliveryEventType.BOUNCED: {
        "fault": Fault.HARD,
        "address": address_hash(READER),
        "cause": "Permanent General",
    },
    DeliveryEventType.COMPLAINED: {
        "fault": Fault.COMPLAINT,
        "address": address_hash(READER),
        "cause": "abuse",
    },
}


def mail(**changed: Any) -> dict[str, Any]:
    return {
        "destination": [READER],
        "source": "digest@example.com",
        "sourceArn": "arn:aws:ses:us-east-1:123456789012:identity/example.com",
        "sendingAccountId": "123456789012",
        "messageId": ID,
        "timestamp": AT,
        "headersTruncated": False,
        "headers": [{"name": "Subject", "value": "News"}],
        "commonHeaders": {"subject": "News", "messageId": ID},
        "tags": {
            "ses:operation": ["SendEmail"],
            "ses:configuration-set": ["digest"],
            "ses:caller-identity": ["generate"],
            "ses:outgoing-ip": ["192.0.2.0"],
            "run": [run_id(RUN)],
            "attempt": ["2"],
        },
        **changed,
    }


def body(detail_type: str = "Email Sent", *, source: str = "aws.ses", **detail: Any) -> str:
    return json.dumps(
        {
            "version": "0",
            "id": "12345678-1234-1234-1234-123456789012",
            "detail-type": detail_type,
            "source": source,
            "account": "123456789012",
            "time": "2026-03-01T06:10:05Z",
            "region": "us-east-1",
            "resources": ["arn:aws:ses:us-east-1:123456789012:configuration-set/digest"],
            "detail": {"mail": mail(), **detail},
        }
    )


def bounced(**about: Any) -> str:
    recipient = {"emailAddress": READER, "action": "failed", "status": "5.0.0"}
    given = {"bouncedRecipients": [recipient], **about}
    return body("Email Bounced", bounce=given)


def notification(message: object) -> str:
    """As SNS puts it on a queue.

    https://docs.aws.amazon.com/sns/latest/dg/sns-message-and-json-formats.html
    """
    return json.dumps(
        {
            "Type": "Notification",
            "MessageId": "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324",
            "TopicArn": "arn:aws:sns:us-east-1:123456789012:reports",
            "Message": message if isinstance(message, str) else json.dumps(message),
            "Timestamp": "2026-03-01T06:10:05.000Z",
            "SignatureVersion": "1",
            "Signature": "signature",
        }
    )


@pytest.mark.parametrize(("detail_type", "event_type", "about", "kind"), RECORDS)
def test_every_ses_event_type_is_decoded(
    detail_type: str, event_type: str, about: dict[str, Any], kind: DeliveryEventType
) -> None:
    """The first time is that of the message: evidence is about when it was taken."""
    own = [record["timestamp"] for record in about.values() if "timestamp" in record]
    assert decode_delivery_event(body(detail_type, eventType=event_type, **about)) == DeliveryEvent(
        type=kind,
        run=RUN,
        attempt=2,
        message_id=ID,
        sent_at=datetime(2026, 3, 1, 6, 10, 2, 12_000, tzinfo=UTC),
        at=datetime.fromisoformat(own[0]) if own else None,
        **AGAINST.get(kind, {}),
    )


@pytest.mark.parametrize(("_", "event_type", "about", "kind"), RECORDS)
def test_ses_event_in_sns_envelope_is_decoded(
    _: str, event_type: str, about: dict[str, Any], kind: DeliveryEventType
) -> None:
    """In its envelope, or bare where raw message delivery is on."""
    by_bus = decode_delivery_event(body(_, eventType=event_type, **about))
    assert by_bus is not None
    assert by_bus.type is kind
    record = {"eventType": event_type, "mail": mail(), **about}
    assert decode_delivery_event(notification(record)) == by_bus
    assert decode_delivery_event(json.dumps(record)) == by_bus


@pytest.mark.parametrize(
    ("type_", "subtype", "fault"),
    [
        ("Permanent", "General", Fault.HARD),
        ("Permanent", "NoEmail", Fault.HARD),
        ("Permanent", "Suppressed", Fault.HARD),
        ("Permanent", "OnAccountSuppressionList", Fault.HARD),
        ("Transient", "General", Fault.SOFT),
        ("Transient", "MailboxFull", Fault.SOFT),
        ("Transient", "CustomTimeoutExceeded", Fault.SOFT),
        ("Transient", "MessageTooLarge", Fault.OF_MESSAGE),
        ("Transient", "ContentRejected", Fault.OF_MESSAGE),
        ("Transient", "AttachmentRejected", Fault.OF_MESSAGE),
        ("Undetermined", "Undetermined", Fault.UNDETERMINED),
        ("Rubber", "General", Fault.UNDETERMINED),
        (None, None, Fault.UNDETERMINED),
    ],
)
def test_bounce_type_determines_severity(type_: Any, subtype: Any, fault: Fault) -> None:
    delivery_event = decode_delivery_event(bounced(bounceType=type_, bounceSubType=subtype))
    assert delivery_event is not None
    assert (delivery_event.type, delivery_event.fault) == (DeliveryEventType.BOUNCED, fault)
    assert delivery_event.address == address_hash(READER)
    assert delivery_event.cause == (f"{type_} {subtype}" if type_ else "")
    assert delivery_event.unsent == (subtype == "OnAccountSuppressionList")


@pytest.mark.parametrize(
    ("type_", "subtype", "recipients"),
    [
        ("Transient", "General", [{"emailAddress": READER}]),
        ("Undetermined", "Undetermined", []),
        ("Undetermined", "Undetermined", None),
    ],
)
def test_automatic_reply_is_not_a_bounce(type_: str, subtype: str, recipients: object) -> None:
    """Of a reader who is away: the email arrived. It has no delivery status notification."""
    about = {"bounceType": type_, "bounceSubType": subtype, "bouncedRecipients": recipients}
    delivery_event = decode_delivery_event(bounced(**about))
    assert delivery_event is not None
    assert (delivery_event.type, delivery_event.fault, delivery_event.address) == (
        DeliveryEventType.BOUNCED,
        None,
        "",
    )
    given_up = decode_delivery_event(bounced(**about, reportingMTA="dsn; mta.example.com"))
    assert given_up is not None
    assert given_up.fault in {Fault.SOFT, Fault.UNDETERMINED}


@pytest.mark.parametrize(
    ("type_", "subtype", "fault"),
    [
        ("abuse", None, Fault.COMPLAINT),
        ("fraud", None, Fault.COMPLAINT),
        ("virus", None, Fault.COMPLAINT),
        ("other", None, Fault.COMPLAINT),
        (None, None, Fault.COMPLAINT),
        (None, "OnAccountSuppressionList", Fault.COMPLAINT),
        ("not-spam", None, None),
        ("auth-failure", None, None),
    ],
)
def test_complaint_counts_unless_feedback_type_is_not_spam(
    type_: str | None, subtype: str | None, fault: Fault | None
) -> None:
    about = {"complainedRecipients": [{"emailAddress": READER}]}
    about |= {"complaintFeedbackType": type_, "complaintSubType": subtype}  # type: ignore[dict-item]
    delivery_event = decode_delivery_event(body("Email Complaint Received", complaint=about))
    assert delivery_event is not None
    assert (delivery_event.type, delivery_event.fault) == (DeliveryEventType.COMPLAINED, fault)
    assert delivery_event.address == (address_hash(READER) if fault else "")
    assert delivery_event.unsent == (subtype == "OnAccountSuppressionList")


@pytest.mark.parametrize("odd", [[], {}, 7, True])
def test_non_string_bounce_type_is_treated_as_missing(odd: Any) -> None:
    """The delivery event is evidence all the same."""
    soft = decode_delivery_event(bounced(bounceType="Transient", bounceSubType=odd))
    about = {"complaintFeedbackType": odd, "complaintSubType": odd}
    spam = decode_delivery_event(body("Email Complaint Received", complaint=about))
    assert soft is not None
    assert spam is not None
    assert (soft.fault, soft.cause) == (Fault.SOFT, "Transient")
    assert (spam.fault, spam.cause) == (Fault.COMPLAINT, "")


@pytest.mark.parametrize(
    ("status", "said"),
    [
        ("5.4.4", "smtp; 550 5.4.4 Invalid domain"),
        (
            "4.4.7",
            "smtp; 554 4.4.7 Message expired: <421 4.4.0 Unable to lookup DNS for typo.example>",
        ),
    ],
)
def test_nonexistent_domain_is_a_soft_bounce(status: str, said: str) -> None:
    """As SES reports it: https://github.com/knadh/listmonk/issues/1463."""
    recipient = {"emailAddress": READER, "action": "failed", "status": status}
    delivery_event = decode_delivery_event(
        bounced(
            bounceType="Transient",
            bounceSubType="General",
            reportingMTA="dns; amazonses.com",
            bouncedRecipients=[recipient | {"diagnosticCode": said}],
        )
    )
    assert delivery_event is not None
    assert (delivery_event.fault, delivery_event.address) == (Fault.SOFT, address_hash(READER))


def test_bounce_address_is_original_recipient() -> None:
    """The one that bounced may be where the reader's email is forwarded to."""
    elsewhere = [{"emailAddress": "ann@mail.example.net"}]
    delivery_event = decode_delivery_event(
        bounced(bounceType="Permanent", bouncedRecipients=elsewhere)
    )
    assert delivery_event is not None
    assert delivery_event.address == address_hash(READER)


@pytest.mark.parametrize("destination", [None, [], "", [None], [7], [" "]])
def test_bounced_address_is_used_if_recipient_is_missing(destination: Any) -> None:
    about = {"bounceType": "Permanent", "bouncedRecipients": [{"emailAddress": READER.upper()}]}
    delivery_event = decode_delivery_event(
        body("Email Bounced", mail=mail(destination=destination), bounce=about)
    )
    assert delivery_event is not None
    assert delivery_event.address == address_hash(READER)


@pytest.mark.parametrize(
    "spelled", ["ANN@XN--bcher-kva.Example", "ann@bücher.example", '"Ann"@bücher.example.']
)
def test_bounce_address_matches_despite_different_spelling(spelled: str) -> None:
    about = {"bounceType": "Permanent", "bouncedRecipients": [{"emailAddress": spelled}]}
    both = ["ann@xn--bcher-kva.example", spelled]
    for destination in (None, [spelled], both):
        delivery_event = decode_delivery_event(
            body("Email Bounced", mail=mail(destination=destination), bounce=about)
        )
        assert delivery_event is not None
        assert delivery_event.address == address_hash("ann@xn--bcher-kva.example")


def test_delivery_event_does_not_contain_email_address() -> None:
    """Also where somebody puts one into the type of a bounce."""
    delivery_event = decode_delivery_event(bounced(bounceType="Permanent", bounceSubType=READER))
    assert delivery_event is not None
    assert delivery_event.cause == "Permanent"
    assert READER not in repr(replace(delivery_event, run=None))


_READ = "2026-03-01T06:10:02+00:00"
_UNREADABLE = ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59"]


def test_lowercase_ses_timestamp_is_accepted() -> None:
    event = decode_delivery_event(body(mail=mail(timestamp="2026-03-01t06:10:02z")))
    assert event
    assert event.sent_at.isoformat() == _READ


@pytest.mark.parametrize("timestamp", _UNREADABLE)
def test_timestamp_out_of_range_is_rejected(timestamp: str) -> None:
    with pytest.raises(InvalidEvent, match="timestamp"):
        decode_delivery_event(body(mail=mail(timestamp=timestamp)))


@pytest.mark.parametrize(
    "record", [None, "x", {}, *({"timestamp": each} for each in (5, "soon", *_UNREADABLE))]
)
def test_event_with_invalid_timestamp_still_proves_acceptance(record: Any) -> None:
    delivery_event = decode_delivery_event(body("Email Clicked", click=record))
    assert delivery_event
    assert (delivery_event.at, delivery_event.happened_at) == (None, delivery_event.sent_at)


def test_every_delivery_event_type_is_tested() -> None:
    assert {kind for *_, kind in RECORDS} == set(DeliveryEventType)


@pytest.mark.parametrize(
    "other",
    [
        body("Sending Status Disabled"),
        body("Advisor Recommendation Status Open"),
        body("Email Frobbed"),
        body(mail=None),
        body(mail=mail(tags={"ses:configuration-set": ["digest"]})),
        body(mail=mail(tags={"run": []})),
        body(mail=mail(tags={"run": [7]})),
        body(mail=mail(tags=None)),
        notification({"eventType": "Frobbed", "mail": mail()}),
        notification({"eventType": ["Send"], "mail": mail()}),
        notification({"notificationType": "Bounce", "mail": mail(tags=None), "bounce": {}}),
        notification(GREETING),
        GREETING,
        json.dumps({"Type": "UnsubscribeConfirmation", "Message": "You left."}),
    ],
)
def test_events_about_other_messages_are_ignored(other: str) -> None:
    assert decode_delivery_event(other) is None


@pytest.mark.parametrize("detail", [{}, {"mail": mail()}, None, "text"])
def test_service_event_is_rejected_with_its_source(detail: Any) -> None:
    """Somebody redrove it to the wrong queue, and there is no other copy."""
    envelope = {"source": "shop", "detail-type": "event.created", "detail": detail}
    with pytest.raises(ForeignEvent, match="source shop is not an SES delivery event"):
        decode_delivery_event(json.dumps(envelope))


@pytest.mark.parametrize("tag", ["canary", "", "ann-daily-017", "a-b-c", "ann-daily"])
def test_delivery_event_with_invalid_run_tag_is_accepted(tag: str) -> None:
    delivery_event = decode_delivery_event(body(mail=mail(tags={"run": [tag], "attempt": ["1"]})))
    assert delivery_event is not None
    assert delivery_event.run is None
    assert delivery_event.message_id == ID


@pytest.mark.parametrize("attempt", [[], ["one"], ["-1"], ["1.5"], ["²"], [""], [1], "1", None])
def test_non_numeric_attempt_tag_is_ignored(attempt: Any) -> None:
    delivery_event = decode_delivery_event(
        body(mail=mail(tags={"run": [run_id(RUN)], "attempt": attempt}))
    )
    assert delivery_event is not None
    assert delivery_event.run == RUN
    assert delivery_event.attempt is None


def test_timestamp_with_offset_is_converted_to_utc() -> None:
    delivery_event = decode_delivery_event(body(mail=mail(timestamp="2026-03-01T07:10:02+01:00")))
    assert delivery_event is not None
    assert delivery_event.sent_at == datetime(2026, 3, 1, 6, 10, 2, tzinfo=UTC)
    assert delivery_event.sent_at.tzinfo is UTC


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ("", "JSON"),
        ("{", "JSON"),
        ("[" * 100_000, "JSON"),
        ("[]", "JSON object"),
        ("7", "JSON object"),
        ("{}", "source"),
        ('{"source": "aws.ses", "detail": {}}', "detail-type"),
        ('{"source": "aws.ses", "detail-type": 7, "detail": {}}', "detail-type"),
        ('{"source": "aws.ses", "detail-type": "Email Sent"}', "detail is"),
        ('{"source": "aws.ses", "detail-type": "Email Sent", "detail": "{}"}', "detail is"),
        (json.dumps({"Type": "Notification"}), "Message"),
        (json.dumps({"Type": "Notification", "Message": {"eventType": "Send"}}), "Message"),
        (notification("{"), "Message of an SNS notification must be JSON"),
        (notification("[]"), "JSON object"),
        (notification({"eventType": "Send", "mail": mail(messageId=None)}), "messageId"),
        (body(mail=mail(messageId=None)), "messageId"),
        (body(mail=mail(messageId="")), "messageId"),
        (body(mail=mail(timestamp=None)), "timestamp"),
        (body(mail=mail(timestamp="yesterday")), "timestamp"),
        (body(mail=mail(timestamp="2026-03-01T06:10:02")), "time zone"),
    ],
)
def test_malformed_ses_event_is_rejected_with_field_name(wrong: str, named: str) -> None:
    with pytest.raises(InvalidEvent, match=named):
        decode_delivery_event(wrong)


@pytest.mark.parametrize(
    ("wrong", "flaw"),
    [
        (body("Email Bounced"), "bounce"),
        (body("Email Complaint Received", complaint=[]), "complaint"),
        (body("Email Bounced", mail=mail(destination=[]), bounce={}), "name 0 addresses"),
        (
            body("Email Bounced", mail=mail(destination=[READER, "bo@example.com"]), bounce={}),
            "name 2 addresses",
        ),
    ],
)
def test_bounce_without_identifiable_recipient_still_proves_acceptance(
    wrong: str, flaw: str
) -> None:
    delivery_event = decode_delivery_event(wrong)
    assert delivery_event is not None
    assert delivery_event.run == RUN
    assert flaw in delivery_event.flaw
    assert (delivery_event.fault, delivery_event.address) == (None, "")


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@given(
    replaced=st.sampled_from(["source", "detail-type", "detail", "mail", "tags", "run", "attempt"]),
    value=ANYTHING,
)
def test_any_body_is_decoded_or_rejected(replaced: str, value: Any) -> None:
    event = json.loads(body())
    holders = {
        "mail": event["detail"],
        "tags": event["detail"]["mail"],
        "run": event["detail"]["mail"]["tags"],
        "attempt": event["detail"]["mail"]["tags"],
    }
    holders.get(replaced, event)[replaced] = value
    try:
        delivery_event = decode_delivery_event(json.dumps(event))
    except InvalidEvent:
        return
    assert delivery_event is None or isinstance(delivery_event, DeliveryEvent)
