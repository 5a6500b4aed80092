"""Link scanners of mail gateways open every link before the reader does: nothing may come of it."""

import urllib.error
import urllib.request
from collections.abc import Mapping
from urllib.parse import urljoin

import pytest
from playwright.sync_api import Browser

from demo.ses import Accepted
from gazette_cli.preview.sample import EVENTS
from tests.browser.edge import Edge
from tests.browser.letters import Letters
from tests.browser.links import links_in, links_of, ours
from tests.browser.stored import everything
from tests.stage import Deployed

QUEUES = (
    *("ingest", "followers", "generate", "immediate", "resend"),
    *("shard", "feedback", "sweep"),
)


def ask(method: str, link: str) -> tuple[int, str]:
    """Status and page; also of an answer that is an error."""
    request = urllib.request.Request(link, method=method)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as err:
        return err.code, err.read().decode()


def scan(mail: Accepted, edge: Edge) -> set[str]:
    """GET and HEAD every link to us, and those of the pages behind them. Returns all of them."""
    seen: set[str] = set()
    waiting = ours(links_in(mail), edge.url)
    while waiting:
        link = waiting.pop()
        seen.add(link)
        status, page = ask("GET", link)
        assert status == 200, link
        assert ask("HEAD", link) == (200, ""), link
        waiting |= ours((urljoin(link, each) for each in links_of(page)), edge.url) - seen
    return seen


@pytest.fixture
def unchanged(deployed: Deployed) -> object:
    """Fails the test where any table, queue or mailbox is not as before."""
    before = everything(deployed), len(deployed.ses.accepted)
    yield
    for queue in QUEUES:
        assert deployed.service.messages_in(queue) == 0
    assert (everything(deployed), len(deployed.ses.accepted)) == before


@pytest.mark.usefixtures("unchanged")
def test_attack_get_and_head_of_every_link_change_no_data(
    letters: Mapping[str, Letters], edge: Edge
) -> None:
    for mails in letters.values():
        for mail in (mails.digest, mails.immediate):
            unsubscribe = str(mail.message["List-Unsubscribe"]).strip("<>")
            assert unsubscribe in scan(mail, edge)


@pytest.mark.usefixtures("unchanged")
def test_attack_link_scanner_with_a_browser_changes_no_data(
    letters: Mapping[str, Letters], edge: Edge, browser: Browser
) -> None:
    """Some run the scripts of a page, and wait for what comes of it."""
    mail = letters["en"].digest
    with browser.new_context() as context:
        page = context.new_page()
        for link in sorted(ours(links_in(mail), edge.url)):
            page.goto(link, wait_until="networkidle")


def test_every_email_link_belongs_to_gazette_or_an_event(
    letters: Mapping[str, Letters], edge: Edge
) -> None:
    mail = letters["en"].digest
    others = {link for link in links_in(mail) if not link.startswith(f"{edge.url}/")}
    more = {f"https://example.com/more{place}" for place in range(20)}
    pictures = {event.actor.avatar for event in EVENTS if event.actor}
    pictures |= {event.entity.image.url for event in EVENTS if event.entity.image}
    assert others & pictures
    assert others <= {event.entity.url for event in EVENTS} | more | pictures
