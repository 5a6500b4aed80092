"""Emails and pages, for those who see little, or hear them: axe-core finds nothing.

Each light and dark, wide and narrow, in every language that the templates speak.
"""

from collections.abc import Iterator, Mapping

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.accessibility import inspected, problems
from tests.browser.edge import Edge
from tests.browser.letters import Letters, each_language
from tests.browser.links import links_in, ours, preferences_of
from tests.browser.test_preferences import choose, press
from tests.leaving import leaving_everything
from tests.stage import Deployed

pytestmark = pytest.mark.parametrize("locale", each_language())


@pytest.fixture
def inspector(browser: Browser) -> Iterator[Page]:
    """A page in which axe runs."""
    with inspected(browser) as page:
        yield page


@pytest.fixture
def written(letters: Mapping[str, Letters], locale: str) -> Letters:
    """What the reader of the language got."""
    return letters[locale]


@pytest.mark.parametrize("kind", ["digest", "immediate"])
def test_emails_are_accessible(
    deployed: Deployed, inspector: Page, written: Letters, kind: str
) -> None:
    inspector.goto(written.address(deployed, getattr(written, kind)))
    assert problems(inspector) == []
    html = inspector.locator("html")
    expect(html).to_have_attribute("lang", written.locale)
    expect(html).to_have_attribute("dir", "rtl" if written.locale == "he" else "ltr")


def test_every_page_linked_from_an_email_is_accessible(
    inspector: Page, written: Letters, edge: Edge
) -> None:
    links = {*links_in(written.digest), *links_in(written.immediate)}
    for link in sorted(ours(links, edge.url)):
        inspector.goto(link)
        assert problems(inspector) == [], link
        expect(inspector.locator("html")).to_have_attribute("lang", written.locale)


def test_quiet_hours_are_accessible(inspector: Page, written: Letters) -> None:
    inspector.goto(preferences_of(written.digest))
    inspector.locator("#quiet-hours summary").click()
    choose(inspector, "quiet", "hours")
    expect(inspector.locator("#quiet_from")).to_be_visible()
    assert problems(inspector) == []
    choose(inspector, "quiet_until", "22:00")
    press(inspector, "save")
    expect(inspector.get_by_role("alert").get_by_role("link")).to_have_count(1)
    expect(inspector.locator("#quiet_until-problem")).to_be_visible()
    assert problems(inspector) == []


def test_invalid_link_page_is_accessible(inspector: Page, edge: Edge, written: Letters) -> None:
    inspector.goto(f"{edge.url}/unsubscribe/no.token")
    assert problems(inspector) == []


def test_unsubscribed_page_is_accessible(inspector: Page, written: Letters) -> None:
    inspector.goto(leaving_everything(written.immediate.part("plain")))
    inspector.get_by_role("main").get_by_role("button").first.click()
    assert problems(inspector) == []
