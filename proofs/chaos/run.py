"""Digests that go out while their workers are killed. None may be lost or sent twice.

The real stacks run on the embedded engine. The stand-in for SES accepts every message, and loses
some answers. Its events arrive late, twice and out of order, but they do arrive. Processes are
killed with SIGKILL, each by its process id. Dead letters are redriven each time.
"""

import json
import os
import signal
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import boto3
from gazette.adapters.aws.queues import encode_run_key
from gazette.domain.model import RunKey
from gazette.domain.scheduling.calendar import slot_of
from gazette.settings.environment import LIVE
from gazette.settings.fanout import FanoutSettings

from benchmarks.readers import Progress, fill
from benchmarks.reckoning import Stored, reckon
from benchmarks.workers import Workers
from demo.client import as_client_of
from demo.engine import deploy, running
from demo.service import Service, ServiceError
from demo.ses import Chances, StandIn
from demo.ses_events import Channel, default_bus

_AHEAD = timedelta(hours=2)
"""The time until the slot. A tick carries its own time, so the proof does not wait."""

_STAGE: dict[str, Any] = {
    "evidence_grace": 60,
    "check_after": 60,
    "send_timeout": 5,
}
_TIMEOUT = 25
"""The time-out in seconds of a function that sends. A claim's deadline is after it."""

_VISIBILITY = 20
"""Seconds. Less than the work on a message may take, so that two workers get it at once."""

_RECEIVES = 2
"""A limit so low that messages of killed workers become dead letters and are redriven."""

_KILLED = ("fanout", "generate", "generate", "generate", "resend", "feedback", "sweep")
_QUEUES = ("shard", "generate", "immediate", "resend", "feedback", "sweep")
_SENT = "sent"
_CANARY = "canary"


@dataclass
class Chaos:
    """The counts of a run. `evidence` is the number of runs settled only by delivery events."""

    digests: int
    kills: Counter[str] = field(default_factory=Counter)
    redriven: int = 0
    unknown: int = 0
    evidence: int = 0
    resent: int = 0
    canaries: int = 0
    emails: int = 0
    lost: int = 0
    twice: int = 0
    seconds: float = 0.0
    problems: list[str] = field(default_factory=list)


@dataclass
class Killer:
    """A killer of the workers of the engine whose process is `engine`, by their process ids."""

    engine: int
    every: float
    random: Random
    kills: Counter[str]

    def strike(self) -> None:
        """Kill a running worker, if there is one, and wait."""
        running = {
            step: process_ids
            for step in _KILLED
            if (process_ids := Workers(self.engine, f"gazette-local-{step}").process_ids())
        }
        steps = [step for step in _KILLED if step in running]
        if steps:
            step = self.random.choice(steps)
            with suppress(ProcessLookupError):
                os.kill(self.random.choice(running[step]), signal.SIGKILL)
                self.kills[step] += 1
        time.sleep(self.every * self.random.uniform(0.2, 1.8))


def chaos(
    digests: int,
    *,
    every: float,
    seed: int,
    folder: Path,
    within: float,
    progress: Progress,
    kills: int = 0,
) -> Chaos:
    """Send digests, and kill a worker `every` so many seconds.

    A fast machine goes on until there are `kills`. Raise ServiceError if the stage does not settle
    `within` so many seconds.
    """
    done = Chaos(digests)
    lossy = StandIn(
        chances=Chances(close=0.02, seed=seed),
        channel=Channel(delay=timedelta(seconds=8), duplicated=0.2, reordered=0.3, seed=seed),
    )
    with lossy as ses, running(ses_url=ses.url, folder=folder) as engine:
        outputs = deploy(engine, folder, base_url=ses.url, **_STAGE)
        service = Service.at(engine, outputs)
        _make_haste(service)
        ses.forward = partial(engine.request, outputs["PreferencesUrl"])
        ses.publish = default_bus(service.events)
        progress("stage `local` deployed by the CDK command line")
        slot = slot_of(datetime.now(UTC) + _AHEAD)
        links = fill(service, digests, slot, progress)
        began = time.monotonic()
        with suppress(ServiceError):  # its worker may be killed: the sweep's tick makes up for it
            service.tick(slot)
        with as_client_of(engine):
            killer = Killer(engine.process_id, every, Random(seed), done.kills)
            runs = _let_go(service, ses, slot, done, killer, kills, within, progress)
        done.seconds = time.monotonic() - began
        emails = [mail for mail in ses.accepted if mail.tags["run"] != _CANARY]
        done.canaries = len(ses.accepted) - len(emails)
        stored = [Stored(run["user_id"]["S"], run["status"]["S"]) for run in runs]
        found = reckon(links, stored, emails)
    done.emails, done.lost, done.twice = found.emails, found.lost, found.duplicates
    done.problems = found.problems
    done.evidence = sum(run["reason"]["S"] == "evidence" for run in runs)
    done.resent = sum(run["resent"]["BOOL"] for run in runs)
    return done


def _let_go(
    service: Service,
    ses: StandIn,
    slot: datetime,
    done: Chaos,
    killer: "Killer",
    kills: int,
    within: float,
    progress: Progress,
) -> list[dict[str, Any]]:
    """Kill workers while emails go out, then let the stage settle. Return every run as stored."""
    table = FanoutSettings.from_env(service.settings("fanout")).runs_table
    ends_at = time.monotonic() + within
    shown = swept = 0.0
    unknown: set[str] = set()
    while True:
        now = time.monotonic()
        if now > ends_at:
            raise ServiceError(f"Not settled after {within:.0f} s: {done}")
        if len(ses.accepted) < 0.97 * done.digests or done.kills.total() < kills:
            killer.strike()
        else:
            time.sleep(2)
        if now - swept < 5:
            continue
        swept = now
        _sweep(service, slot)
        done.redriven += sum(_redrive(service, queue) for queue in _QUEUES)
        runs = _runs(table)
        unknown |= {run["user_id"]["S"] for run in runs if run["status"]["S"] == "unknown"}
        done.unknown = len(unknown)
        if now - shown > 15:
            shown = now
            by_status = Counter(run["status"]["S"] for run in runs)
            progress(f"{len(ses.accepted)} emails, {done.kills.total()} kills, {dict(by_status)}")
        all_sent = len(runs) == done.digests and all(run["status"]["S"] == _SENT for run in runs)
        if all_sent and done.kills.total() >= kills:
            _repeat(service, runs)
            service.wait_until_drained(*_QUEUES, within=900, delayed=False)
            return _runs(table)


def _repeat(service: Service, runs: list[dict[str, Any]]) -> None:
    """Queue the message of every run again.

    The sweep's messages for some of them may be delayed for five more minutes. They are equal.
    """
    for run in runs:
        schedule, _, sequence = run["run"]["S"].rpartition("#")
        body = encode_run_key(RunKey(run["user_id"]["S"], schedule, int(sequence)))
        for queue in ("generate", "resend"):
            service.queues.send_message(QueueUrl=service.queue_url(queue), MessageBody=body)


def _make_haste(service: Service) -> None:
    for step in ("generate", "resend"):
        service.change(f"gazette-local-{step}", Timeout=_TIMEOUT)
    for queue in _QUEUES:
        service.queues.set_queue_attributes(
            QueueUrl=service.queue_url(queue),
            Attributes={
                "VisibilityTimeout": str(_VISIBILITY),
                "RedrivePolicy": json.dumps(
                    {
                        "deadLetterTargetArn": service.queue_arn(f"{queue}-dead"),
                        "maxReceiveCount": _RECEIVES,
                    }
                ),
            },
        )


def _sweep(service: Service, slot: datetime) -> None:
    """Start the sweep and fan-out like EventBridge Scheduler. An invocation may be killed."""
    for step, at in (("sweep", datetime.now(UTC)), ("fanout", slot)):
        service.functions.invoke(
            FunctionName=f"gazette-local-{step}",
            Qualifier=LIVE,
            Payload=json.dumps({"time": at.isoformat()}),
        )


def _redrive(service: Service, queue: str) -> int:
    """Redrive every dead-letter queue."""
    dead, alive = service.queue_url(f"{queue}-dead"), service.queue_url(queue)
    moved = 0
    while messages := service.queues.receive_message(QueueUrl=dead, MaxNumberOfMessages=10).get(
        "Messages"
    ):
        for message in messages:
            service.queues.send_message(QueueUrl=alive, MessageBody=message["Body"])
            service.queues.delete_message(QueueUrl=dead, ReceiptHandle=message["ReceiptHandle"])
        moved += len(messages)
    return moved


def _runs(table: str) -> list[dict[str, Any]]:
    pages = boto3.client("dynamodb").get_paginator("scan").paginate(TableName=table)
    return [item for page in pages for item in page["Items"]]
