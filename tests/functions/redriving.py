"""What lies in each queue that must be empty, and where a redrive in the SQS console brings it."""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tests.functions.conftest import Cloud, due_shard, fan_out, make_cold
from tests.functions.failing import dead_letter, refused_to_the_end
from tests.functions.messages import (
    complaint,
    delivery_event,
    envelope,
    event,
    follow,
    happening,
    profile,
    reference,
)
from tests.functions.recommending import fetch_for


@dataclass(frozen=True, slots=True)
class Letter:
    """A message as it lies in a queue. SQS moves it with its attributes."""

    body: str
    attributes: Mapping[str, str] = field(default_factory=dict)


Story = Callable[[Cloud], list[Letter]]
"""What leads to the messages in a queue. The cause is fixed at its end."""

Effect = Callable[[Cloud], object]
"""What is stored or sent because of them."""


@dataclass(frozen=True, slots=True)
class Way:
    """How a queue is redriven in the console, one message at a time.

    `destinations`: one after the other, without `gazette-<stage>-`; more than one where the queue
    has messages of several functions. `effect` is `expected` afterwards. `asks`: the story needs a
    recommendation service.
    """

    destinations: tuple[str, ...]
    story: Story
    effect: Effect
    expected: object
    asks: bool = False


Feedback = tuple[list[str], list[str], list[str]]


def events_of(cloud: Cloud) -> list[tuple[str, str]]:
    return sorted((row["user_id"], row["event_id"]) for row in cloud.rows("events"))


def _runs(cloud: Cloud) -> list[tuple[str, int]]:
    """The number of each run, by its reader."""
    return sorted(
        (row["user_id"], int(row["run"].rpartition("#")[2])) for row in cloud.rows("runs")
    )


def _emails(cloud: Cloud) -> int:
    return len(cloud.sent())


def feedback_of(cloud: Cloud) -> Feedback:
    """The outcome of the runs, why addresses are suppressed, and what is known of emails."""
    return (
        sorted(row["state"] for row in cloud.rows("runs")),
        sorted(row["reason"] for row in cloud.rows("suppressions")),
        sorted({"complained_at", "delivered_at"} & set().union(*cloud.rows("engagement"))),
    )


def _a_reader(cloud: Cloud) -> None:
    cloud.say("subscriber.changed", profile(digest={"hour": 8, "minute": 0}))


def _by_ingest(cloud: Cloud) -> list[Letter]:
    _a_reader(cloud)
    return [Letter(envelope("event.created", event(1)))]


def by_a_rule(body: str, queue: str) -> Letter:
    """As EventBridge puts what it cannot deliver: the event, and attributes that say why.

    https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-rule-dlq.html
    """
    return Letter(
        body,
        {
            "RULE_ARN": "arn:aws:events:us-east-1:123456789012:rule/gazette/GazetteProd-AllEvents",
            "TARGET_ARN": f"arn:aws:sqs:us-east-1:123456789012:gazette-prod-{queue}",
            "ERROR_CODE": "NO_PERMISSIONS",
            "ERROR_MESSAGE": "Access to the resource is denied.",
            "RETRY_ATTEMPTS": "0",
        },
    )


def _by_the_bus(cloud: Cloud) -> list[Letter]:
    return [by_a_rule(letter.body, "ingest") for letter in _by_ingest(cloud)]


def _by_followers(cloud: Cloud) -> list[Letter]:
    _a_reader(cloud)
    cloud.say("follow.created", follow())
    cloud.say("activity.created", {**happening(1), "parent": reference("post#p1")})
    walk = {"entity": "post#p1", "activity_id": "e1", "side": "post#p1", "after": ""}
    return [Letter(json.dumps(walk))]


def _by_fan_out(cloud: Cloud) -> list[Letter]:
    _by_ingest(cloud)
    cloud.say("event.created", event(1))
    return [Letter(due_shard(cloud))]


def _by_the_sweep(cloud: Cloud) -> list[Letter]:
    _by_a_worker(cloud)
    return [Letter(json.dumps({"partition": 0}))]


def _by_a_worker(cloud: Cloud) -> list[Letter]:
    _a_reader(cloud)
    cloud.say("event.created", event(1))
    return [*map(Letter, fan_out(cloud))]


def _by_resend(cloud: Cloud) -> list[Letter]:
    (message,) = _by_a_worker(cloud)
    return [Letter(dead_letter(refused_to_the_end(message.body)))]


def _by_content(cloud: Cloud) -> list[Letter]:
    cloud.say("subscriber.changed", profile())
    return [Letter(fetch_for("ann"))]


def _by_feedback(cloud: Cloud) -> list[Letter]:
    (message,) = _by_a_worker(cloud)
    cloud.work("generate", message.body)
    return [Letter(complaint())]


def _by_both_paths_of_ses(cloud: Cloud) -> list[Letter]:
    """By the rule, and by the subscription of the topic, with and without SNS's envelope."""
    (letter,) = _by_feedback(cloud)
    record = json.dumps({"eventType": "Complaint", **json.loads(letter.body)["detail"]})
    by_sns = {"RequestID": "r1", "ErrorCode": "403", "ErrorMessage": "AccessDenied"}
    wrapped = json.dumps({"Type": "Notification", "TopicArn": "arn", "Message": record})
    return [
        by_a_rule(letter.body, "feedback"),
        Letter(record, by_sns),
        Letter(wrapped, by_sns),
    ]


def _by_ingest_and_feedback(cloud: Cloud) -> list[Letter]:
    """An event whose link was refused, and a delivery event of an attempt that nobody knew."""
    (message,) = _by_a_worker(cloud)
    cloud.work("feedback", delivery_event())
    os.environ["GAZETTE_LINK_HOSTS"] = '["shop.example"]'
    make_cold()
    cloud.say("event.created", event(2))
    os.environ["GAZETTE_LINK_HOSTS"] = "[]"
    make_cold()
    cloud.work("generate", message.body)
    return quarantined(cloud)


def quarantined(cloud: Cloud) -> list[Letter]:
    """Take what is in the quarantine."""
    return [
        Letter(
            each["Body"],
            {name: given["StringValue"] for name, given in each["MessageAttributes"].items()},
        )
        for each in cloud.take("quarantine")
    ]


_ONE_EVENT = [("ann", "e1")]
_COMPLAINED: Feedback = (["sent accepted"], ["complained"], ["complained_at"])
_DELIVERED: Feedback = (["sent accepted"], [], ["delivered_at"])

CONSOLE: Mapping[str, Way] = {
    "ingest-dead": Way(("ingest",), _by_ingest, events_of, _ONE_EVENT),
    "undelivered": Way(("ingest",), _by_the_bus, events_of, _ONE_EVENT),
    "quarantine": Way(
        ("ingest", "feedback"),
        _by_ingest_and_feedback,
        lambda cloud: (events_of(cloud), feedback_of(cloud)),
        ([*_ONE_EVENT, ("ann", "e2")], _DELIVERED),
    ),
    "followers-dead": Way(("followers",), _by_followers, events_of, _ONE_EVENT),
    "shard-dead": Way(("shard",), _by_fan_out, _runs, [("ann", 1)]),
    "sweep-dead": Way(("sweep",), _by_the_sweep, _runs, [("ann", 1)]),
    "generate-dead": Way(("generate",), _by_a_worker, _emails, 1),
    "immediate-dead": Way(("immediate",), _by_a_worker, _emails, 1),
    "resend-dead": Way(("resend",), _by_a_worker, _emails, 1),
    "failed": Way(("resend",), _by_resend, _runs, [("ann", 1), ("ann", 2)]),
    "content-dead": Way(
        ("content",), _by_content, events_of, [("ann", "recommendations:a")], asks=True
    ),
    "feedback-dead": Way(("feedback",), _by_feedback, feedback_of, _COMPLAINED),
    "feedback-undelivered": Way(("feedback",), _by_both_paths_of_ses, feedback_of, _COMPLAINED),
}
"""By the queue, without `gazette-<stage>-`. `ticks-undelivered` is purged."""
