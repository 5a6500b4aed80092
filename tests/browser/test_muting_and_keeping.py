"""Readers mute one thing, and keep a digest that ends: email, page, button, stored state, email."""

import re
from collections.abc import Iterator
from datetime import timedelta

import pytest
from gazette.domain.links import Purpose
from playwright.sync_api import Browser, Page, expect

from tests.browser.accessibility import inspected, problems
from tests.browser.letters import each_language, languages
from tests.browser.links import links_in, preferences_of
from tests.browser.stored import rows_of
from tests.leaving import scope_of
from tests.stage import Deployed, a_comment, a_profile, inactive_before, next_due, weekly_later

DAY = timedelta(days=1)


def mute_link(deployed: Deployed, user: str) -> str:
    """The link "Mute this" of the reader's immediate email."""
    immediate = next(mail for mail in deployed.inbox(user) if "-now" in mail.tags["run"])
    links = {link for link in links_in(immediate) if "/unsubscribe/" in link}
    (link,) = {link for link in links if scope_of(link).startswith("m:")}
    return link


def list_link(deployed: Deployed, user: str) -> str:
    """The link to the list of all updates in the reader's digest."""
    digest = next(mail for mail in deployed.inbox(user) if "-daily" in mail.tags["run"])
    (link,) = {link for link in links_in(digest) if "/updates/" in link}
    return link


def keep_link(deployed: Deployed, user: str, *, weekly: bool = False) -> str:
    """A link of the notice in the reader's digest."""
    digest = next(mail for mail in deployed.inbox(user) if "-daily" in mail.tags["run"])
    links = {link for link in links_in(digest) if f"/{Purpose.KEEP}/" in link}
    assert len(links) == 2
    return next(link for link in links if link.endswith("?offer=weekly") is weekly)


def write_to(deployed: Deployed, title: str = "On <digests>", **locales: str) -> None:
    """Let each reader, named with a language, have an immediate email and a digest that ends
    soon.
    """
    thing = {**a_comment("", 1)["entity"], "title": title}
    put, due, often = deployed.service.put, next_due(), {"mention": "immediate"}
    put(
        "subscriber.changed",
        [
            {**weekly_later(a_profile(user), due), "locale": locale, "frequencies": often}
            for user, locale in locales.items()
        ],
    )
    put(
        "event.created",
        [{**a_comment(user, 1), "category": "mention", "entity": thing} for user in locales],
    )
    put("event.created", [a_comment(user, 2) for user in locales])
    deployed.settle()
    deployed.service.wait_until_drained("immediate")
    for user in locales:
        inactive_before(deployed, user, due)
    deployed.tick(due)


def comes(deployed: Deployed, user: str, number: int) -> bool:
    """Return True if a new comment on the same post is in the digest of day `number`."""
    before = len(deployed.inbox(user))
    deployed.service.put("event.created", [a_comment(user, 10 + number)])
    deployed.settle()
    deployed.tick(next_due() + number * DAY)
    return len(deployed.inbox(user)) > before


def tab_and_press(page: Page, name: str) -> None:
    """The next thing that the keyboard reaches is a button of that name."""
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name=name, exact=True)).to_be_focused()
    page.keyboard.press("Enter")


def test_thing_can_be_muted_and_the_mute_undone_by_keyboard(deployed: Deployed, page: Page) -> None:
    """A second press changes nothing, and offers to undo the first. Also from the settings."""
    write_to(deployed, mutes="en")
    heading, link = page.get_by_role("heading", level=1), mute_link(deployed, "mutes")
    for _ in range(2):
        page.goto(link)
        expect(heading).to_have_text("Mute On <digests>?")
        tab_and_press(page, "Mute")
        expect(heading).to_have_text("On <digests>: muted")
        expect(page.get_by_role("button", name="Undo")).to_be_visible()
        muted = rows_of(deployed, "mutes")
        page.goto(link)
        assert rows_of(deployed, "mutes") == muted, "opening the page again changes nothing"
    assert not comes(deployed, "mutes", 1)

    page.goto(link)
    tab_and_press(page, "Mute")
    expect(heading).to_have_text("On <digests>: muted")
    tab_and_press(page, "Undo")
    expect(heading).to_have_text("Undone")
    assert comes(deployed, "mutes", 2)

    page.goto(link)
    tab_and_press(page, "Mute")
    expect(heading).to_have_text("On <digests>: muted")
    page.goto(preferences_of(deployed.inbox("mutes")[0]))
    summary = page.locator("summary", has_text="What you muted")
    summary.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_role("checkbox", name="On <digests>")).to_be_focused()
    page.keyboard.press("Space")
    page.get_by_role("button", name="Save").press("Enter")
    expect(summary).to_have_count(0)
    assert comes(deployed, "mutes", 3)


def test_thing_can_be_muted_in_the_list_of_updates_without_scripts(
    deployed: Deployed, browser: Browser
) -> None:
    """From the email to the list in one click, and there one press by keyboard, which is undone and
    repeated."""
    things = [{"type": "post", "id": f"l{each}", "title": f"Post {each}"} for each in range(30)]
    deployed.service.put("subscriber.changed", [a_profile("lists")])
    deployed.service.put(
        "event.created",
        [
            {**a_comment("lists", each), "entity": {**a_comment("", 1)["entity"], **thing}}
            for each, thing in enumerate(things)
        ],
    )
    deployed.settle()
    deployed.tick(next_due())
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        heading = page.get_by_role("heading", level=1)
        page.goto(list_link(deployed, "lists"))
        expect(heading).to_have_text(re.compile("^All 30 updates from "))
        button = page.get_by_role("button", name="Mute this: Post 7", exact=True)
        button.focus()
        page.keyboard.press("Enter")
        expect(heading).to_have_text("Post 7: muted")
        page.get_by_role("button", name="Undo").press("Enter")
        expect(heading).to_have_text(re.compile("^Undone"))
        page.get_by_role("link", name="Back to the updates").click()
        button.press("Enter")
        expect(heading).to_have_text("Post 7: muted")
        page.get_by_role("link", name="Back to the updates").click()
        expect(page.get_by_text("Muted", exact=True)).to_be_visible()
        expect(button).to_have_count(0)
    with inspected(browser) as inspector:
        inspector.goto(list_link(deployed, "lists"))
        assert problems(inspector) == []


def test_old_undo_does_not_end_a_later_mute(
    deployed: Deployed, browser: Browser, page: Page
) -> None:
    """The page with the first undo is still open in another tab."""
    write_to(deployed, remutes="en")
    link, heading = mute_link(deployed, "remutes"), page.get_by_role("heading", level=1)
    with browser.new_context(java_script_enabled=False) as context:
        other = context.new_page()
        other.goto(link)
        other.get_by_role("button", name="Mute").click()
        page.goto(link)
        page.get_by_role("button", name="Mute").click()
        page.get_by_role("button", name="Undo").click()
        expect(heading).to_have_text("Undone")
        page.goto(link)
        page.get_by_role("button", name="Mute").click()
        expect(heading).to_have_text("On <digests>: muted")
        other.get_by_role("button", name="Undo").click()
        expect(other.get_by_role("heading", level=1)).to_have_text("On <digests>: muted")
    assert not comes(deployed, "remutes", 1)


def test_digest_can_be_kept_or_made_weekly_by_keyboard(deployed: Deployed, page: Page) -> None:
    write_to(deployed, keeps="en", calms="en")
    heading, keep = page.get_by_role("heading", level=1), keep_link(deployed, "keeps")
    before = rows_of(deployed, "keeps")
    page.goto(keep)
    expect(heading).to_have_text("Keep your digest?")
    expect(page.get_by_role("main")).to_contain_text("because you haven't visited for a while")
    assert rows_of(deployed, "keeps") == before
    tab_and_press(page, "Keep my digest")
    expect(heading).to_have_text("You keep your digest")
    kept = rows_of(deployed, "keeps")
    assert kept != before
    page.goto(keep)
    expect(heading).to_have_text("You keep your digest")
    expect(page.get_by_role("button")).to_have_count(0)
    assert rows_of(deployed, "keeps") == kept

    weekly = keep_link(deployed, "calms", weekly=True)
    for _ in range(2):
        page.goto(weekly)
        tab_and_press(page, "Make my digest weekly")
        expect(heading).to_have_text("You get email weekly at most")
    deployed.service.put("event.created", [a_comment("calms", 3)])
    assert comes(deployed, "keeps", 1)
    assert "/keep/" not in deployed.inbox("keeps")[-1].part("plain")
    assert len(deployed.inbox("calms")) == 2, "the next digest is weekly"
    page.goto(preferences_of(deployed.inbox("calms")[0]))
    expect(page.locator('input[name="frequency"][value="weekly"]')).to_be_checked()


def reader_of(locale: str) -> str:
    return f"hushes{locale.lower().replace('-', '')}"


@pytest.fixture(scope="module")
def correspondents(deployed: Deployed) -> None:
    """A reader in each language who has an immediate email about a thing whose title is one long
    word, and a digest that ends soon.
    """
    write_to(
        deployed,
        "https://example.com/" + "x" * 60,
        **{reader_of(locale): locale for locale in languages()},
    )


@pytest.fixture
def inspector(browser: Browser) -> Iterator[Page]:
    """A page in which axe runs."""
    with inspected(browser) as page:
        yield page


@pytest.mark.usefixtures("correspondents")
@pytest.mark.parametrize("locale", each_language())
def test_pages_after_the_buttons_are_accessible(
    deployed: Deployed, inspector: Page, locale: str
) -> None:
    user = reader_of(locale)
    main = inspector.get_by_role("main")
    for weekly in (False, True):
        inspector.goto(keep_link(deployed, user, weekly=weekly))
        main.get_by_role("button").first.click()
        assert problems(inspector) == []
        expect(inspector.locator("html")).to_have_attribute("lang", locale)
    inspector.goto(mute_link(deployed, user))
    main.get_by_role("button").first.click()
    assert problems(inspector) == []
    inspector.goto(preferences_of(deployed.inbox(user)[0]))
    inspector.locator("#muted summary").click()
    assert problems(inspector) == []
