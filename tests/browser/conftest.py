"""One deployed stage and one browser for all tests of this folder."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect

from demo.engine import deploy, running
from demo.service import Service
from demo.ses import StandIn
from tests.browser.chromium import PATIENCE, chromium
from tests.browser.edge import Edge
from tests.browser.letters import Letters, correspond
from tests.stage import FEW, Deployed, mark_below


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What is below this folder needs Chromium: only `make browser` runs it."""
    mark_below(Path(__file__).parent, items, "browser")


@pytest.fixture(scope="session")
def edge() -> Iterator[Edge]:
    """Where the links of emails lead."""
    with Edge() as edge:
        yield edge


@pytest.fixture(scope="session")
def deployed(edge: Edge, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    """The real stacks on the embedded engine."""
    folder = tmp_path_factory.mktemp("engine")
    with StandIn() as ses, running(ses_url=ses.url, folder=folder) as engine:
        api = {"requests_per_second": 50}
        outputs = deploy(engine, folder, base_url=edge.url, concurrency=FEW, services_api=api)
        edge.lead_to(outputs["PreferencesUrl"], engine=engine.url)
        yield Deployed(engine, Service.at(engine, outputs), ses)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Debian's headless Chromium, or the one that CHROMIUM names."""
    expect.set_options(timeout=PATIENCE)
    with chromium() as browser:
        yield browser


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A reader's page, where no script runs; whatever its policy refuses fails the test."""
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        refused = refusals(page)
        yield page
    assert refused == []


def refusals(page: Page) -> list[str]:
    """Fills with what the Content-Security-Policy of a page refuses; Chromium says so there."""
    refused: list[str] = []

    def listen(message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text:
            refused.append(message.text)

    page.on("console", listen)
    return refused


@pytest.fixture(scope="session")
def letters(deployed: Deployed) -> Mapping[str, Letters]:
    """A digest and an immediate email in every language."""
    return correspond(deployed)
