"""An SMTP server refuses MAIL for ten minutes, as one does whose account is suspended.

By default the ten minutes pass by the functions' clocks: they are set ahead, and what waits in SQS
for the next look at the breaker is put there again at once. `OUTAGE_SECONDS=600` lets them pass by
the real clock, in which nobody touches a queue; that takes about half an hour.
"""

import os
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email import message_from_bytes, policy
from pathlib import Path
from typing import Any

import boto3
import pytest
from gazette.adapters.aws.clients import forget
from gazette.adapters.aws.queues import SqsQueue, encode_run, sqs_client
from gazette.adapters.dynamodb.runs import DynamoRuns
from gazette.domain.delivery.run import Run, Status
from gazette.domain.ports.queues import QueuedRun
from gazette.domain.scheduling.calendar import slot_of

from benchmarks.readers import fill
from demo.client import as_client_of
from demo.engine import Engine, deploy, running
from demo.service import Service
from demo.ses import StandIn
from demo.written import written
from tests.infra.alarm_states import Recorded, state
from tests.scripted_smtp import ScriptedSmtp
from tests.stage import FEW, Deployed, a_comment, a_profile

REAL_SECONDS = int(os.environ.get("OUTAGE_SECONDS", "0"))
"""How long the server refuses by the real clock; 0: ten minutes of the functions' clocks."""

DIGESTS = 8
AT_ONCE = ("ann", "bob")
READERS = [*(f"reader{number}" for number in range(DIGESTS)), *AT_ONCE]

REFUSAL = "552 Your account has been suspended. Please contact us to reactivate"
PROBES = (2, 4, 7, 10)
"""Minutes after the beginning at which the runs are looked at again."""

QUEUES = ("generate", "immediate", "resend")
STEPS = ("generate", "resend")


@dataclass
class Outage:
    """The deployed stage, its SMTP server, and when the server began to refuse."""

    deployed: Deployed
    folder: Path
    server: ScriptedSmtp
    replies: dict[str, str]
    began: datetime

    def runs(self) -> Sequence[Run]:
        """All runs that are stored."""
        table = self.deployed.service.settings("generate")["GAZETTE_RUNS_TABLE"]
        with as_client_of(self.deployed.engine):
            forget()
            pages = boto3.client("dynamodb").get_paginator("scan").paginate(TableName=table)
            users = {item["user_id"]["S"] for page in pages for item in page["Items"]}
            stored = DynamoRuns(table, retention=timedelta(days=200))
            found = [run for user in users for run in stored.of_user(user)]
        forget()
        assert all(isinstance(run, Run) for run in found)
        return [run for run in found if isinstance(run, Run)]

    def emails(self) -> Mapping[str, int]:
        """How many emails each reader has got."""
        to = (message_from_bytes(each, policy=policy.default) for each in self.server.messages)
        return Counter(str(each["To"]).partition("@")[0] for each in to)

    def settle(self) -> None:
        """Everything but what waits for the next look has been worked off."""
        self.deployed.service.wait_until_drained("shard", *QUEUES, within=120, delayed=False)

    def look_again(self, minutes: float) -> None:
        """It is so many minutes later, and the messages of open runs come."""
        service = self.deployed.service
        service.set_clock(self.began + timedelta(minutes=minutes))
        for queue in QUEUES:
            service.queues.purge_queue(QueueUrl=service.queue_url(queue))
        waiting = [run.key for run in self.runs() if not run.status.is_final]
        with as_client_of(self.deployed.engine):
            forget()
            for queue, is_immediate in (("generate", False), ("immediate", True)):
                runs = SqsQueue(sqs_client(), service.queue_url(queue), encode_run)
                runs.send(
                    [
                        QueuedRun(key, timedelta(0))
                        for key in waiting
                        if key.is_immediate is is_immediate
                    ]
                )
        forget()
        self.settle()

    def metrics(self) -> Counter[str]:
        """The sums of what generate and resend have counted."""
        sums: Counter[str] = Counter()
        for each in written(self.deployed.service, *STEPS):
            sums[each.name] += int(each.value)
        return sums

    def alarm(self, name: str, at: datetime) -> str:
        """The state of an alarm of the deployed stage, by the metrics that were written."""
        session = boto3.Session("test", "test", region_name="us-east-1")
        client = session.client("cloudwatch", endpoint_url=self.deployed.engine.url)
        found: Any = client.describe_alarms(AlarmNames=[f"gazette-local-{name}"])
        (alarm,) = found["MetricAlarms"]
        recorded = Recorded()
        for each in written(self.deployed.service, *STEPS):
            recorded.add(each.name, each.value, each.at)
        series = recorded.series(
            alarm["MetricName"],
            statistic=alarm["Statistic"],
            period=alarm["Period"],
            until=at + timedelta(minutes=1),
            periods=90,
        )
        return state(alarm, series)


@contextmanager
def deployed_with(server: ScriptedSmtp, folder: Path) -> Iterator[tuple[Engine, Service, StandIn]]:
    """A stage that sends through the server."""
    with (
        server.served() as where,
        StandIn() as ses,
        running(ses_url=ses.url, folder=folder) as engine,
    ):
        outputs = deploy(
            engine,
            folder,
            base_url=ses.url,
            concurrency=FEW,
            mail_provider="smtp",
            smtp_host=where.host,
            smtp_port=where.port,
            smtp_security=where.security,
            unknown_policy="carry_over",
            emails_per_second=50,
            immediate_sender="Now <now@campus.example>",
            sandbox=False,
        )
        yield engine, Service.at(engine, outputs), ses


@pytest.fixture
def outage(tmp_path: Path) -> Iterator[Outage]:
    """Digests have come due and comments were made, and the server refuses all of it."""
    replies = {"MAIL": REFUSAL}
    server = ScriptedSmtp(replies)
    with deployed_with(server, tmp_path) as (engine, service, ses):
        deployed = Deployed(engine, service, ses)
        began = datetime.now(UTC)
        slot = slot_of(began + timedelta(hours=2))
        fill(service, DIGESTS, slot, lambda _: None)
        chosen = {"frequencies": {"comment": "immediate"}}
        service.put("subscriber.changed", [a_profile(user) | chosen for user in AT_ONCE])
        service.wait_until_drained("ingest")
        service.put("event.created", [a_comment(user, 1) for user in AT_ONCE])
        service.wait_until_drained("ingest")
        service.tick(slot)
        found = Outage(deployed, tmp_path, server, replies, began)
        found.settle()
        yield found


def test_emails_wait_during_an_smtp_outage_and_are_sent_once(outage: Outage) -> None:
    assert not outage.emails()
    if REAL_SECONDS:
        time.sleep(max(0, REAL_SECONDS - (datetime.now(UTC) - outage.began).total_seconds()))
    else:
        for minutes in PROBES:
            outage.look_again(minutes)
    over = datetime.now(UTC) if REAL_SECONDS else outage.began + timedelta(minutes=PROBES[-1])

    _check_that_all_waits(outage, over)

    del outage.replies["MAIL"]
    _recover(outage)

    assert outage.emails() == dict.fromkeys(READERS, 1)
    assert {run.status for run in outage.runs()} == {Status.SENT}
    assert outage.metrics()["run_failed"] == 0
    assert "552" not in outage.deployed.gazette("sending", "status")


def _check_that_all_waits(outage: Outage, at: datetime) -> None:
    """Both streams are stopped, somebody is told, and no run has used up an attempt or ended."""
    said = outage.deployed.gazette("sending", "status")
    assert said.count("MAIL: 552 your account has been suspended") == 2, said
    assert outage.alarm("breaker-opened", at) == "ALARM"
    assert outage.alarm("emails-failed", at) == "OK"
    assert outage.metrics()["breaker_opened"] >= 2
    runs = outage.runs()
    assert len(runs) == len(READERS)
    assert not any(run.status.is_final or run.refusals or run.uncertain for run in runs)
    assert not outage.emails()
    # Nobody but probes asked: at most one for each step of each stream, and who was on the way.
    assert outage.server.heard.count("MAIL") <= 2 * (len(PROBES) + 1) + 2 * max(FEW.values())


def _recover(outage: Outage) -> None:
    """The next probes are accepted, and the others follow."""
    if not REAL_SECONDS:
        for minutes in (20, 45, 46):
            outage.look_again(minutes)
        return
    until = time.monotonic() + 2 * 45 * 60
    while len(outage.emails()) < len(READERS):
        assert time.monotonic() < until, outage.emails()
        time.sleep(5)
    outage.settle()
