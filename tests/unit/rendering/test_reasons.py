"""An email says truly why it came; a block does where blocks came for different reasons."""

from dataclasses import replace

import lxml.html
import pytest
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.domain.delivery.compose import compose
from gazette.domain.model import DAILY, Edition, Event
from gazette.domain.ports.rendering import CacheCount, Links
from gazette.domain.scheduling.kinds import immediate_schedule

from tests.builders import LINKS, a_subscriber, an_event

OWN = replace(LINKS, leave=lambda scope: f"https://x.example/{scope.kind}/{','.join(scope.names)}")
THIS, SOMETHING = "You follow this", "From what you follow"
HAPPENED = "something happened to you or to what you follow."
RECOMMENDED = "we have something to recommend."


def event(number: int, *via: str) -> Event:
    """One about a post of its own. `via` may hold that post, `post#<number>`."""
    return an_event(f"e{number}", entity_id=f"{number}", via=via)


def edition(
    renderer: JinjaRenderer,
    *events: Event,
    schedule: str = DAILY,
    locale: str = "en",
    links: Links = OWN,
) -> Edition:
    reader = replace(a_subscriber(), locale=locale)
    return renderer.render(compose(events, max_blocks=20), reader, links, schedule)


def reasons(made: Edition) -> list[str]:
    """The text behind the time of each block."""
    page = lxml.html.document_fromstring(made.html)
    times = page.xpath("//p[@class='time'] | //span[@class='when']")
    said = [" ".join(each.text_content().split()) for each in times]
    assert all("8:03" in each for each in said)
    return [each.partition("8:03")[2].removeprefix(" · ") for each in said]


def foot(made: Edition) -> str:
    page = lxml.html.document_fromstring(made.html)
    return " ".join(page.xpath("string(//p[@class='reason'])").split())


FOR_ME, FOLLOWED, IN_A_BLOG = event(1), event(2, "post#2"), event(3, "post#3", "blog#b")


def test_block_states_that_its_entity_is_followed_if_reasons_differ(
    renderer: JinjaRenderer,
) -> None:
    made = edition(renderer, FOR_ME, FOLLOWED, IN_A_BLOG)
    assert sorted(reasons(made)) == ["", SOMETHING, THIS]
    for said in (THIS, SOMETHING):
        assert made.text.count(f"\n  {said}\n") == 1


@pytest.mark.parametrize("events", [(FOR_ME, event(4)), (FOLLOWED, IN_A_BLOG)])
def test_footer_alone_gives_a_reason_shared_by_all_blocks(
    renderer: JinjaRenderer, events: tuple[Event, ...]
) -> None:
    made = edition(renderer, *events)
    for said in (THIS, SOMETHING):
        assert said not in made.html + made.text


@pytest.mark.parametrize("events", [(FOR_ME,), (FOLLOWED, IN_A_BLOG), (FOR_ME, FOLLOWED)])
@pytest.mark.parametrize(
    ("schedule", "when"),
    [
        ("daily", "at 08:00 on days when"),
        ("weekly", "every Monday at 08:00, if"),
        ("custom", "on the days you chose at 08:00, if"),
    ],
)
def test_digest_footer_gives_the_reason(
    renderer: JinjaRenderer, events: tuple[Event, ...], schedule: str, when: str
) -> None:
    made = edition(renderer, *events, schedule=schedule)
    said = f"You get this {when} {HAPPENED}"
    assert foot(made) == said
    assert f"\n{said}\n" in made.text


def test_block_with_both_reasons_states_both(renderer: JinjaRenderer) -> None:
    mention = an_event("m", category="mention", entity_id="2")
    made = edition(renderer, mention, FOLLOWED)
    assert foot(made).endswith(HAPPENED)
    assert reasons(made) == [THIS]


def test_block_with_personal_events_is_not_attributed_to_a_follow(
    renderer: JinjaRenderer,
) -> None:
    mine = an_event("m", entity_id="3", category="mention", via=())
    made = edition(renderer, FOR_ME, FOLLOWED, replace(IN_A_BLOG, category="like"), mine)
    assert sorted(reasons(made)) == ["", "", THIS]
    assert SOMETHING not in made.html + made.text


def test_block_is_attributed_only_to_a_follow_of_the_same_entity(
    renderer: JinjaRenderer,
) -> None:
    made = edition(renderer, FOR_ME, event(2, "post#2"), event(3, "post#2"))
    assert sorted(reasons(made)) == ["", SOMETHING, THIS]


def test_cached_block_states_the_reason_of_each_reader(renderer: JinjaRenderer) -> None:
    """The event that is addressed to one reader comes from a follow of the other one."""
    first = edition(renderer, FOR_ME, FOLLOWED)
    renderer.take_count()
    second = edition(renderer, event(1, "post#1"), replace(FOLLOWED, via=()))
    assert renderer.take_count() == CacheCount(hits=2, misses=0)
    for made, expected in ((first, (False, True)), (second, (True, False))):
        page = lxml.html.document_fromstring(made.html)
        said = {
            block.xpath("string(.//a[@class='title'])"): THIS in block.text_content()
            for block in page.xpath("//table[@class='item']")
        }
        assert said == dict(zip(("Title of 1", "Title of 2"), expected, strict=True))


def test_immediate_email_gives_the_reason_in_the_footer(renderer: JinjaRenderer) -> None:
    made = edition(renderer, FOLLOWED, schedule=immediate_schedule("post#2"))
    assert foot(made) == "You're getting this email because you follow “Title of 2” on Gazette."
    assert reasons(made) == [""]


@pytest.mark.parametrize(
    ("locale", "said"),
    [("de", "Du folgst dem"), ("he", "זה במעקב שלך")],
)
def test_reason_is_in_the_readers_language(renderer: JinjaRenderer, locale: str, said: str) -> None:
    made = edition(renderer, FOR_ME, FOLLOWED, locale=locale)
    assert sorted(reasons(made)) == ["", said]


@pytest.mark.parametrize(
    ("schedule", "when"),
    [
        (DAILY, "at 08:00 on days when"),
        ("weekly", "every Monday at 08:00, if"),
        ("custom", "on the days you chose at 08:00, if"),
    ],
)
def test_recommendation_digest_does_not_claim_to_involve_the_reader(
    renderer: JinjaRenderer, schedule: str, when: str
) -> None:
    item = an_event("recommendations:a", category="recommendation", source="recommendations")
    alone = foot(edition(renderer, item, schedule=schedule))
    assert alone == f"You get this {when} {RECOMMENDED}"
    assert foot(edition(renderer, item, FOR_ME, schedule=schedule)).endswith(HAPPENED)
