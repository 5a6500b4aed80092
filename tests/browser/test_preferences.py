"""Readers choose for themselves, on the page that an email links to; no script runs there."""

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from gazette.domain.scheduling.calendar import SLOT
from playwright.sync_api import Page, expect

from tests.browser.links import links_in, preferences_of
from tests.stage import Deployed, a_comment, a_profile, next_due

BERLIN = ZoneInfo("Europe/Berlin")
MOMENT = re.compile(r"\w+day, \d{1,2} \w+ \d{4}, \d{2}:\d{2}")
MOST_TABS = 400


def write_to(deployed: Deployed, user: str) -> str:
    """Let the reader have a digest; returns its link to their preferences."""
    deployed.service.put("subscriber.changed", [a_profile(user)])
    deployed.service.put("event.created", [a_comment(user, 1)])
    deployed.settle()
    deployed.tick(next_due())
    (mail,) = deployed.inbox(user)
    return preferences_of(mail)


def choose(page: Page, name: str, value: str) -> None:
    """In a list, or among buttons of which one is on."""
    field = page.locator(f'select[name="{name}"]')
    if field.count():
        field.select_option(value)
    else:
        page.locator(f'input[name="{name}"][value="{value}"]').check()


def press(page: Page, act: str) -> None:
    """One of the page's buttons."""
    page.locator(f'button[name="act"][value="{act}"]').first.click()


def told_next(page: Page) -> datetime:
    """When the page says that the next digest comes."""
    found = MOMENT.search(page.get_by_role("main").inner_text())
    assert found, "no date is told"
    return datetime.strptime(found[0], "%A, %d %B %Y, %H:%M").replace(tzinfo=BERLIN)


def test_a_digest_comes_when_the_page_says_and_not_before(deployed: Deployed, page: Page) -> None:
    """From daily at eight to weekly, on another day, in the evening."""
    page.goto(write_to(deployed, "chooser"))
    before = told_next(page)
    assert (before.hour, before.minute) == (8, 0)
    wanted = datetime.now(BERLIN) + timedelta(days=3)
    choose(page, "frequency", "weekly")
    choose(page, "weekly_on", str(wanted.isoweekday()))
    choose(page, "hour", "18")
    press(page, "save")
    due = told_next(page)
    assert (due.date(), due.hour) == (wanted.date(), 18)

    deployed.service.put("event.created", [a_comment("chooser", 2)])
    deployed.settle()
    deployed.tick(due.astimezone(UTC) - SLOT)
    assert len(deployed.inbox("chooser")) == 1, "three days pass without one"
    deployed.tick(due.astimezone(UTC))
    assert len(deployed.inbox("chooser")) == 2

    page.goto(preferences_of(deployed.inbox("chooser")[1]))
    assert told_next(page) == due + timedelta(weeks=1)


def focused(page: Page) -> tuple[str, str]:
    """Name and value of what the keyboard acts on."""
    found = page.evaluate(
        "() => [document.activeElement.name ?? '', document.activeElement.value ?? '']"
    )
    return found[0], found[1]


def tab_to(page: Page, name: str, value: str = "") -> list[str]:
    """Press Tab until the field has the focus; the names of those that had it meanwhile."""
    passed: list[str] = []
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        now = focused(page)
        passed.append(now[0])
        if now[0] == name and (not value or now[1] == value):
            return passed
    raise AssertionError(f"{name} {value} cannot be reached: {passed}")


def test_the_keyboard_is_enough(deployed: Deployed, page: Page) -> None:
    link = write_to(deployed, "typist")
    page.goto(link)
    passed = tab_to(page, "act", "save")
    fields = page.locator("main select, main input:not([type=hidden])").evaluate_all(
        "fields => fields.map(field => field.name)"
    )
    assert {"frequency", "weekly_on", "hour", "time_zone"} <= set(passed)
    assert set(fields) - set(passed) <= {"paused_until"}, "every field comes before the button"

    page.goto(link)
    tab_to(page, "hour")
    page.keyboard.press("ArrowDown")
    tab_to(page, "act", "save")
    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_contain_text("09:00")

    tab_to(page, "act", "unsubscribe")
    page.keyboard.press("Space")
    start = page.locator('button[name="act"][value="start"]')
    expect(start).to_have_count(1)
    page.goto(link)
    expect(start).to_have_count(1)


@pytest.mark.parametrize("place", ["often", "pause"])
def test_an_email_leads_to_the_place_on_the_page(
    deployed: Deployed, page: Page, place: str
) -> None:
    user = f"to{place}"
    link = write_to(deployed, user)
    (mail,) = deployed.inbox(user)
    assert link in links_in(mail)
    assert f'{link}#{place}"' in mail.part("html")
    page.goto(f"{link}#{place}")
    expect(page.locator(f"#{place}")).to_be_in_viewport()
