"""The deployed stage as its users see it: services that put events, a clock, queues to watch."""

import json
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
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
"""Seconds. A queue is never seen empty between two that hand on: they are counted in that order."""
_PATIENCE = 120
"""Seconds in which something changes while messages are worked off, even on a slow machine."""
_AT_MOST = 1_800
"""Seconds that anything may take to be worked off."""


class ServiceError(Exception):
    """The deployed stage did not do what was asked."""


@dataclass(frozen=True, slots=True)
class Service:
    """Clients of one deployed stage, whose functions and queues have names with `prefix`.

    `urls` remembers the addresses of its queues.
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
        """The stage that was deployed to `engine`."""
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
        """Put the details as a service does, on two threads. Returns how many. Raises NotPut."""
        producer = Producer("campus.messages", bus=self.bus, client=self.events)
        remaining = iter(details)
        chunks = iter(lambda: list(islice(remaining, _DETAILS_A_CHUNK)), [])
        with ThreadPoolExecutor(2) as workers:
            return sum(workers.map(lambda chunk: producer.put(chunk, detail_type), chunks))

    def tick(self, time_of_tick: datetime, step: str = "fanout") -> None:
        """What EventBridge Scheduler does every ten minutes, or five minutes for the sweep."""
        answer = self.functions.invoke(
            FunctionName=f"{self.prefix}-{step}",
            Qualifier=LIVE,
            Payload=json.dumps({"time": time_of_tick.isoformat()}),
        )
        if "FunctionError" in answer:
            raise ServiceError(f"{step} failed: {answer['Payload'].read().decode()}")

    def set_clock(self, to: datetime) -> None:
        """Let it be `to` for all functions, and time go on from there.

        Call it while their queues are empty: what runs goes on with the time that it had.
        """
        ahead = int((to - datetime.now(UTC)).total_seconds())
        for page in self.functions.get_paginator("list_functions").paginate():
            for found in page["Functions"]:
                settings = found["Environment"]["Variables"]
                variables = {**settings, "DEMO_CLOCK_AHEAD": str(ahead)}
                self.change(found["FunctionName"], Environment={"Variables": variables})

    def change(self, function: str, **configuration: Any) -> None:
        """Change a function's configuration, and let the alias point to a version that has it."""
        self.functions.update_function_configuration(FunctionName=function, **configuration)
        version = self.functions.publish_version(FunctionName=function)["Version"]
        self.functions.update_alias(FunctionName=function, Name=LIVE, FunctionVersion=version)

    def settings(self, step: str) -> dict[str, str]:
        """The environment of the function of a step: what it is set to, its tables too."""
        found = self.functions.get_function_configuration(FunctionName=f"{self.prefix}-{step}")
        return found["Environment"]["Variables"]

    def messages_in(self, queue: str, *, delayed: bool = True) -> int:
        """Messages visible or in flight, as SQS counts them, and those that are `delayed`."""
        found = self.queues.get_queue_attributes(
            QueueUrl=self.queue_url(queue),
            AttributeNames=[
                "ApproximateNumberOfMessages",
                "ApproximateNumberOfMessagesDelayed",
                "ApproximateNumberOfMessagesNotVisible",
            ],
        )["Attributes"]
        hidden = 0 if delayed else int(found["ApproximateNumberOfMessagesDelayed"])
        return sum(map(int, found.values())) - hidden

    def _troubles(self, *queues: str) -> list[str]:
        """The last warnings and errors in the logs of the functions behind the queues."""
        found = []
        for queue in queues:
            with suppress(self.logs.exceptions.ResourceNotFoundException):
                for page in self.logs.get_paginator("filter_log_events").paginate(
                    logGroupName=f"/aws/lambda/{self.prefix}-{queue}"
                ):
                    found += [each["message"] for each in page["events"]]
        return [line for line in found if '"WARNING"' in line or '"ERROR"' in line][-3:]

    def _visibility_of(self, queue: str) -> int:
        """Seconds for which the queue hides a message that was received."""
        found = self.queues.get_queue_attributes(
            QueueUrl=self.queue_url(queue), AttributeNames=["VisibilityTimeout"]
        )
        return int(found["Attributes"]["VisibilityTimeout"])

    def queue_url(self, queue: str) -> str:
        """The address of the stage's queue of that name."""
        if queue not in self.urls:
            answer = self.queues.get_queue_url(QueueName=f"{self.prefix}-{queue}")
            self.urls[queue] = answer["QueueUrl"]
        return self.urls[queue]

    def queue_arn(self, queue: str) -> str:
        """Its name for policies."""
        answer = self.queues.get_queue_attributes(
            QueueUrl=self.queue_url(queue), AttributeNames=["QueueArn"]
        )
        return answer["Attributes"]["QueueArn"]

    def wait_until_drained(
        self, *queues: str, within: float | None = None, delayed: bool = True
    ) -> None:
        """Return when the queues have been seen empty a few times in a row.

        `delayed`: wait for delayed messages too. `within`: seconds in which something about them
        has to change; by default two minutes more than a message whose worker failed stays hidden.

        Raises ServiceError where nothing has changed for so long, or where that takes half an hour.
        What is left may stay the same in number while work goes on: fan-out puts as many messages
        on a queue as generate takes from it.
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
                    f"Messages are left after {now - began:.0f} s, "
                    f"and for {now - changed:.0f} s as many: {counts}. "
                    f"Their workers said last: {self._troubles(*queues) or 'no warning'}"
                )
            time.sleep(_LOOKS_EVERY)

    def turn_back(self, slot: datetime) -> None:
        """Let every shard take `slot` for the last one that it is done with, whatever it did."""
        table = self.settings("fanout")["GAZETTE_CONTROL_TABLE"]
        found = self.tables.query(
            TableName=table,
            KeyConditionExpression="kind = :kind",
            ExpressionAttributeValues={":kind": {"S": "checkpoint"}},
        )
        for row in found["Items"]:
            self.tables.update_item(
                TableName=table,
                Key={name: row[name] for name in ("kind", "id")},
                UpdateExpression="SET slot = :slot",
                ExpressionAttributeValues={":slot": {"S": f"{slot:%Y-%m-%dT%H:%M:%S.%fZ}"}},
            )
