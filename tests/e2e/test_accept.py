"""`gazette accept` on the deployed stage: every step passes, and fails if its promise is broken.

SES is the stand-in, with the events of the mailbox simulator. Instead of sleeping, the command lets
the clock strike, and waits until the functions have worked.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import boto3
import pytest
from typer.testing import CliRunner

from demo.client import as_client_of
from demo.ses_events import default_bus
from gazette_cli.accept import command
from gazette_cli.doctor import command as doctor
from gazette_cli.main import app
from tests.stage import Deployed

A_PAUSE = timedelta(minutes=2)
_QUEUES = ("ingest", "followers", "shard", "generate", "immediate", "feedback")


class Striking:
    """The port `Waiting`: time passes as fast as the functions work."""

    def __init__(self, deployed: Deployed) -> None:
        self._deployed = deployed
        self._skipped = timedelta(0)

    def now(self) -> datetime:
        return datetime.now(UTC) + self._skipped

    def until(self, instant: datetime) -> None:
        self._deployed.settle()
        self._deployed.tick(instant)
        self._skipped += max(timedelta(0), instant - self.now())
        self.pause()

    def pause(self) -> None:
        self._deployed.ses.postman.wait_until_carried()
        self._deployed.service.wait_until_drained(*_QUEUES)
        self._skipped += A_PAUSE


@pytest.fixture
def ready(
    deployed: Deployed, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Deployed]:
    """The stage with delivery events, as doctor would find it on AWS."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(doctor, "text_records", lambda _: ["v=DMARC1; p=none"])
    monkeypatch.setattr(command, "Sleeping", lambda: Striking(deployed))
    ses = deployed.ses
    ses.behind, rate, ses.max_send_rate = deployed.engine.url, ses.max_send_rate, 500.0
    with as_client_of(deployed.engine):
        ses.publish = default_bus(boto3.client("events"))
    try:
        yield deployed
    finally:
        ses.behind, ses.publish, ses.max_send_rate = "", None, rate


def accept(deployed: Deployed, *arguments: str) -> tuple[int, dict[str, dict[str, Any]]]:
    """The exit code, and the row of each step."""
    environment = {"AWS_ENDPOINT_URL_SESV2": deployed.ses.url}
    with as_client_of(deployed.engine):
        command_line = ["accept", "--stage", "local", "--yes", "--json", *arguments]
        done = CliRunner().invoke(app, command_line, env=environment)
    assert done.stdout, done.output
    return done.exit_code, {each["step"]: each for each in json.loads(done.stdout)["steps"]}


@contextmanager
def broken(deployed: Deployed) -> Iterator[None]:
    """A stage with broken promises: bounces and complaints do not reach it, immediate email has no
    delivery event, and one click does nothing."""
    ses = deployed.ses
    publish, forward = ses.publish, ses.forward
    assert publish

    def drop(some: Any) -> None:
        for entry in some:
            detail = json.loads(entry["Detail"])
            (run,) = detail["mail"]["tags"]["run"]
            if detail["eventType"] not in {"Bounce", "Complaint"} and "-now" not in run:
                publish([entry])

    ses.publish = drop
    ses.forward = lambda *_: (200, "text/html", b"")
    try:
        yield
    finally:
        ses.publish, ses.forward = publish, forward


def test_every_step_of_the_acceptance_passes_on_the_engine(ready: Deployed) -> None:
    status, rows = accept(ready)
    assert {step: row["seen"] for step, row in rows.items() if row["result"] != "passed"} == {}
    assert status == 0
    assert len(rows) == 12
    sent = [each for each in ready.ses.accepted if "simulator" in each.to]
    assert len(sent) == 5
    assert [*Path.cwd().iterdir()] == []


@pytest.mark.long
def test_broken_promises_fail_their_steps_on_the_engine(ready: Deployed) -> None:
    with broken(ready):
        status, rows = accept(ready)
    results = {step: row["result"] for step, row in rows.items()}
    assert status == 1
    assert {step for step, result in results.items() if result == "failed"} == {
        "bounce",
        "complaint",
        "immediate",
        "one-click",
    }, rows
    assert results["erase"] == "passed"
