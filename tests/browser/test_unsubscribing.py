"""Readers leave: by the page, and by the button of their mail program."""

import urllib.request
from datetime import timedelta

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.accessibility import inspected, problems
from tests.browser.edge import Edge
from tests.browser.links import links_of
from tests.browser.stored import rows_of
from tests.leaving import leaving_everything, scope_of
from tests.stage import Deployed, a_comment, a_profile, next_due

ONE_CLICK = b"List-Unsubscribe=One-Click"
MULTIPART = (
    b'--b0undary\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\n'
    b"One-Click\r\n--b0undary--\r\n"
)


def unsubscribe_link(deployed: Deployed, user: str) -> str:
    """Out of an email that was sent: the one that ends all email."""
    (mail,) = deployed.inbox(user)
    return leaving_everything(mail.part("plain"))


def one_click(link: str, body: bytes, content_type: str) -> int:
    """What a mail program asks: RFC 8058, section 3.2."""
    request = urllib.request.Request(link, data=body, headers={"Content-Type": content_type})
    with urllib.request.urlopen(request, timeout=30) as answer:
        assert answer.url == link, "no redirect"
        return int(answer.status)


def test_unsubscribed_reader_gets_no_email_and_is_not_scheduled(
    deployed: Deployed, page: Page
) -> None:
    """By the form on the page, and by one click in both encodings; who stays gets the next."""
    put = deployed.service.put
    leavers, stays = ["form", "urlencoded", "multipart"], "stays"
    put("subscriber.changed", [a_profile(user) for user in (*leavers, stays)])
    put("event.created", [a_comment(user, 1) for user in (*leavers, stays)])
    deployed.settle()
    due = next_due()
    deployed.tick(due)
    links = {user: unsubscribe_link(deployed, user) for user in leavers}

    page.goto(links["form"])
    expect(page.get_by_role("heading", level=1)).to_have_text("Unsubscribe from all emails?")
    page.get_by_role("button", name="Unsubscribe").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("You're unsubscribed")
    assert one_click(links["urlencoded"], ONE_CLICK, "application/x-www-form-urlencoded") == 200
    assert one_click(links["multipart"], MULTIPART, "multipart/form-data; boundary=b0undary") == 200

    put("event.created", [a_comment(user, 2) for user in (*leavers, stays)])
    deployed.settle()
    before = {user: rows_of(deployed, user) for user in leavers}
    deployed.tick(due + timedelta(days=1))
    assert len(deployed.inbox(stays)) == 2
    for user in leavers:
        assert len(deployed.inbox(user)) == 1
        assert rows_of(deployed, user) == before[user], "fan-out started no run"


def test_repeated_unsubscribe_by_keyboard_shows_the_same_page(
    deployed: Deployed, page: Page
) -> None:
    deployed.service.put("subscriber.changed", [a_profile("twice")])
    deployed.service.put("event.created", [a_comment("twice", 1)])
    deployed.settle()
    deployed.tick(next_due())
    for _ in range(2):
        page.goto(unsubscribe_link(deployed, "twice"))
        page.keyboard.press("Tab")
        expect(page.get_by_role("button", name="Unsubscribe")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text("You're unsubscribed")


def test_unsubscribe_by_keyboard_can_be_undone_and_links_to_settings(
    deployed: Deployed, page: Page
) -> None:
    """All by the keyboard; the page names the address before anything is pressed."""
    deployed.service.put("subscriber.changed", [a_profile("undoes")])
    deployed.service.put("event.created", [a_comment("undoes", 1)])
    deployed.settle()
    due = next_due()
    deployed.tick(due)
    page.goto(unsubscribe_link(deployed, "undoes"))
    expect(page.get_by_role("main")).to_contain_text("•••@")
    for offered in ("Unsubscribe", "Email me weekly at most", "Pause for four weeks"):
        page.keyboard.press("Tab")
        expect(page.get_by_role("button", name=offered)).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Email settings")).to_be_focused()

    page.get_by_role("button", name="Unsubscribe").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("You're unsubscribed")
    page.get_by_role("link", name="Email settings").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Email settings")
    expect(page.get_by_role("status")).to_contain_text("You're unsubscribed")

    page.goto(unsubscribe_link(deployed, "undoes"))
    page.get_by_role("button", name="Unsubscribe").press("Enter")
    expect(page.get_by_role("button", name="Undo")).to_be_visible()
    page.get_by_role("link", name="Email settings").click()
    page.get_by_role("button", name="Subscribe again").first.press("Enter")
    page.goto(unsubscribe_link(deployed, "undoes"))
    page.get_by_role("button", name="Unsubscribe").press("Enter")
    page.get_by_role("button", name="Undo").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Undone")
    deployed.service.put("event.created", [a_comment("undoes", 2)])
    deployed.settle()
    deployed.tick(due + timedelta(days=1))
    assert len(deployed.inbox("undoes")) == 2


@pytest.mark.parametrize("link", ["/unsubscribe/YW5u", "/unsubscribe/YW5u.YW5uYW5uYW5uYW5uYQ"])
@pytest.mark.usefixtures("deployed")
def test_truncated_link_offers_no_actions(edge: Edge, page: Page, link: str) -> None:
    answer = page.goto(f"{edge.url}{link}")
    assert answer
    assert answer.status == 404
    expect(page.get_by_role("button")).to_have_count(0)


def leave_link(deployed: Deployed, user: str, scope: str) -> str:
    """Out of the HTML of an email that was sent."""
    (mail,) = deployed.inbox(user)
    (link,) = {
        link
        for link in links_of(mail.part("html"))
        if "/unsubscribe/" in link and scope_of(link).startswith(scope)
    }
    return link


def test_category_can_be_muted_and_unmuted_by_keyboard(
    deployed: Deployed, browser: Browser
) -> None:
    """By the link beside a block: the page says first what it does, and for whom."""
    deployed.service.put("subscriber.changed", [a_profile("less")])
    deployed.service.put("event.created", [a_comment("less", 1)])
    deployed.settle()
    due = next_due()
    deployed.tick(due)
    with inspected(browser) as page:
        heading = page.get_by_role("heading", level=1)
        page.goto(leave_link(deployed, "less", "c:comment"))
        expect(heading).to_have_text("Stop emails about comments?")
        expect(page.get_by_role("main")).to_contain_text("l•••@example.com")
        assert problems(page) == []
        page.keyboard.press("Tab")
        expect(page.get_by_role("button", name="Stop these emails")).to_be_focused()
        page.keyboard.press("Enter")
        expect(heading).to_have_text("No more emails about comments")
        assert problems(page) == []
        for _ in range(2):
            deployed.service.put("event.created", [a_comment("less", 2)])
        deployed.settle()
        deployed.tick(due + timedelta(days=1))
        assert len(deployed.inbox("less")) == 1, "comments are turned off"

        page.keyboard.press("Tab")
        expect(page.get_by_role("button", name="Undo")).to_be_focused()
        page.keyboard.press("Enter")
        expect(heading).to_have_text("Undone")
        assert problems(page) == []
    deployed.service.put("event.created", [a_comment("less", 3)])
    deployed.settle()
    deployed.tick(due + timedelta(days=2))
    assert len(deployed.inbox("less")) == 2, "comments come again"


def test_one_click_of_a_digest_ends_digests_but_not_immediate_email(
    deployed: Deployed,
) -> None:
    profile = {**a_profile("both"), "frequencies": {"mention": "immediate"}}
    deployed.service.put("subscriber.changed", [profile])
    deployed.service.put("event.created", [a_comment("both", 1)])
    deployed.settle()
    due = next_due()
    deployed.tick(due)
    (digest,) = deployed.inbox("both")
    link = str(digest.message["List-Unsubscribe"]).strip("<>")
    assert one_click(link, ONE_CLICK, "application/x-www-form-urlencoded") == 200
    mention = {**a_comment("both", 2), "category": "mention"}
    deployed.service.put("event.created", [a_comment("both", 3), mention])
    deployed.settle()
    deployed.service.wait_until_drained("immediate")
    deployed.tick(due + timedelta(days=1))
    _, immediate = deployed.inbox("both")
    assert str(immediate.message["List-Id"]).startswith("<mention.immediate.")
    assert immediate.message["References"] == immediate.message["In-Reply-To"]
