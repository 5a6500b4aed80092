"""The stage `prod` on the embedded engine, and the folder where commands of the runbook run."""

import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from gazette.adapters.aws.clients import forget

from demo.client import as_client_of
from demo.engine import ROOT, deploy, running
from demo.service import Service
from demo.ses import StandIn
from tests.runbook.pages import PAGES, commands
from tests.runbook.state import State
from tests.runbook.warm import Program, warm_commands
from tests.stage import FEW, Deployed, mark_below

PROGRAMS = {
    "gazette": Program(Path(sys.executable), "gazette_cli.main:main"),
    "aws": Program(
        ROOT / ".awscli" / "bin" / "python", "awscli.clidriver:main", ("awscli.handlers",)
    ),
}

_THIRTY_YEARS = 30 * 365 * 24 * 60 * 60
"""Seconds. The pages name a slot of 2026, which is too late for no test, whenever it runs."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What is below this folder deploys: only `make e2e` runs it."""
    mark_below(Path(__file__).parent, items, "e2e")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the commands that nothing has run."""
    if terminalreporter.config.getoption("markexpr").split()[:1] != ["e2e"]:
        return
    left_out = [each for page in PAGES for each in commands(page) if each.why_not]
    terminalreporter.section("commands of the runbook that only AWS can run")
    for command in left_out:
        terminalreporter.write_line(str(command))


@pytest.fixture(scope="package")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    """The stage as the pages name it."""
    folder = tmp_path_factory.mktemp("engine")
    with StandIn() as ses, running(ses_url=ses.url, folder=folder) as engine:
        outputs = deploy(
            engine,
            folder,
            stage="prod",
            base_url=ses.url,
            concurrency=FEW,
            sunset_days=0,
            max_lateness=_THIRTY_YEARS,
        )
        ses.forward = partial(engine.request, outputs["PreferencesUrl"])
        yield Deployed(engine, Service.at(engine, outputs, stage="prod"), ses)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Looks like the folder of the project, so that what commands write into it stays outside."""
    made = tmp_path_factory.mktemp("project")
    for path in ROOT.iterdir():
        (made / path.name).symlink_to(path)
    return made


@pytest.fixture(scope="package")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder with the commands `gazette` and `aws`."""
    folder = tmp_path_factory.mktemp("bin")
    with warm_commands(folder, PROGRAMS):
        yield folder


@pytest.fixture
def state(stage: Deployed, folder: Path, warm: Path) -> Iterator[State]:
    """The stage as each page finds it: a digest of Ann is due, and nothing is wrong."""
    with as_client_of(stage.engine):
        forget()
        found = State.of(stage, folder, warm)
        found.begin()
        yield found
    forget()
