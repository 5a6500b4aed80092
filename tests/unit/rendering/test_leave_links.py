"""The footer offers to turn off categories, and in immediate emails to unfollow and mute."""

from collections.abc import Collection
from dataclasses import replace
from datetime import timedelta

import lxml.html
import pytest
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.adapters.web.links import SignedLinks, links_of_view
from gazette.domain.delivery.compose import compose
from gazette.domain.links import LinkKeys, entity_mark, thing_scope
from gazette.domain.model import DAILY, Edition, Event
from gazette.domain.ports.rendering import Links
from gazette.domain.scheduling.kinds import critical_schedule, immediate_schedule

from tests.builders import NOW, a_link, a_subscriber, an_event
from tests.leaving import scope_of

LINKS = SignedLinks(
    base_url="https://links.example.com", keys=lambda: LinkKeys({"k1": b"1" * 32})
).links(a_link())
FOLLOWED = f"e:{entity_mark('post#1')},{entity_mark('blog#1')}"
IMMEDIATE = immediate_schedule("post#1")


def email(
    renderer: JinjaRenderer, schedule: str, *events: Event, links: Links = LINKS, locale: str = "en"
) -> Edition:
    digest = compose(events, max_blocks=20, until=NOW + timedelta(hours=1))
    reader = replace(a_subscriber(), locale=locale)
    return renderer.render(digest, reader, links, schedule)


def scopes(hrefs: Collection[str]) -> list[str]:
    return [scope_of(href) for href in hrefs if "/unsubscribe/" in href]


def all_in_html(edition: Edition) -> list[str]:
    return scopes(lxml.html.fromstring(edition.html).xpath("//a/@href"))


def all_in_text(edition: Edition) -> list[str]:
    return scopes([word for word in edition.text.split() if word.startswith("https://")])


def of_content(scopes: Collection[str]) -> list[str]:
    """The scopes of categories and follows."""
    return [scope for scope in scopes if scope != "all" and not scope.startswith("m:")]


def in_html(edition: Edition) -> list[str]:
    return of_content(all_in_html(edition))


def in_text(edition: Edition) -> list[str]:
    return of_content(all_in_text(edition))


@pytest.mark.parametrize(
    ("schedule", "html", "text"),
    [
        (DAILY, ["c:like", "c:mention"], []),
        (IMMEDIATE, ["c:mention", "c:like"], ["c:mention", "c:like"]),
    ],
    ids=["least relevant first, and only in HTML", "most relevant first"],
)
def test_footer_has_a_link_that_turns_off_each_category(
    renderer: JinjaRenderer, schedule: str, html: list[str], text: list[str]
) -> None:
    made = email(
        renderer, schedule, an_event("e1", category="mention"), an_event("e2", category="like")
    )
    assert (in_html(made), in_text(made)) == (html, text)
    assert "Turn off mentions" in made.html
    links = lxml.html.fromstring(made.html).xpath("//td[@class='footer']//a/@href")
    assert of_content(scopes(links)) == html, "no link is in a block"


def test_footer_of_a_digest_turns_off_at_most_two_categories(renderer: JinjaRenderer) -> None:
    names = ("mention", "comment", "like", "article")
    made = email(renderer, DAILY, *[an_event(name, category=name) for name in names])
    assert in_html(made) == ["c:like", "c:article"]
    assert all_in_text(made) == ["all"]


def test_unfollow_link_is_shown_only_for_followed_entities(renderer: JinjaRenderer) -> None:
    followed = replace(an_event(category="comment"), via=("post#1", "blog#1"))
    made = email(renderer, IMMEDIATE, followed)
    assert in_html(made) == in_text(made) == [FOLLOWED, "c:comment"]
    assert ">Unfollow</a>" in made.html
    made = email(renderer, IMMEDIATE, replace(followed, via=()))
    assert in_html(made) == in_text(made) == ["c:comment"]


def test_digest_links_to_the_page_on_which_things_are_unfollowed(renderer: JinjaRenderer) -> None:
    followed = replace(an_event(category="comment"), via=("post#1", "blog#1"))
    made = email(renderer, DAILY, followed, an_event("other", entity_id="other"))
    assert in_html(made) == ["c:comment"]
    assert "Unfollow" not in made.html + made.text
    page = lxml.html.fromstring(made.html)
    [link] = page.xpath("//p[@class='less']/a[.='single things in this email']")
    assert link.get("href") == LINKS.updates


def test_category_without_templates_can_be_muted_by_name(
    renderer: JinjaRenderer,
) -> None:
    made = email(renderer, DAILY, an_event(category="build_failed"))
    assert "Turn off build failed" in made.html


def test_readers_of_a_cached_block_get_their_own_opt_out_links(
    renderer: JinjaRenderer,
) -> None:
    """Blocks are cached for all readers."""
    event, other = an_event(category="mention"), replace(a_link(), issued_on=NOW.date())
    keys = LinkKeys({"k1": b"2" * 32})
    theirs = SignedLinks(base_url="https://links.example.com", keys=lambda: keys).links(other)
    first, second = email(renderer, DAILY, event), email(renderer, DAILY, event, links=theirs)
    hrefs = [set(lxml.html.fromstring(each.html).xpath("//a/@href")) for each in (first, second)]
    assert hrefs[0] & hrefs[1] == {event.entity.url, "https://example.com/"} & hrefs[0]
    assert in_html(first) == in_html(second) == ["c:mention"]


def test_shareable_view_has_no_opt_out_links(renderer: JinjaRenderer) -> None:
    view = links_of_view("token", base_url="https://links.example.com")
    made = email(renderer, DAILY, an_event(category="mention"), links=view)
    assert "/unsubscribe/" not in made.html
    assert "Turn off" not in made.html


def test_immediate_email_has_a_link_that_mutes_its_thing(renderer: JinjaRenderer) -> None:
    made = email(renderer, immediate_schedule("post#1"), an_event("e1", entity_id="1"))
    scope = thing_scope("post#1", "Title of 1")
    assert scope
    found = f"m:{scope.names[0]}"
    assert found in all_in_html(made)
    assert found in all_in_text(made)
    assert "Mute this" in made.html
    assert "Mute this: https://" in made.text


@pytest.mark.parametrize("locale", ["de", "he"])
def test_mute_link_is_in_the_language_of_the_reader(renderer: JinjaRenderer, locale: str) -> None:
    made = email(renderer, immediate_schedule("post#1"), an_event("e1"), locale=locale)
    assert any(scope.startswith("m:") for scope in all_in_text(made))
    assert "Mute this" not in made.html + made.text


def test_digest_has_no_link_that_mutes_a_thing(renderer: JinjaRenderer) -> None:
    made = email(renderer, DAILY, an_event("e1"))
    assert not any(scope.startswith("m:") for scope in (*all_in_html(made), *all_in_text(made)))


def test_critical_email_has_no_link_that_mutes_a_thing(renderer: JinjaRenderer) -> None:
    made = email(renderer, critical_schedule("post#1"), an_event("e1"))
    assert not any(scope.startswith("m:") for scope in (*all_in_html(made), *all_in_text(made)))
