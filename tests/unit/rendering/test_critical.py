"""What readers are told of critical categories, in emails and on pages."""

import re
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import lxml.html
import pytest
from gazette.adapters.rendering.pages import JinjaPages
from gazette.adapters.rendering.preference_page import PreferencePages
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.adapters.rendering.sheets import Sheets
from gazette.domain.delivery.compose import compose
from gazette.domain.links import EVERYTHING, Scope, ScopeKind
from gazette.domain.model import Edition
from gazette.domain.scheduling.kinds import critical_schedule, immediate_schedule
from gazette.domain.subscribers.frequency import Frequency, frequencies
from gazette.domain.subscribers.leaving import LeaveAct, Leaving
from gazette.domain.subscribers.overview import Overview
from gazette.domain.subscribers.subscriber import Subscriber, SubscriberStatus

from tests.builders import NOW, a_subscriber, an_event
from tests.unit.rendering.test_leave_links import FOLLOWED, LINKS, in_html, in_text

FIXED = Scope(ScopeKind.CATEGORY, ("security",))
LOCALES = ("en", "de", "he")


def email(renderer: JinjaRenderer, schedule: str, locale: str = "en", via: str = "") -> Edition:
    event = an_event(category="security", via=(via,) if via else ())
    digest = compose([event], max_blocks=20, until=NOW + timedelta(hours=1))
    return renderer.render(digest, replace(a_subscriber(), locale=locale), LINKS, schedule)


def words(html: str) -> str:
    """The text of a page or an email, without invisible characters."""
    text = lxml.html.fromstring(html).text_content()
    return " ".join(re.sub("[\u2066-\u2069]", "", text).split())


@pytest.mark.parametrize("locale", LOCALES)
def test_critical_email_has_no_ineffective_opt_out_links(
    renderer: JinjaRenderer, locale: str
) -> None:
    made = email(renderer, critical_schedule("post#1"), locale)
    assert not in_html(made)
    assert not in_text(made)
    for part in (made.html, made.text):
        assert LINKS.unsubscribe not in part
        assert LINKS.preferences in part
    beside = email(renderer, immediate_schedule("post#1"), locale)
    assert in_html(beside) == in_text(beside) == ["c:security"]
    assert LINKS.unsubscribe in beside.html
    assert LINKS.unsubscribe in beside.text


def test_critical_email_offers_to_unfollow_the_entity(renderer: JinjaRenderer) -> None:
    made = email(renderer, critical_schedule("post#1"), via="post#1")
    assert in_html(made) == in_text(made) == [FOLLOWED.partition(",")[0]]


def test_critical_email_footer_gives_the_reason(renderer: JinjaRenderer) -> None:
    made = email(renderer, critical_schedule("post#1"))
    said = "Gazette sends security notices to every account, whatever your email settings are."
    assert said in words(made.html)
    assert said in made.text
    assert "account" not in words(email(renderer, immediate_schedule("post#1")).html)


@pytest.fixture
def pages(built_templates: Path) -> JinjaPages:
    return JinjaPages(Sheets(built_templates))


def leaving(scope: Scope, act: LeaveAct | None = None, *, known: bool = True) -> Leaving:
    reader = a_subscriber() if known else None
    return Leaving(scope=scope, reader=reader, act=act, still=("payment", "security"))


STILL = "Only these still come, because they're about your account: Payment and Security."


@pytest.mark.parametrize("act", [None, LeaveAct.EVERYTHING])
def test_unsubscribe_page_lists_categories_still_sent(
    pages: JinjaPages, act: LeaveAct | None
) -> None:
    def page(what: Leaving) -> str:
        if act:
            return words(pages.left("", what, undo="", settings=""))
        return words(pages.confirm_leaving("", what, settings=""))

    assert STILL in page(leaving(EVERYTHING, act))
    assert "still come" not in page(replace(leaving(EVERYTHING, act), still=()))
    assert "still come" not in page(leaving(EVERYTHING, act, known=False)), "who knows whose it is"


@pytest.mark.parametrize("act", [None, LeaveAct.LEAVE])
def test_mute_link_of_a_critical_category_explains_the_exception(
    pages: JinjaPages, act: LeaveAct | None
) -> None:
    what = leaving(FIXED, act)
    html = (
        pages.left("", what, undo="", settings="../p/x")
        if act
        else pages.confirm_leaving("", what, settings="../p/x")
    )
    page = lxml.html.fromstring(html)
    (heading,) = page.xpath("//h1")
    assert words(html).count("These emails are about your account, so they always come") == 1
    assert words(heading.text_content()) == "Emails about security can't be turned off"
    assert not page.xpath("//button[@value='leave']"), "no button that does nothing"
    assert "Nothing has changed yet" not in html


def test_mute_link_of_several_categories_names_critical_categories(pages: JinjaPages) -> None:
    some = replace(leaving(Scope(ScopeKind.IMMEDIATE, ("mention",))), still=("security",))
    said = words(pages.confirm_leaving("", some, settings=""))
    always = "These always come right away, because they're about your account: Security."
    assert always in said
    done = replace(some, act=LeaveAct.LEAVE)
    assert always in words(pages.left("", done, undo="", settings=""))


@pytest.fixture
def settings_page(built_templates: Path) -> PreferencePages:
    return PreferencePages(Sheets(built_templates), built_templates)


def overview(reader: Subscriber, *critical: str) -> Overview:
    return Overview(subscriber=reader, now=NOW, defaults=(), critical=critical)


@pytest.mark.parametrize("locale", LOCALES)
def test_settings_page_offers_no_ineffective_choice(
    settings_page: PreferencePages, locale: str
) -> None:
    reader = replace(a_subscriber(security=Frequency.NEVER), locale=locale)
    fixed = lxml.html.fromstring(settings_page.page(overview(reader, "security")))
    free = lxml.html.fromstring(settings_page.page(overview(reader)))
    assert free.xpath("//select[@name='category-security']")
    assert not fixed.xpath("//*[contains(@name, 'security') or contains(@id, 'security')]")
    assert "security" not in settings_page.categories(overview(reader, "security"))
    assert "Security" in fixed.xpath("//div[@class='notice']")[0].text_content()


def test_settings_page_does_not_count_ineffective_choices(settings_page: PreferencePages) -> None:
    said = words(settings_page.page(overview(a_subscriber(security=Frequency.NEVER), "security")))
    assert "1 changed" not in said
    assert "Never: Security" not in said
    assert "1 changed" in words(
        settings_page.page(overview(a_subscriber(security=Frequency.NEVER)))
    )


def test_settings_page_lists_critical_categories(settings_page: PreferencePages) -> None:
    reader = a_subscriber()
    paused = replace(reader, times=replace(reader.times, paused_until=date(2026, 12, 10)))
    muted = replace(reader, choices=((NOW, frequencies({})),))
    always = "These always come right away, because they're about your account: Security."
    still = "Only these still come, because they're about your account: Security."
    for each, expected in (
        (muted, always),
        (paused, still),
        (replace(reader, status=SubscriberStatus.UNSUBSCRIBED), still),
        (replace(reader, status=SubscriberStatus.DORMANT), still),
    ):
        page = settings_page.page(overview(each, "security"))
        (notice,) = lxml.html.fromstring(page).xpath("//div[@class='notice']")
        text = re.sub("[\u2066-\u2069]", "", " ".join(notice.text_content().split()))
        assert expected in text, each
        assert "about your account" not in words(settings_page.page(overview(each)))


def test_settings_page_omits_critical_categories_if_address_is_suppressed(
    settings_page: PreferencePages,
) -> None:
    """Behind a bounce or a complaint nothing comes."""
    reader = replace(a_subscriber(), status=SubscriberStatus.SUPPRESSED)
    page = lxml.html.fromstring(settings_page.page(overview(reader, "security")))
    assert "account" not in page.xpath("//div[@class='notice']")[0].text_content()


def test_settings_page_does_not_claim_that_all_email_is_off(
    settings_page: PreferencePages,
) -> None:
    off = dict.fromkeys(settings_page.categories(overview(a_subscriber())), Frequency.NEVER)
    reader = replace(a_subscriber(), choices=((NOW, frequencies({"*": Frequency.NEVER, **off})),))
    assert "You get no emails" in words(settings_page.page(overview(reader)))
    said = words(settings_page.page(overview(reader, "security")))
    assert "You get no emails" not in said
    assert "You turned off all types of updates. These always come right away" in said
