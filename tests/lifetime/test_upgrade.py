"""An upgrade of the last release to this version, a rollback, and the upgrade again.

The last release is the wheel in tests/releases. Its stage has a run in every status. Each reader
has an hour of their own, so that a tick concerns one reader.
"""

import json
import os
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from gazette.adapters.aws.queues import encode_run_key
from gazette.domain.delivery.run import Status
from gazette.domain.model import RunKey
from gazette.domain.scheduling.calendar import slot_id, slot_of
from typer.testing import CliRunner

from benchmarks.workers import Workers
from demo.client import as_client_of
from demo.engine import Engine, deploy, deploy_app, stage_context
from demo.service import Service
from demo.ses import Accepted, Answer, StandIn
from demo.ses_events import default_bus
from demo.ses_http import Loss
from gazette_cdk.stacks.version import gazette_version
from gazette_cdk.topology import STEPS
from gazette_cli.doctor import command
from gazette_cli.main import app
from tests.releases.recorded import last
from tests.stage import FEW, Deployed, a_comment, a_profile, next_due

SETTINGS: Mapping[str, Any] = {
    "check_after": 60,
    "concurrency": FEW,
    "evidence_grace": 60,
    "send_timeout": 5,
}
"""Short limits, so that the sweep settles every run within minutes."""

AFTERWARDS = ("upgraded", "rolled_back", "again")
"""Readers with a digest after each deployment and rollback."""

HELD = ("cancelled", "pending", *AFTERWARDS)
"""Readers whose digests are due while sending is stopped, or later."""

TWICE = {"unknown", "sending"}
"""Readers whose first email SES accepted without a response, so that a second one may follow."""


@dataclass
class _Stage:
    """The stage, with the hour of each reader."""

    deployed: Deployed
    due: dict[str, datetime] = field(default_factory=dict)

    def register(self, readers: list[str]) -> None:
        """Give each reader an event, and the hours in the order in which they are due.

        No reader has the next hour, which may begin while the test runs.
        """
        hours = sorted(range(24), key=lambda hour: next_due(hour=hour))[1:]
        for reader, hour in zip(readers, hours, strict=False):
            self.due[reader] = next_due(hour=hour)
            self.deployed.service.put("subscriber.changed", [a_profile(reader, hour=hour)])
            self.deployed.service.put("event.created", [a_comment(reader, 1)])
        self.deployed.settle()

    def begin(self, reader: str) -> None:
        """Start the digest of a reader, and do not wait for messages that are delayed."""
        self.deployed.service.tick(self.due[reader])

    def tick(self, reader: str) -> None:
        """Start the digest of a reader, and let the functions process all visible messages."""
        self.begin(reader)
        self.wait()

    def wait(self) -> None:
        self.deployed.service.wait_until_drained(
            "sweep", "shard", "generate", "resend", "immediate", delayed=False
        )

    def runs(self) -> dict[tuple[str, str], dict[str, Any]]:
        """All rows of runs, by reader and key."""
        table = self.deployed.service.settings("generate")["GAZETTE_RUNS_TABLE"]
        rows = self.deployed.service.tables.scan(TableName=table, ConsistentRead=True)["Items"]
        return {(row["user_id"]["S"], row["run"]["S"]): dict(row) for row in rows}

    def statuses(self) -> dict[str, str]:
        """The status of each reader's run."""
        return {reader: row["status"]["S"] for (reader, _), row in self.runs().items()}

    def findings(self) -> dict[str, str]:
        """The checks of `gazette doctor` with a warning or problem. The engine does not keep the
        protection of tables."""
        environment = {"AWS_ENDPOINT_URL_SESV2": self.deployed.ses.url}
        with as_client_of(self.deployed.engine):
            done = CliRunner().invoke(
                app, ["doctor", "--stage", "local", "--json"], env=environment
            )
        return {
            each["check"]: each["level"]
            for each in json.loads(done.stdout)["findings"]
            if each["level"] != "ok" and not each["check"].startswith("table ")
        }

    def version(self) -> str:
        """The version and the deployment that the stage runs, as `gazette --version` prints it."""
        with as_client_of(self.deployed.engine):
            done = CliRunner().invoke(app, ["--version", "--stage", "local"])
        assert done.exit_code == 0, done.output
        return done.stdout.splitlines()[1].removeprefix("stage local: ")

    def emails(self) -> Counter[str]:
        """The number of accepted emails of each reader."""
        return Counter(mail.to.partition("@")[0] for mail in self.deployed.ses.accepted)

    def unreadable(self) -> list[str]:
        """The log lines of the functions about rows that they cannot read."""
        lines = []
        for step in STEPS:
            group = f"/aws/lambda/{self.deployed.service.prefix}-{step.name}"
            try:
                pages = self.deployed.service.logs.get_paginator("filter_log_events").paginate(
                    logGroupName=group
                )
                lines += [each["message"] for page in pages for each in page["events"]]
            except self.deployed.service.logs.exceptions.ResourceNotFoundException:
                continue
        return [line for line in lines if "cannot be read" in line]


@pytest.fixture
def old(engine: Engine, ses: StandIn, tmp_path: Path) -> _Stage:
    """The stage, deployed from the wheel of the last release."""
    site = last().unpack(tmp_path / "site")
    project = tmp_path / "project"
    project.mkdir()
    shutil.copy(site / "gazette_cdk" / "_bundle" / "cdk.json", project)
    ses.behind, ses.max_send_rate = engine.url, 1_000.0
    outputs = deploy_app(
        engine,
        tmp_path,
        ["/usr/bin/env", f"PYTHONPATH={site}", sys.executable, "-m", "gazette_cdk.app"],
        context=stage_context("local", base_url=ses.url, **SETTINGS),
        project=project,
    )
    ses.forward = partial(engine.request, outputs["PreferencesUrl"])
    return _Stage(Deployed(engine, Service.at(engine, outputs), ses, outputs))


def _refuse(mail: Accepted) -> Answer | None:
    """Reject the emails of two readers: one for now, and one permanently."""
    if mail.to == "retrying@example.com":
        return Answer(429, "TooManyRequestsException")
    if mail.to == "failed@example.com":
        return Answer(400, "MessageRejected", message="Email content is malformed")
    return None


def _kill_while_sending(stage: _Stage) -> None:
    """Let SES accept an email and not respond, and kill the worker that waits for the response.

    The messages of the queue are lost too. Otherwise each wait below would last as long as their
    visibility timeout. The sweep finds the runs.
    """
    ses = stage.deployed.ses
    ses.script.append(Answer(200, "", taken=True, loss=Loss.HANG))
    stage.begin("sending")
    ends_at = time.monotonic() + 60
    while not stage.emails()["sending"]:
        assert time.monotonic() < ends_at, "no worker sent the email"
        time.sleep(0.02)
    for process in Workers(
        stage.deployed.engine.process_id, "gazette-local-generate"
    ).process_ids():
        os.kill(process, signal.SIGKILL)
    generate = stage.deployed.service.queue_url("generate")
    stage.deployed.service.queues.purge_queue(QueueUrl=generate)
    time.sleep(1)


def _run_in_every_status(stage: _Stage) -> None:
    ses, gazette = stage.deployed.ses, stage.deployed.gazette
    stage.register(["sent", "unknown", "sending", "retrying", "failed", "skipped", *HELD])
    stage.tick("sent")
    ses.script.append(Answer(200, "", taken=True, loss=Loss.CLOSE))
    stage.tick("unknown")
    _kill_while_sending(stage)
    ses.refuses = _refuse
    stage.tick("retrying")
    stage.tick("failed")
    gazette("suppression", "add", "skipped@example.com", "--yes")
    stage.tick("skipped")
    gazette("sending", "stop", "an upgrade", "--yes")
    stage.tick("cancelled")
    gazette("batch", "cancel", slot_id(slot_of(stage.due["cancelled"])), "--yes")
    stage.tick("pending")


def _settle(stage: _Stage) -> None:
    """Advance the clock until every run is settled. Delivery events then arrive.

    The sweep delays some of its messages by minutes of real time, so each message is also sent at
    once, as by a duplicate delivery.
    """
    ses, service = stage.deployed.ses, stage.deployed.service
    ses.publish = default_bus(service.events)
    for minutes in range(10, 70, 10):
        now = datetime.now(UTC) + timedelta(minutes=minutes)
        service.set_clock(now)
        ses.clock = partial(_clock, now - datetime.now(UTC))
        service.tick(now, "sweep")
        stage.wait()
        _repeat(stage)
        service.wait_until_drained("feedback")
        if all(Status(status).is_final for status in stage.statuses().values()):
            return


def _clock(ahead: timedelta) -> datetime:
    return datetime.now(UTC) + ahead


def _repeat(stage: _Stage) -> None:
    """Send the message of every open run again, and process it."""
    service = stage.deployed.service
    for (reader, key), row in stage.runs().items():
        schedule, _, sequence = key.rpartition("#")
        if not Status(row["status"]["S"]).is_final:
            body = encode_run_key(RunKey(reader, schedule, int(sequence)))
            for queue in ("generate", "resend"):
                service.queues.send_message(QueueUrl=service.queue_url(queue), MessageBody=body)
    stage.wait()


@pytest.mark.long
def test_upgrade_rollback_and_upgrade_lose_and_double_no_email(
    old: _Stage, engine: Engine, ses: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = old
    monkeypatch.setattr(command, "text_records", lambda _: ["v=DMARC1; p=none"])
    before = stage.version()
    assert before.startswith(f"gazette {last().version}, deployment ")
    _run_in_every_status(stage)
    assert stage.statuses() == {each.value: each.value for each in Status}
    runs, found = stage.runs(), stage.findings()
    assert found["version"] == "warning", "this command has another version than the stage"

    deploy(engine, tmp_path, base_url=ses.url, **SETTINGS)
    after = stage.version()
    assert after.startswith(f"gazette {gazette_version()}, deployment ")
    assert stage.runs() == runs, "a deployment changes no row"
    for reader in Status:
        told = json.loads(stage.deployed.gazette("explain", reader, "--json"))
        assert [each["status"] for each in told["runs"]] == [reader]
        assert not told["unreadable"]
    assert stage.findings().keys() - found.keys() == set()
    ses.refuses = lambda _: None
    stage.deployed.gazette("sending", "resume", "--yes")
    stage.tick("upgraded")

    stage.deployed.gazette("rollback", "--yes")
    assert stage.version() == before
    aliases = {f"alias {step.name.title()}Live" for step in STEPS}
    assert stage.findings().keys() - found.keys() <= aliases, "they are not at the newest version"
    stage.tick("rolled_back")

    stage.deployed.gazette("rollback", after.rpartition(" ")[2], "--yes")
    assert stage.version() == after
    assert stage.findings().keys() - found.keys() == set()
    stage.tick("again")
    _settle(stage)

    emails = stage.emails()
    assert {reader: emails[reader] for reader in AFTERWARDS} == dict.fromkeys(AFTERWARDS, 1)
    assert {reader: emails[reader] for reader in ("sent", "retrying", "pending")} == {
        "sent": 1,
        "retrying": 1,
        "pending": 1,
    }
    assert {emails[reader] for reader in TWICE} <= {1, 2}
    assert {emails[reader] for reader in ("failed", "skipped", "cancelled")} == {0}
    settled = stage.statuses()
    assert settled == dict.fromkeys([*Status, *AFTERWARDS], "sent") | {
        each: each for each in ("failed", "skipped", "cancelled")
    }
    assert stage.unreadable() == []
