"""The notice that the digests of an inactive reader end soon, in each language."""

from dataclasses import replace
from datetime import date

import lxml.html
import pytest
from gazette.adapters.rendering.renderer import JinjaRenderer, without_tracking
from gazette.adapters.web.links import SignedLinks, links_of_view
from gazette.domain.delivery.compose import compose
from gazette.domain.links import LinkKeys
from gazette.domain.model import DAILY, Edition
from gazette.domain.ports.rendering import Links, SunsetNotice
from gazette.domain.subscribers.frequency import Frequency

from tests.builders import a_link, a_subscriber, an_event

KEYS = LinkKeys({"k1": b"1" * 32})
LINKS = SignedLinks(base_url="https://links.example.com", keys=lambda: KEYS).links(a_link())
NOTICE = SunsetNotice(date(2027, 1, 10), LINKS.keep(), f"{LINKS.keep()}?offer=weekly")
WITH_NOTICE = replace(LINKS, sunset=NOTICE)


def email(
    renderer: JinjaRenderer,
    *,
    schedule: str = DAILY,
    locale: str = "en",
    links: Links = WITH_NOTICE,
) -> Edition:
    digest = compose([an_event()], max_blocks=5)
    shown_to = replace(a_subscriber(), locale=locale)
    return renderer.render(digest, shown_to, links, schedule)


LANGUAGES = {
    "en": ("Still want this digest? It ends on 10 January 2027", "Keep it", "Make it weekly"),
    "de": ("Sie endet am 10. Januar 2027", "Weiter bekommen", "Nur noch wöchentlich"),
    "he": ("הוא יופסק ב־10 בינואר 2027", "להמשיך לקבל", "פעם בשבוע"),
}


@pytest.mark.parametrize("locale", LANGUAGES)
def test_notice_is_in_html_and_text_of_each_language(renderer: JinjaRenderer, locale: str) -> None:
    made = email(renderer, locale=locale)
    page = lxml.html.fromstring(made.html)
    says, keep, weekly = LANGUAGES[locale]
    assert says in " ".join(page.text_content().split())
    assert says in made.text
    hrefs = {link.text_content(): link.get("href") for link in page.xpath("//a[@class='all']")}
    assert hrefs == {keep: LINKS.keep(), weekly: f"{LINKS.keep()}?offer=weekly"}
    assert f"{keep}: {LINKS.keep()}\n" in made.text
    assert f"{weekly}: {LINKS.keep()}?offer=weekly\n" in made.text


def test_weekly_digest_offers_no_weekly_digest(renderer: JinjaRenderer) -> None:
    made = email(renderer, schedule=Frequency.WEEKLY)
    assert "Keep it" in made.html
    assert "Make it weekly" not in made.html + made.text


def test_other_emails_have_no_notice(renderer: JinjaRenderer) -> None:
    made = email(renderer, links=LINKS)
    view = email(renderer, links=links_of_view("token", base_url="https://links.example.com"))
    assert "/keep/" not in made.html + made.text + view.html + view.text


def test_links_of_the_notice_are_not_tracked(renderer: JinjaRenderer) -> None:
    html = without_tracking(email(renderer).html, WITH_NOTICE)
    links = [link for link in lxml.html.fromstring(html).iter("a") if "/keep/" in link.get("href")]
    assert len(links) == 2
    assert all("ses:no-track" in link.attrib for link in links)
