"""An email says truly why it came; a block does where blocks came for different reasons."""

from dataclasses import replace

import lxml.html
import pytest
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.domain.delivery.compose import compose
from gazette.domain.model import DAILY, Edition, Event
from gazette.domain.ports.rendering import Links
from gazette.domain.scheduling.kinds import immediate_schedule

from tests.builders import LINKS, a_subscriber, an_event

OWN = replace(LINKS, leave=lambda scope: f"https://x.example/{scope.kind}/{','.join(scope.names)}")
THIS, SOMETHING = "You follow this", "From what you follow"
BOTH = "that involves you or that you follow."


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


def rows(made: Edition) -> list[str]:
    """What stands behind the time of each block."""
    page = lxml.html.document_fromstring(made.html)
    said = [" ".join(row.text_content().split()) for row in page.xpath("//p[@class='time']")]
    return [each.partition(" · ")[2] for each in said]


def foot(made: Edition) -> str:
    page = lxml.html.document_fromstring(made.html)
    return " ".join(page.xpath("string(//p[@class='reason'])").split())


FOR_ME, FOLLOWED, IN_A_BLOG = event(1), event(2, "post#2"), event(3, "post#3", "blog#b")


def test_block_states_that_its_entity_is_followed_if_reasons_differ(
    renderer: JinjaRenderer,
) -> None:
    made = edition(renderer, FOR_ME, FOLLOWED, IN_A_BLOG)
    assert sorted(rows(made)) == [
        f"{SOMETHING} · Unfollow · Turn off comments",
        "Turn off comments",
        f"{THIS} · Unfollow · Turn off comments",
    ]
    for said in (THIS, SOMETHING):
        assert made.text.count(f"\n  {said}\n  Unfollow: https://x.example/") == 1


@pytest.mark.parametrize("events", [(FOR_ME, event(4)), (FOLLOWED, IN_A_BLOG)])
def test_footer_alone_gives_a_reason_shared_by_all_blocks(
    renderer: JinjaRenderer, events: tuple[Event, ...]
) -> None:
    made = edition(renderer, *events)
    for said in (THIS, SOMETHING):
        assert said not in made.html + made.text


@pytest.mark.parametrize(
    ("events", "why"),
    [
        ((FOR_ME,), "because of activity that involves you on Gazette."),
        ((FOLLOWED, IN_A_BLOG), "because of what you follow on Gazette."),
        (
            (FOR_ME, FOLLOWED),
            "because of activity on Gazette that involves you or that you follow.",
        ),
    ],
)
@pytest.mark.parametrize(
    ("schedule", "what"),
    [
        ("daily", "this daily digest"),
        ("weekly", "this weekly digest"),
        ("custom", "this digest, on the days you chose,"),
    ],
)
def test_digest_footer_gives_the_reason(
    renderer: JinjaRenderer, events: tuple[Event, ...], why: str, schedule: str, what: str
) -> None:
    made = edition(renderer, *events, schedule=schedule)
    said = f"You're getting {what} {why}"
    assert foot(made) == said
    assert f"\n{said}\n" in made.text


def test_block_with_both_reasons_states_both(renderer: JinjaRenderer) -> None:
    mention = an_event("m", category="mention", entity_id="2")
    made = edition(renderer, mention, FOLLOWED)
    assert foot(made).endswith(BOTH)
    assert rows(made)[0].startswith(f"{THIS} · Unfollow")


def test_block_with_personal_events_is_not_attributed_to_a_follow(
    renderer: JinjaRenderer,
) -> None:
    mine = an_event("m", entity_id="3", category="mention", via=())
    made = edition(renderer, FOR_ME, replace(IN_A_BLOG, category="like"), mine)
    assert "Unfollow · Turn off mentions · Turn off likes" in rows(made)
    assert SOMETHING not in made.html + made.text


def test_block_is_attributed_only_to_a_follow_of_the_same_entity(
    renderer: JinjaRenderer,
) -> None:
    made = edition(renderer, FOR_ME, event(2, "post#2"), event(3, "post#2"))
    assert [SOMETHING in row for row in sorted(rows(made))] == [True, False, False]


def test_cached_block_states_the_reason_of_each_reader(renderer: JinjaRenderer) -> None:
    """Blocks are cached for all readers: to this one it was addressed."""
    first = edition(renderer, FOR_ME, FOLLOWED)
    second = edition(renderer, event(1, "post#1"), replace(FOLLOWED, via=()))
    assert [THIS in row for row in sorted(rows(first))] == [False, True]
    page = lxml.html.document_fromstring(second.html)
    said = {
        cell.xpath("string(./h2)"): THIS in cell.text_content()
        for cell in page.xpath("//td[@class='cell']")
    }
    assert said == {"Title of 1": True, "Title of 2": False}


def test_immediate_email_gives_the_reason_in_the_footer(renderer: JinjaRenderer) -> None:
    made = edition(renderer, FOLLOWED, schedule=immediate_schedule("post#2"))
    assert foot(made) == "You're getting this email because you follow “Title of 2” on Gazette."
    assert rows(made) == [""]


@pytest.mark.parametrize(
    ("locale", "said"),
    [
        ("de", "Du folgst dem · Nicht mehr folgen · Kommentare ausschalten"),
        ("he", "זה במעקב שלך · הפסקת המעקב · הפסקת תגובות"),
    ],
)
def test_reason_is_in_the_readers_language(renderer: JinjaRenderer, locale: str, said: str) -> None:
    assert said in rows(edition(renderer, FOR_ME, FOLLOWED, locale=locale))


@pytest.mark.parametrize(
    ("schedule", "said"),
    [(DAILY, "this daily digest"), ("weekly", "this weekly digest"), ("custom", "this digest, on")],
)
def test_recommendation_digest_does_not_claim_to_involve_the_reader(
    renderer: JinjaRenderer, schedule: str, said: str
) -> None:
    item = an_event("recommendations:a", category="recommendation", source="recommendations")
    alone = foot(edition(renderer, item, schedule=schedule))
    assert said in alone
    assert alone.endswith("because of what is recommended for you on Gazette.")
    assert "that involves you" in foot(edition(renderer, item, FOR_ME, schedule=schedule))
