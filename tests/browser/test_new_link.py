"""Who comes with a link that has ended: the offer, the answer and the email are for everybody."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from demo.ses import Accepted
from tests.browser.accessibility import inspected, problems
from tests.browser.letters import each_language, languages
from tests.browser.links import preferences_of
from tests.stage import Deployed, a_comment, a_profile


def reader_of(locale: str) -> str:
    return f"mover{locale.lower().replace('-', '')}"


def moved(locale: str) -> dict[str, Any]:
    """The profile with another address."""
    changed = {"email": f"{reader_of(locale)}2@example.com", "locale": locale}
    return {**a_profile(reader_of(locale)), **changed}


@pytest.fixture(scope="module")
def ended(deployed: Deployed) -> Mapping[str, str]:
    """By language, the link of a reader who has another address since."""
    put = deployed.service.put
    for locale in languages():
        user = reader_of(locale)
        put("subscriber.changed", [{**a_profile(user), "frequencies": {"comment": "immediate"}}])
        put("event.created", [a_comment(user, 1)])
    deployed.settle()
    deployed.service.wait_until_drained("immediate")
    links = {}
    for locale in languages():
        (mail,) = deployed.inbox(reader_of(locale))
        links[locale] = preferences_of(mail)
    put("subscriber.changed", [moved(locale) for locale in languages()])
    deployed.settle()
    return links


@pytest.fixture
def inspector(browser: Browser, locale: str) -> Iterator[Page]:
    """A page in which axe runs, in a browser that asks for the language."""
    with inspected(browser) as page:
        page.set_extra_http_headers({"Accept-Language": locale})
        yield page


def told(deployed: Deployed, locale: str) -> Accepted:
    """The email with the new link, once it has come."""
    deployed.service.wait_until_drained("immediate")
    (mail,) = (mail for mail in deployed.ses.accepted if mail.to == moved(locale)["email"])
    return mail


@pytest.mark.parametrize("locale", each_language())
def test_new_link_is_emailed_and_every_page_is_accessible(
    deployed: Deployed, inspector: Page, ended: Mapping[str, str], locale: str
) -> None:
    answer = inspector.goto(ended[locale])
    assert answer
    assert answer.status == 410
    assert problems(inspector) == []
    expect(inspector.locator("html")).to_have_attribute("lang", locale)
    inspector.get_by_role("main").get_by_role("button").click()
    assert problems(inspector) == []
    mail = told(deployed, locale)
    inspector.goto(f"{deployed.ses.url}/messages/{deployed.ses.accepted.index(mail)}")
    assert problems(inspector) == []
    expect(inspector.locator("html")).to_have_attribute("lang", locale)
    answer = inspector.goto(preferences_of(mail))
    assert answer
    assert answer.status == 200
