"""Readers choose for themselves, on the page that an email links to; no script runs there."""

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from gazette.domain.scheduling.calendar import SLOT
from playwright.sync_api import Locator, Page, ViewportSize, expect

from tests.browser.links import links_in, preferences_of
from tests.stage import HOUR, Deployed, a_comment, a_profile, next_due

BERLIN = ZoneInfo("Europe/Berlin")
MOMENT = re.compile(r"\w+day, \d{1,2} \w+ \d{4}, \d{2}:\d{2}")
MOST_TABS = 400
PHONE: ViewportSize = {"width": 390, "height": 844}
SAVE = 'button[value="save"]'


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


def test_digest_arrives_at_the_time_shown_on_the_page(deployed: Deployed, page: Page) -> None:
    """From daily to weekly, on another day, at another hour."""
    page.goto(write_to(deployed, "chooser"))
    before = told_next(page)
    assert (before.hour, before.minute) == (HOUR, 0)
    wanted = datetime.now(BERLIN) + timedelta(days=3)
    choose(page, "frequency", "weekly")
    choose(page, "weekly_on", str(wanted.isoweekday()))
    unfold(page)
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


def unfold(page: Page) -> None:
    """Open what is folded, as somebody does who has no pointer."""
    for each in page.locator("summary").all():
        if each.is_visible():
            each.focus()
            page.keyboard.press("Enter")


def choose_quiet_hours(page: Page) -> None:
    """Choose immediate email for a category, which shows quiet hours, and unfold them."""
    choose(page, "category-mention", "immediate")
    page.locator("#quiet-hours summary").focus()
    page.keyboard.press("Enter")
    choose(page, "quiet", "hours")


def names_of_fields(page: Page) -> set[str]:
    """The names of all fields, in sight or not."""
    found: list[str] = page.locator("main select, main input:not([type=hidden])").evaluate_all(
        "fields => fields.map(field => field.name)"
    )
    return set(found)


def test_settings_page_works_with_the_keyboard(deployed: Deployed, page: Page) -> None:
    link = write_to(deployed, "typist")
    page.goto(link)
    assert "hour" not in tab_to(page, "act", "save"), "what is folded is passed over"

    page.goto(link)
    unfold(page)
    choose(page, "category-like", "weekly")
    choose(page, "category-comment", "custom")
    choose_quiet_hours(page)
    page.locator("h1").click()
    page.keyboard.press("Shift+Tab")
    passed = tab_to(page, "act", "save")
    assert {"frequency", "weekly_on", "days", "weeks", "hour", "time_zone"} <= set(passed)
    assert {"quiet", "quiet_from", "quiet_until"} <= set(passed)
    assert names_of_fields(page) - set(passed) <= {"paused_until"}, "each comes before the button"

    page.goto(link)
    unfold(page)
    page.locator("h1").click()
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


def test_only_applicable_fields_are_visible(deployed: Deployed, page: Page) -> None:
    page.goto(write_to(deployed, "chooses"))
    weekly, days = page.locator("#weekly_on"), page.locator("#days")
    expect(weekly).to_be_hidden()
    expect(days).to_be_hidden()
    choose(page, "frequency", "weekly")
    expect(weekly).to_be_visible()
    choose(page, "frequency", "custom")
    expect(weekly).to_be_hidden()
    expect(days).to_be_visible()
    choose(page, "frequency", "")
    unfold(page)
    choose(page, "category-like", "weekly")
    expect(weekly).to_be_visible()
    expect(days).to_be_hidden()


def test_quiet_hours_are_visible_only_if_they_apply(deployed: Deployed, page: Page) -> None:
    page.goto(write_to(deployed, "sleeper"))
    section, until = page.locator("#quiet-hours"), page.locator("#quiet_until")
    expect(section).to_be_hidden()
    choose(page, "frequency", "immediate")
    expect(section).to_be_visible()
    choose(page, "frequency", "")
    expect(section).to_be_hidden()
    unfold(page)
    choose_quiet_hours(page)
    expect(until).to_be_visible()
    choose(page, "quiet", "none")
    expect(until).to_be_hidden()


def test_quiet_hours_are_chosen_with_the_keyboard(deployed: Deployed, page: Page) -> None:
    link = write_to(deployed, "nightowl")
    page.goto(link)
    choose(page, "frequency", "immediate")
    page.locator("#quiet-hours summary").focus()
    page.keyboard.press("Enter")
    assert tab_to(page, "quiet", "none") == ["quiet"]
    page.keyboard.press("ArrowDown")
    assert tab_to(page, "quiet_from") == ["quiet_from"]
    page.keyboard.press("ArrowDown")
    tab_to(page, "act", "save")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("Saved.")
    expect(page.get_by_role("status")).to_contain_text("Quiet hours: 23:00 to 07:00.")

    page.goto(link)
    expect(page.locator("#quiet-hours summary")).to_contain_text("23:00 to 07:00")
    page.locator("#quiet-hours summary").click()
    choose(page, "quiet_until", "23:00")
    press(page, "save")
    expect(page.get_by_role("alert")).to_contain_text("Choose two different times")
    page.get_by_role("alert").get_by_role("link").click()
    expect(page.locator("#quiet_until")).to_be_in_viewport()
    expect(page.locator("#quiet_until")).to_be_visible()


def test_settings_page_on_a_phone_fits_two_screens(deployed: Deployed, page: Page) -> None:
    page.set_viewport_size(PHONE)
    page.goto(write_to(deployed, "phone"))
    controls = page.locator("main").locator("select, input, button, summary")
    in_sight = [each for each in controls.all() if each.is_visible()]
    assert len(in_sight) <= 13, "28 before anything was folded; three buttons pause"
    height = page.evaluate("document.documentElement.scrollHeight")
    assert height <= 2 * PHONE["height"], "3.5 screens before"
    assert inside(page.locator(SAVE), page), "without scrolling"


def inside(found: Locator, page: Page) -> bool:
    """Whether all of it is on the screen."""
    box, size = found.bounding_box(), page.viewport_size
    return bool(box and size and box["y"] >= 0 and box["y"] + box["height"] <= size["height"])


@pytest.mark.parametrize("size", [{"width": 390, "height": 844}, {"width": 320, "height": 256}])
def test_save_bar_does_not_cover_the_focused_field(
    deployed: Deployed, page: Page, size: ViewportSize
) -> None:
    """WCAG 2.2, 2.4.11; the second is a window at 400 percent, where Save does not stick."""
    page.set_viewport_size(size)
    page.goto(write_to(deployed, f"focus{size['width']}"))
    unfold(page)
    choose(page, "category-like", "weekly")
    choose(page, "category-comment", "custom")
    choose_quiet_hours(page)
    page.locator("h1").click()
    is_hidden = """() => {
        const focused = document.activeElement, bar = document.querySelector('.save');
        if (bar.contains(focused) || focused === document.body) return false;
        const its = focused.getBoundingClientRect(), save = bar.getBoundingClientRect();
        return its.bottom > save.top && its.top < save.bottom || its.bottom > innerHeight + 1;
    }"""
    passed: list[str] = []
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        passed.append(focused(page)[0])
        assert not page.evaluate(is_hidden), passed[-1]
        if focused(page) == ("act", "unsubscribe"):
            return
    raise AssertionError(f"the end of the page cannot be reached: {passed}")


def test_browser_without_has_selector_shows_every_field(deployed: Deployed, page: Page) -> None:
    """An older one drops the block of rules, as it would another that it cannot read."""
    link = write_to(deployed, "older")
    html = page.request.get(link).text().replace("selector(:has(a))", "selector(:unknown(a))")
    assert ":unknown(a)" in html
    page.set_content(html)
    unfold(page)
    for name in names_of_fields(page):
        expect(page.locator(f'[name="{name}"]').first).to_be_visible()


@pytest.mark.parametrize("place", ["often", "pause"])
def test_email_link_scrolls_to_its_section_of_the_page(
    deployed: Deployed, page: Page, place: str
) -> None:
    user = f"to{place}"
    link = write_to(deployed, user)
    (mail,) = deployed.inbox(user)
    assert link in links_in(mail)
    assert f'{link}#{place}"' in mail.part("html")
    page.goto(f"{link}#{place}")
    expect(page.locator(f"#{place}")).to_be_in_viewport()
