"""One deployed stage for all tests of this folder."""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from gazette.domain.scheduling.calendar import slot_of
from xdist.scheduler import LoadScopeScheduling

from demo.engine import deploy, running
from demo.service import Service
from demo.ses import StandIn
from proofs.enforce.account import Account
from proofs.enforce.calls import Asked
from proofs.enforce.record import Told, called, keep, recorded_workers
from proofs.enforce.template import Templates
from proofs.enforce.verdict import Verdict
from tests.stage import FEW, Deployed, mark_below


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What is below this folder deploys: only `make e2e` runs it."""
    mark_below(Path(__file__).parent, items, "e2e")


WORKERS = (
    {"tests/runbook"},
    {"tests/e2e", "proofs/rollout"},
    {
        "tests/lifetime",
        "tests/outage",
        "proofs/chaos",
        "proofs/sources",
        "tests/e2e/test_installed.py",
    },
    {
        "proofs",
        "tests/e2e/test_delivery_reports.py",
        "tests/e2e/test_events_out.py",
        "tests/e2e/test_import.py",
        "tests/e2e/test_kept_demo.py",
        "tests/e2e/test_services_api.py",
    },
)
"""Folders, and modules with a stage of their own, whose tests each worker runs in turn. All workers
take about as long."""


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Tests of a folder run in one process, which deploys their stage.

    xdist hands a process its next folder as soon as it has two tests left. So a process with
    folders of one test would get all of them, while the others have nothing to do.
    """
    scheduler: Any = LoadScopeScheduling(config, log)
    scheduler._split_scope = worker_of
    return scheduler


def worker_of(test: str) -> str:
    """Return the name of the worker that runs a test. A folder of no worker gets its own."""
    module = test.partition("::")[0]
    folder = module.rpartition("/")[0]
    workers = {path: f"worker {number}" for number, some in enumerate(WORKERS) for path in some}
    return workers.get(module) or workers.get(folder, folder)


@contextmanager
def judged_stage(folder: Path, module: Path, **settings: Any) -> Iterator[Deployed]:
    """A stage on an engine of its own. At the end: AWS would have denied no call of its workers.

    `module` names the record that `make enforce` reads.
    """
    with (
        recorded_workers(folder / "calls"),
        StandIn() as ses,
        running(ses_url=ses.url, folder=folder) as engine,
    ):
        outputs = deploy(
            engine,
            folder,
            base_url=ses.url,
            **{"concurrency": FEW, "track_clicks": True, **settings},
        )
        ses.forward = partial(engine.request, outputs["PreferencesUrl"])
        yield Deployed(engine, Service.at(engine, outputs), ses, outputs)
    verdict = Verdict(Account.of(Templates.of(folder / "cdk.out")))
    by_function: dict[tuple[str, Told], set[Asked]] = defaultdict(set)
    for step, asked, told in called(folder / "calls"):
        by_function[step, frozenset(told.items())].update(asked)
        verdict.judge(step, asked, told)
    keep(by_function, module)
    assert verdict.denied == set()
    assert verdict.used, "no worker was recorded"


@pytest.fixture(scope="package")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    """The stage, with delivery events by both ways, and with the API for services.

    Its functions log as on AWS, because `gazette accept` reads their logs.
    """
    folder = tmp_path_factory.mktemp("engine")
    settings = {"feedback_by_sns": True, "services_api": {"requests_per_second": 50}}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("POWERTOOLS_LOG_LEVEL", "INFO")  # the engine's own variable is LOG_LEVEL
        with judged_stage(folder, Path(__file__), **settings) as deployed:
            yield deployed


@pytest.fixture
def deployed(stage: Deployed) -> Deployed:
    """The stage as each test finds it: the days that others let pass lie ahead again.

    Its readers and what was done for them stay, so each test has its own.
    """
    stage.service.turn_back(slot_of(datetime.now(UTC)))
    return stage
