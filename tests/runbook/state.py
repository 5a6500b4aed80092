"""The state in which a page of the runbook finds the stage: Ann's digest of a slot of 2026.

Rows are written by the adapters of Gazette, events and profiles go by the bus, messages are put on
the queues as functions put them.
"""

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

from gazette.adapters.aws.queues import encode_failed_run, encode_run_key
from gazette.adapters.aws.suppression_key import read_suppression_key
from gazette.adapters.dynamodb.control.batches import DynamoBatches
from gazette.adapters.dynamodb.events import DynamoEvents
from gazette.adapters.dynamodb.feedback.suppressions import DynamoSuppressions
from gazette.adapters.dynamodb.runs import DynamoRuns, run_sort_key
from gazette.adapters.dynamodb.schedules import DynamoSchedules
from gazette.adapters.dynamodb.subscribers import DynamoSubscribers
from gazette.bootstrap.parts.clock import now
from gazette.domain.dead_letters import KNOWN
from gazette.domain.delivery.run import BEGINNING, Reason, Run, Status
from gazette.domain.identity import address_hash
from gazette.domain.model import DAILY, Actor, Entity, Event, RunKey, Window
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.domain.templates.versions import DEPLOYED
from gazette.settings.delivery import GenerateSettings
from gazette.settings.environment import LIVE
from gazette.settings.ingest import IngestSettings

from demo.replay import SETTLE_SECONDS
from demo.ses import Accepted
from gazette_cli.restore.command import COPY
from gazette_support.bootstrap.sending import build_sending
from gazette_support.bootstrap.templates import build_templates
from gazette_support.bootstrap.withdrawals import build_withdrawals
from gazette_support.steps.sending import SendingContext, resume_sending
from gazette_support.steps.templates import TemplatesContext, roll_back
from gazette_support.steps.withdrawals import (
    WithdrawalContext,
    list_withdrawals,
    remove_withdrawal,
)
from tests.stage import Deployed

ANN = "ann"
ADDRESS = "ann@example.com"
KEY = RunKey(ANN, DAILY, 17)
SLOT = datetime(2026, 11, 22, 6, 10, tzinfo=UTC)
CATEGORY = "like"

_WORK = ("ingest", "followers", "shard", "generate", "resend", "feedback")
_OTHERS = ("quarantine",)
_NUMBERS = count(1)


@dataclass(frozen=True, slots=True)
class State:
    """The deployed stage with its tables, and `folder`, where commands run.

    `commands` is the folder on PATH that contains `gazette` and `aws`.
    """

    deployed: Deployed
    folder: Path
    commands: Path
    runs: DynamoRuns
    schedules: DynamoSchedules
    events: DynamoEvents
    batches: DynamoBatches
    subscribers: DynamoSubscribers
    suppressions: DynamoSuppressions
    sending: SendingContext
    templates: TemplatesContext
    withdrawals: WithdrawalContext

    @classmethod
    def of(cls, deployed: Deployed, folder: Path, commands: Path) -> "State":
        """By the settings of its functions."""
        settings = GenerateSettings.from_env(deployed.service.settings("generate"))
        ingest = IngestSettings.from_env(deployed.service.settings("ingest"))
        retention = settings.run_retention
        return cls(
            deployed,
            folder,
            commands,
            runs=DynamoRuns(settings.runs_table, retention=retention),
            schedules=DynamoSchedules(settings.schedules_table, shards=settings.shards),
            events=DynamoEvents(
                settings.events_table,
                retention=ingest.event_retention,
                timeout=5,
                clock=_a_moment_ago,
            ),
            batches=DynamoBatches(settings.control_table, retention=retention, clock=now),
            subscribers=DynamoSubscribers(settings.subscribers_table),
            suppressions=DynamoSuppressions(
                settings.suppressions_table,
                key=read_suppression_key(settings.suppressions_secret),
                clock=now,
            ),
            sending=build_sending(settings),
            templates=build_templates(settings),
            withdrawals=build_withdrawals(ingest),
        )

    def begin(self) -> None:
        """Nothing is wrong, and Ann's digest waits to be sent."""
        self.deployed.ses.script.clear()
        for queue in (*(dead.name for dead in KNOWN if not dead.is_optional), *_OTHERS):
            self.empty(queue)
        resume_sending(context=self.sending)
        is_new = self.sending.holds.release(CATEGORY)
        is_new |= self.end_withdrawals()
        if not self.templates.versions.in_force().current.is_deployed:
            roll_back(DEPLOYED.number, by="a test", context=self.templates)
            is_new = True
        if is_new:
            self.new_workers()
        self.allow()
        if not isinstance(self.subscribers.get(ANN), Subscriber):
            self.register()
        self.digest_is_due()

    def end_withdrawals(self) -> bool:
        """No withdrawal is in force. Return True if one was."""
        withdrawals = list_withdrawals(context=self.withdrawals)
        for each in withdrawals:
            remove_withdrawal(each.kind, each.id, context=self.withdrawals)
        return bool(withdrawals)

    def register(self) -> None:
        """Ann's profile, changed now."""
        self.deployed.service.put(
            "subscriber.changed",
            [
                {
                    "user_id": ANN,
                    "email": ADDRESS,
                    "name": "Ann",
                    "time_zone": "Europe/Berlin",
                    "changed_at": datetime.now(UTC).isoformat(),
                    "digest": {"hour": 7, "minute": 10},
                }
            ],
        )
        self.settle()

    def allow(self) -> None:
        """No address of hers is suppressed."""
        if found := self.suppressions.get(address_hash(ADDRESS)):
            self.suppressions.lift(address_hash(ADDRESS), found.cause)

    def digest_is_due(self, **given: Any) -> Run:
        """Her run of the slot, and one event for it, and nothing else of her; `given` of the run.

        No message for the run is on any queue.
        """
        self.empty("generate")
        self.empty("resend")
        for table in ("runs", "events"):
            self.forget(table, {"user_id": ANN})
        self.forget("control", {"kind": "batch"})
        self.batches.begin(SLOT)
        schedule = self.schedules.get(ANN, DAILY)
        assert schedule
        spent = replace(
            schedule, sequence=KEY.sequence + 1, revision=schedule.revision + 1, last_due_at=SLOT
        )
        assert self.schedules.put(spent, replacing=schedule)
        self.event_waits()
        run = Run(KEY, due_at=SLOT, check_at=now() + timedelta(hours=1))
        return self.runs.create(replace(run, **given))

    def damage(self, attribute: str, value: str) -> None:
        """Her run can no longer be read: this attribute of its row is something else."""
        self.deployed.service.tables.update_item(
            TableName=self.table("runs"),
            Key={"user_id": {"S": ANN}, "run": {"S": run_sort_key(KEY)}},
            UpdateExpression="SET #attribute = :value",
            ExpressionAttributeNames={"#attribute": attribute},
            ExpressionAttributeValues={":value": {"S": value}},
        )

    def event_waits(self) -> None:
        """Something new for her next digest, stored a moment ago."""
        event = Event(
            user_id=ANN,
            id=f"e{next(_NUMBERS)}",
            category=CATEGORY,
            entity=Entity("post", "p1", "On digests", "https://example.com/p1"),
            actor=Actor("bo", "Bo"),
            occurred_at=_a_moment_ago(),
        )
        assert self.events.store(event, DAILY)[0]

    def digest_failed(self) -> None:
        """The provider refused her run six times: it is on the queue `failed`."""
        self.digest_is_due(
            status=Status.FAILED,
            reason=Reason.ATTEMPTS_EXHAUSTED,
            attempt=6,
            refusals=6,
            detail="TooManyRequestsException",
            window=Window(BEGINNING, _a_moment_ago()),
        )
        self.send("failed", encode_failed_run(KEY).body)

    def try_to_send(self) -> None:
        """Her run comes to generate, and is worked off or delayed."""
        self.empty("generate")
        self.send("generate", encode_run_key(KEY))
        self.settle(delayed=False)

    def send(self, queue: str, body: str) -> None:
        """A message as a function puts it there."""
        service = self.deployed.service
        service.queues.send_message(QueueUrl=service.queue_url(queue), MessageBody=body)

    def empty(self, queue: str) -> None:
        """Delete what waits there."""
        service = self.deployed.service
        service.queues.purge_queue(QueueUrl=service.queue_url(queue))

    def waiting(self, queue: str) -> int:
        """How many messages are on the queue."""
        return self.deployed.service.messages_in(queue)

    def settle(self, *, delayed: bool = True) -> None:
        """Everything that was put on a queue is worked off."""
        self.deployed.service.wait_until_drained(*_WORK, delayed=delayed)

    def new_workers(self) -> None:
        """What workers keep for a minute is read anew."""
        functions = self.deployed.service.functions
        for page in functions.get_paginator("list_functions").paginate():
            for found in page["Functions"]:
                name = found["FunctionName"]
                settings = {**found["Environment"]["Variables"], "RENEWED": str(next(_NUMBERS))}
                functions.update_function_configuration(
                    FunctionName=name, Environment={"Variables": settings}
                )
                version = functions.publish_version(FunctionName=name)["Version"]
                functions.update_alias(FunctionName=name, Name=LIVE, FunctionVersion=version)

    def next_digest(self) -> None:
        """One more event comes by the bus, and then the hour of her next digest."""
        self.deployed.service.put(
            "event.created",
            [
                {
                    "id": f"e{next(_NUMBERS)}",
                    "user_id": ANN,
                    "category": CATEGORY,
                    "entity": {
                        "type": "post",
                        "id": "p1",
                        "title": "On digests",
                        "url": "https://example.com/p1",
                    },
                    "actor": {"id": "cy", "name": "Cy"},
                    "occurred_at": datetime.now(UTC).isoformat(),
                }
            ],
        )
        self.settle()
        time.sleep(SETTLE_SECONDS)
        self.strike()

    def strike(self) -> None:
        """It is the hour of her next digest."""
        schedule = self.schedules.get(ANN, DAILY)
        assert schedule
        self.deployed.service.turn_back(schedule.next_due_at - timedelta(minutes=20))
        self.deployed.service.tick(schedule.next_due_at)
        self.settle()

    @property
    def inbox(self) -> list[Accepted]:
        """Her emails, in order."""
        return self.deployed.inbox(ANN)

    @contextmanager
    def emails(self, number: int) -> Iterator[None]:
        """She gets so many meanwhile, neither more nor less."""
        before = len(self.inbox)
        yield
        got = len(self.inbox) - before
        assert got == number, f"Ann got {got} emails, not {number}"

    def forget(self, table: str, key: Mapping[str, str]) -> None:
        """Delete all rows of a partition."""
        name = self.table(table)
        described = self.deployed.service.tables.describe_table(TableName=name)
        names = [each["AttributeName"] for each in described["Table"]["KeySchema"]]
        for row in self.rows(table, key):
            found = {each: row[each] for each in names}
            self.deployed.service.tables.delete_item(TableName=name, Key=found)

    def rows(
        self, table: str, key: Mapping[str, str], *, copy: bool = False
    ) -> list[dict[str, Any]]:
        """The rows of a partition, or those of the copy that a restore has made."""
        ((partition, value),) = key.items()
        found = self.deployed.service.tables.query(
            TableName=f"{self.table(table)}{COPY if copy else ''}",
            ConsistentRead=True,
            KeyConditionExpression="#key = :key",
            ExpressionAttributeNames={"#key": partition},
            ExpressionAttributeValues={":key": {"S": value}},
        )
        return list(found["Items"])

    def table(self, name: str) -> str:
        """The name that CloudFormation gave the table."""
        return self.deployed.service.settings("ingest")[f"GAZETTE_{name.upper()}_TABLE"]


def _a_moment_ago() -> datetime:
    """Long enough that every window holds it."""
    return datetime.now(UTC) - timedelta(minutes=1)


def envelope(detail_type: str, detail: dict[str, Any]) -> str:
    """A message of the ingest queue, as EventBridge writes it."""
    return json.dumps(
        {
            "version": "0",
            "id": f"00000000-0000-0000-0000-{next(_NUMBERS):012}",
            "detail-type": detail_type,
            "source": "campus.messages",
            "account": "000000000000",
            "time": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
            "region": "us-east-1",
            "resources": [],
            "detail": detail,
        }
    )
