"""A client of the deployed stage that publishes events, ticks the clock and watches queues."""

import json
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import islice
from math import ceil
from typing import TYPE_CHECKING, Any

import boto3
from gazette.settings.environment import LIVE

from demo.engine import Engine
from producer.gazette_events import Producer

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_events import EventBridgeClient
    from mypy_boto3_lambda import LambdaClient
    from mypy_boto3_logs import CloudWatchLogsClient
    from mypy_boto3_sqs import SQSClient

_DETAILS_A_CHUNK = 100
_QUIET_FOR = 2
_LOOKS_EVERY = 0.2
"""The interval in seconds between counts of the queues.

Queues are counted in the order of the flow, so that no message in transit is missed.
"""
_PATIENCE = 120
"""The longest time in seconds without a change while a slow machine processes messages."""
_AT_MOST = 1_800
"""The time limit in seconds for processing all messages."""


class ServiceError(Exception):
    """An error for a failure of the deployed stage."""


@dataclass(frozen=True, slots=True)
class Service:
    """Clients of one deployed stage.

    The names of its functions and queues begin with `prefix`. `urls` caches the URLs of its queues.
    """

    bus: str
    events: "EventBridgeClient"
    functions: "LambdaClient"
    queues: "SQSClient"
    tables: "DynamoDBClient"
    logs: "CloudWatchLogsClient"
    prefix: str = "gazette-local"
    urls: dict[str, str] = field(default_factory=dict)

    @classmethod
    def at(cls, engine: Engine, outputs: Mapping[str, str], *, stage: str = "local") -> "Service":
        """Return a client for the stage deployed to `engine`."""
        session = boto3.Session(
            aws_access_key_id=engine.environment["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=engine.environment["AWS_SECRET_ACCESS_KEY"],
            region_name=engine.environment["AWS_REGION"],
        )
        return cls(
            bus=outputs["BusName"],
            events=session.client("events", endpoint_url=engine.url),
            functions=session.client("lambda", endpoint_url=engine.url),
            queues=session.client("sqs", endpoint_url=engine.url),
            tables=session.client("dynamodb", endpoint_url=engine.url),
            logs=session.client("logs", endpoint_url=engine.url),
            prefix=f"gazette-{stage}",
        )

    def put(self, detail_type: str, details: Iterable[Mapping[str, Any]]) -> int:
        """Publish the details on two threads, and return their number.

        Raise NotPut if some are not published.
        """
        producer = Producer("campus.messages", bus=self.bus, client=self.events)
        remaining = iter(details)
        chunks = iter(lambda: list(islice(remaining, _DETAILS_A_CHUNK)), [])
        with ThreadPoolExecutor(2) as workers:
            return sum(workers.map(lambda chunk: producer.put(chunk, detail_type), chunks))

    def tick(self, time_of_tick: datetime, step: str = "fanout") -> None:
        """Invoke a step as EventBridge Scheduler does every five or ten minutes."""
        answer = self.functions.invoke(
            FunctionName=f"{self.prefix}-{step}",
            Qualifier=LIVE,
            Payload=json.dumps({"time": time_of_tick.isoformat()}),
        )
        if "FunctionError" in answer:
            raise ServiceError(f"{step} failed: {answer['Payload'].read().decode()}")

    def set_clock(self, to: datetime) -> None:
        """Set the clock of all functions to `to`, or up to a second later. It continues from there.

        Call this only while the functions' queues are empty, because running workers keep their old
        time.
        """
        ahead = ceil((to - datetime.now(UTC)).total_seconds())
        for page in self.functions.get_paginator("list_functions").paginate():
            for function in page["Functions"]:
                settings = function["Environment"]["Variables"]
                variables = {**settings, "DEMO_CLOCK_AHEAD": str(ahead)}
                self.change(function["FunctionName"], Environment={"Variables": variables})

    def clock(self) -> datetime:
        """Return the time that the clock of the functions shows."""
        ahead = int(self.settings("fanout").get("DEMO_CLOCK_AHEAD", "0"))
        return datetime.now(UTC) + timedelta(seconds=ahead)

    def change(self, function: str, **configuration: Any) -> None:
        """Change a function's configuration, and point its alias to a version with the new
        configuration.
        """
        self.functions.update_function_configuration(FunctionName=function, **configuration)
        version = self.functions.publish_version(FunctionName=function)["Version"]
        self.functions.update_alias(FunctionName=function, Name=LIVE, FunctionVersion=version)

    def settings(self, step: str) -> dict[str, str]:
        """Return the environment variables of a step's function, which contain its settings and
        tables.
        """
        answer = self.functions.get_function_configuration(FunctionName=f"{self.prefix}-{step}")
        return answer["Environment"]["Variables"]

    def messages_in(self, queue: str, *, delayed: bool = True) -> int:
        """Count messages that are visible, in flight or, if `delayed`, delayed."""
        counts = self.queues.get_queue_attributes(
            QueueUrl=self.queue_url(queue),
            AttributeNames=[
                "ApproximateNumberOfMessages",
                "ApproximateNumberOfMessagesDelayed",
                "ApproximateNumberOfMessagesNotVisible",
            ],
        )["Attributes"]
        hidden = 0 if delayed else int(counts["ApproximateNumberOfMessagesDelayed"])
        return sum(map(int, counts.values())) - hidden

    def _troubles(self, *queues: str) -> list[str]:
        """Return the last warnings and errors in the logs of the functions that the queues feed."""
        lines: list[str] = []
        for queue in queues:
            with suppress(self.logs.exceptions.ResourceNotFoundException):
                for page in self.logs.get_paginator("filter_log_events").paginate(
                    logGroupName=f"/aws/lambda/{self.prefix}-{queue}"
                ):
                    lines += [each["message"] for each in page["events"]]
        return [line for line in lines if '"WARNING"' in line or '"ERROR"' in line][-3:]

    def _visibility_of(self, queue: str) -> int:
        """Return the visibility time-out of the queue in seconds."""
        answer = self.queues.get_queue_attributes(
            QueueUrl=self.queue_url(queue), AttributeNames=["VisibilityTimeout"]
        )
        return int(answer["Attributes"]["VisibilityTimeout"])

    def queue_url(self, queue: str) -> str:
        """Return the URL of the stage's queue."""
        if queue not in self.urls:
            answer = self.queues.get_queue_url(QueueName=f"{self.prefix}-{queue}")
            self.urls[queue] = answer["QueueUrl"]
        return self.urls[queue]

    def queue_arn(self, queue: str) -> str:
        """Return the ARN of the stage's queue."""
        answer = self.queues.get_queue_attributes(
            QueueUrl=self.queue_url(queue), AttributeNames=["QueueArn"]
        )
        return answer["Attributes"]["QueueArn"]

    def wait_until_drained(
        self, *queues: str, within: float | None = None, delayed: bool = True
    ) -> None:
        """Wait until the queues have been empty several times in a row.

        `delayed` includes delayed messages. `within` is the number of seconds in which the counts
        must change. The default is two minutes longer than the visibility time-out of a message
        whose worker failed. Raise ServiceError if the counts do not change for that long, or after
        half an hour. Counts may also remain unchanged during work, because fan-out may send as many
        messages to a queue as generate receives.
        """
        if within is None:
            within = max(map(self._visibility_of, queues)) + _PATIENCE
        began = changed = time.monotonic()
        before: dict[str, int] = {}
        quiet = 0
        while quiet < _QUIET_FOR:
            counts = {queue: self.messages_in(queue, delayed=delayed) for queue in queues}
            now = time.monotonic()
            if counts != before:
                before, changed = counts, now
            quiet = 0 if any(counts.values()) else quiet + 1
            if quiet == 0 and (now - changed > within or now - began > _AT_MOST):
                raise ServiceError(
                    f"Messages remain after {now - began:.0f} s, "
                    f"and their numbers have not changed for {now - changed:.0f} s: {counts}. "
                    f"Last log lines of their workers: {self._troubles(*queues) or 'no warning'}"
                )
            time.sleep(_LOOKS_EVERY)

    def turn_back(self, slot: datetime) -> None:
        """Set the checkpoint of every shard to `slot`, regardless of its current value."""
        table = self.settings("fanout")["GAZETTE_CONTROL_TABLE"]
        answer = self.tables.query(
            TableName=table,
            KeyConditionExpression="kind = :kind",
            ExpressionAttributeValues={":kind": {"S": "checkpoint"}},
        )
        for row in answer["Items"]:
            self.tables.update_item(
                TableName=table,
                Key={name: row[name] for name in ("kind", "id")},
                UpdateExpression="SET slot = :slot",
                ExpressionAttributeValues={":slot": {"S": f"{slot:%Y-%m-%dT%H:%M:%S.%fZ}"}},
            )
