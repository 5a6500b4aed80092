"""An engine of its own: the stage is deployed, changed and destroyed by the test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from demo.engine import Engine, running
from demo.ses import StandIn
from tests.stage import mark_below


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What is below this folder deploys: only `make e2e` runs it."""
    mark_below(Path(__file__).parent, items, "e2e", "long")


@pytest.fixture
def ses() -> Iterator[StandIn]:
    """The readers' mailboxes."""
    with StandIn() as server:
        yield server


@pytest.fixture
def engine(ses: StandIn, tmp_path: Path) -> Iterator[Engine]:
    """An engine to which nothing is deployed."""
    with running(ses_url=ses.url, folder=tmp_path / "engine") as started:
        yield started
