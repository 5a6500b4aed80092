"""Messages as the functions receive them, valid by default."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

_NOW = datetime.now(UTC)
"""Read once: what is said twice within a test is dated alike, whatever second it is by then."""


def ago(**units: float) -> str:
    """An instant before now, as services write it."""
    return (_NOW - timedelta(**units)).isoformat(timespec="seconds")


def records(*bodies: str, queue: str = "queue", receives: int = 1) -> dict[str, Any]:
    """An SQS event with one record per body, ids `m0`, `m1`, …, each received so often."""
    return {
        "Records": [
            {
                "messageId": f"m{number}",
                "receiptHandle": f"r{number}",
                "body": body,
                "attributes": {"ApproximateReceiveCount": str(receives)},
                "messageAttributes": {},
                "eventSource": "aws:sqs",
                "eventSourceARN": f"arn:aws:sqs:us-east-1:123456789012:{queue}",
                "awsRegion": "us-east-1",
            }
            for number, body in enumerate(bodies)
        ]
    }


def envelope(
    detail_type: str, detail: object, *, source: str = "test", resources: Sequence[str] = ()
) -> str:
    """A message as EventBridge puts it on the ingest queue."""
    return json.dumps(
        {
            "version": "0",
            "id": "6a7e8feb-b491-4cf7-a9f1-bf3703467718",
            "detail-type": detail_type,
            "source": source,
            "account": "123456789012",
            "time": ago(),
            "region": "us-east-1",
            "resources": [*resources],
            "detail": detail,
        }
    )


def delivery_report(
    type_: str, reference: object, *, source: str = "shop.mailgun", **more: Any
) -> str:
    """A `delivery.reported` event on the feedback queue, about an email to ann."""
    told = {"reference": str(reference), "recipient": "ann@example.com", "type": type_}
    return envelope("delivery.reported", {**told, "at": ago(), **more}, source=source)


def reference(entity: str) -> dict[str, Any]:
    """An entity by its key, such as `post#p1`."""
    kind, _, entity_id = entity.partition("#")
    return {"type": kind, "id": entity_id}


def happening(number: int, *, entity: str = "post#p1") -> dict[str, Any]:
    """The fields that events and activities share: a comment of an hour ago."""
    return {
        "id": f"e{number}",
        "category": "comment",
        "entity": {
            **reference(entity),
            "title": f"Title of {entity}",
            "url": "https://example.com/p",
        },
        "actor": {"id": f"u{number}", "name": f"User {number}"},
        "occurred_at": ago(hours=1),
        "excerpt": "x" * 200,
    }


def event(number: int, *, user_id: str = "ann", entity: str = "post#p1") -> dict[str, Any]:
    """The detail of an `event.created`."""
    return {**happening(number, entity=entity), "user_id": user_id}


def profile(user_id: str = "ann", **given: Any) -> dict[str, Any]:
    """The detail of a `subscriber.changed`, of ten days ago."""
    return {
        "user_id": user_id,
        "email": f"{user_id}@example.com",
        "name": "Ann",
        "time_zone": "Europe/Berlin",
        "changed_at": ago(days=10),
        **given,
    }


def follow(user_id: str = "ann", entity: str = "post#p1", **given: Any) -> dict[str, Any]:
    """The detail of a `follow.created` or `follow.deleted`, of five days ago."""
    return {
        "user_id": user_id,
        "entity": reference(entity),
        "changed_at": ago(days=5),
        **given,
    }


def http(method: str, path: str, body: str = "", content_type: str = "") -> dict[str, Any]:
    """A request as an HTTP API hands it over."""
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": "",
        "headers": {"content-type": content_type},
        "requestContext": {
            "http": {"method": method, "path": path, "sourceIp": "203.0.113.1"},
            "stage": "$default",
            "requestId": "r",
        },
        "body": body,
        "isBase64Encoded": False,
    }


def delivery_event(
    kind: str = "Delivered",
    run: str = "ann-daily-1",
    *,
    record: str = "delivery",
    minutes: int = 0,
    message_id: str = "0100-m1",
    installation: str = "here",
    **about: Any,
) -> str:
    """What SES reports of an email, as EventBridge puts it on the feedback queue.

    `minutes`: how long after it was sent that happened.
    """
    now = datetime.now(UTC)
    at, then = (
        instant.strftime("%Y-%m-%dT%H:%M:%S.000Z")
        for instant in (now - timedelta(minutes=minutes), now)
    )
    return json.dumps(
        {
            "version": "0",
            "id": "6a7e8feb-b491-4cf7-a9f1-bf3703467718",
            "detail-type": f"Email {kind}",
            "source": "aws.ses",
            "account": "123456789012",
            "time": then,
            "region": "us-east-1",
            "resources": [],
            "detail": {
                record: {"timestamp": then},
                "mail": {
                    "timestamp": at,
                    "messageId": message_id,
                    "destination": [f"{run.partition('-')[0]}@example.com"],
                    "tags": {
                        "run": [run],
                        "attempt": ["1"],
                        "installation": [installation],
                    },
                },
                **about,
            },
        }
    )


def bounce(
    run: str = "ann-daily-1", *, kind: str = "Permanent", message_id: str = "0100-m1"
) -> str:
    """That an email bounced, as EventBridge puts it on the feedback queue."""
    about = {"bounceType": kind, "bounceSubType": "General", "reportingMTA": "dsn; mta.example.com"}
    return delivery_event("Bounced", run, message_id=message_id, bounce=about)


def complaint(run: str = "ann-daily-1") -> str:
    """That a reader complained, as EventBridge puts it on the feedback queue."""
    return delivery_event("Complaint Received", run, complaint={"complaintFeedbackType": "abuse"})
