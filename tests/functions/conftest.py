"""The real handlers on moto, with the settings that the stack would write."""

import io
import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import boto3
import pytest
from aws_lambda_powertools.utilities import parameters
from aws_lambda_powertools.utilities.typing import LambdaContext
from gazette.bootstrap import fanout, generate, ingest, preferences
from gazette.observability import logger
from gazette.settings import (
    FanoutSettings,
    GenerateSettings,
    IngestSettings,
    PreferencesSettings,
)
from moto import mock_aws

from tests.meter import Meter, metered
from tests.moto_tables import create_tables

_KEY = "k" * 64


class Context(LambdaContext):
    """What Lambda hands to a handler."""

    def __init__(self) -> None:
        self._function_name = "gazette-test"
        self._memory_limit_in_mb = 512
        self._invoked_function_arn = "arn:aws:lambda:us-east-1:123456789012:function:gazette-test"
        self._aws_request_id = "request"

    @staticmethod
    def get_remaining_time_in_millis() -> int:
        return 60_000


@dataclass
class Cloud:
    """An account on moto with everything that the functions need."""

    meter: Meter
    queues: dict[str, str] = field(default_factory=dict)

    def take(self, queue: str) -> list[dict[str, Any]]:
        """Receive and delete what is on a queue."""
        client = boto3.client("sqs")
        taken: list[dict[str, Any]] = []
        while messages := client.receive_message(
            QueueUrl=self.queues[queue], MaxNumberOfMessages=10, MessageAttributeNames=["All"]
        ).get("Messages"):
            taken.extend(dict(message) for message in messages)
            for message in messages:
                client.delete_message(
                    QueueUrl=self.queues[queue], ReceiptHandle=message["ReceiptHandle"]
                )
        return taken


@pytest.fixture
def context() -> Context:
    return Context()


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch, templates_on_path: None) -> Iterator[Cloud]:
    """Tables, queues, secret and identity; functions are built anew for each test."""
    for name, value in {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    with mock_aws():
        create_tables()
        sqs = boto3.client("sqs")
        queues = {
            name: sqs.create_queue(QueueName=name)["QueueUrl"]
            for name in ("quarantine", "shard", "generate")
        }
        secret = boto3.client("secretsmanager").create_secret(Name="links", SecretString=_KEY)
        boto3.client("sesv2").create_email_identity(EmailIdentity="digest@example.com")
        for settings in _settings(queues, secret["ARN"]):
            for variable, value in settings.to_env().items():
                monkeypatch.setenv(variable, value)
        for built in (
            ingest.build,
            fanout.build_tick,
            fanout.build_fan_out,
            generate.build,
            preferences.build,
        ):
            built.cache_clear()
        parameters.clear_caches()  # type: ignore[no-untyped-call]
        with metered(monkeypatch) as meter:
            yield Cloud(meter, queues)


@pytest.fixture
def logs() -> Iterator[io.StringIO]:
    """What the function writes to its log."""
    handler = logger().registered_handler
    assert isinstance(handler, logging.StreamHandler)
    written = io.StringIO()
    before = handler.setStream(written)
    yield written
    handler.setStream(before)


def records(*bodies: str) -> dict[str, Any]:
    """An SQS event with one record per body, ids `m0`, `m1`, …"""
    return {
        "Records": [
            {
                "messageId": f"m{number}",
                "receiptHandle": f"r{number}",
                "body": body,
                "attributes": {"ApproximateReceiveCount": "1"},
                "messageAttributes": {},
                "eventSource": "aws:sqs",
                "eventSourceARN": "arn:aws:sqs:us-east-1:123456789012:queue",
                "awsRegion": "us-east-1",
            }
            for number, body in enumerate(bodies)
        ]
    }


def envelope(detail_type: str, detail: object) -> str:
    """A message as EventBridge puts it on the ingest queue."""
    return json.dumps(
        {
            "version": "0",
            "id": "6a7e8feb-b491-4cf7-a9f1-bf3703467718",
            "detail-type": detail_type,
            "source": "test",
            "account": "123456789012",
            "time": "2026-11-22T07:00:00Z",
            "region": "us-east-1",
            "resources": [],
            "detail": detail,
        }
    )


def event_detail(number: int, *, entity: int = 1) -> dict[str, Any]:
    """The detail of an `event.created`."""
    return {
        "id": f"e{number}",
        "user_id": "ann",
        "category": "comment",
        "entity": {
            "type": "post",
            "id": f"p{entity}",
            "title": f"Post {entity}",
            "url": f"https://example.com/p{entity}",
        },
        "actor": {"id": f"u{number}", "name": f"User {number}"},
        "occurred_at": "2026-11-22T06:00:00Z",
        "excerpt": "x" * 200,
    }


def subscriber_detail() -> dict[str, Any]:
    """The detail of a `subscriber.changed`."""
    return {
        "user_id": "ann",
        "email": "ann@example.com",
        "name": "Ann",
        "time_zone": "Europe/Berlin",
        "changed_at": "2026-11-22T06:00:00Z",
    }


def _settings(
    queues: dict[str, str], secret: str
) -> tuple[IngestSettings, FanoutSettings, GenerateSettings, PreferencesSettings]:
    return (
        IngestSettings(
            subscribers_table="subscribers",
            schedules_table="schedules",
            events_table="events",
            quarantine_queue_url=queues["quarantine"],
            shards=1,
            event_retention_days=90,
        ),
        FanoutSettings(
            schedules_table="schedules",
            runs_table="runs",
            shard_queue_url=queues["shard"],
            generate_queue_url=queues["generate"],
            shards=1,
            lookback_slots=0,
            spread=0,
            check_after=3600,
            run_retention_days=180,
        ),
        GenerateSettings(
            subscribers_table="subscribers",
            events_table="events",
            runs_table="runs",
            links_secret=secret,
            base_url="https://example.com",
            mail_provider="ses",
            sender="Gazette <digest@example.com>",
            list_id="digest.example.com",
            configuration_set="digest",
            smtp_host="",
            smtp_port=465,
            smtp_security="tls",
            smtp_secret="",
            settle_lag=2,
            send_timeout=10,
            commit_margin=5,
            clock_skew=0,
            max_groups=20,
            event_retention_days=90,
            run_retention_days=180,
        ),
        PreferencesSettings(
            subscribers_table="subscribers",
            schedules_table="schedules",
            runs_table="runs",
            links_secret=secret,
            shards=1,
            run_retention_days=180,
        ),
    )
