"""The commands that `make demo KEEP=1` prints, run as printed on the stage that it keeps."""

import json
import shlex
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from gazette.domain.scheduling.calendar import slot_of

from demo import campus
from demo.engine import ROOT, deploy, running
from demo.kept import commands, kept
from demo.replay import let_pass
from demo.service import Service
from demo.ses import StandIn
from tests.stage import FEW, Deployed, a_comment

pytestmark = pytest.mark.long

A_DAY = timedelta(days=1)
LATE = 2 * 24 * 60 * 60
"""Seconds. The clock is advanced by a day, so digests are up to a day late."""

READERS = 12
"""A reader in each time zone of the demo."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def stage(folder: Path) -> Iterator[Deployed]:
    """A stage that has sent a digest to each student, as at the end of the demo."""
    with StandIn() as ses, running(ses_url=ses.url, folder=folder) as engine:
        outputs = deploy(engine, folder, base_url=ses.url, concurrency=FEW, max_lateness=LATE)
        ses.forward = partial(engine.request, outputs["PreferencesUrl"])
        deployed = Deployed(engine, Service.at(engine, outputs), ses)
        now = datetime.now(UTC)
        students = range(1, READERS + 1)
        put = deployed.service.put
        put("subscriber.changed", (campus.subscriber_changed(each, now) for each in students))
        put("event.created", (a_comment(campus.user_id(each), each) for each in students))
        deployed.settle()
        let_pass(deployed.service, slot_of(now) + A_DAY)
        with kept(engine, deployed.service, ses, folder=folder):
            yield deployed


def run(command: str, *, status: int = 0) -> str:
    """Run a command in the project's folder without variables of AWS, as a person does."""
    done = subprocess.run(
        shlex.split(command),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


def test_printed_commands_do_what_they_say(stage: Deployed, folder: Path) -> None:
    emails = len(stage.ses.accepted)
    assert emails == READERS
    explain, publish, push, next_day = (command for command, _ in commands(folder, "student1"))

    assert f"{stage.service.clock():%Y-%m-%d}" in run(explain)
    assert run(publish).startswith("3 entries published.")
    assert [mail.to for mail in stage.ses.accepted[emails:]] == ["ann@campus.example"]
    assert "version 1" in run(push)
    before = stage.service.clock()
    assert f"{before + A_DAY:%d %B}" in run(next_day)
    digest = stage.ses.accepted[-1]
    assert digest.to == campus.address(1)
    assert str(digest.message["Subject"]).startswith("My digest: ")


def test_statistics_have_the_deliveries_of_the_stand_in(stage: Deployed, folder: Path) -> None:
    columns, *rows = (
        line.split("\t") for line in run(f"{folder}/gazette statistics --stage local").splitlines()
    )
    total = next(dict(zip(columns, row, strict=True)) for row in rows if row[1] == "total")
    assert int(total["sent"]) > 0, "in the week that the demo's clock shows"
    assert int(total["delivered"]) > 0


def test_doctor_finds_no_problem_and_marks_what_the_emulator_cannot_show(
    stage: Deployed, folder: Path
) -> None:
    answer = json.loads(run(f"{folder}/gazette doctor --stage local --json", status=2))
    assert answer["problems"] == 0
    marked = {each["check"] for each in answer["findings"] if "by the emulator" in each["seen"]}
    assert {"table Events", "identity digest@campus.example"} <= marked
    assert "table Schedules" not in marked
