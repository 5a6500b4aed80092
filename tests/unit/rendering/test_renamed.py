"""An email uses the newest name of each person and thing throughout."""

import html
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from random import Random
from typing import Any

import lxml.html
import pytest
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.domain.delivery.arrangement import Arrangement, Ranking, Sections
from gazette.domain.delivery.compose import compose
from gazette.domain.model import DAILY, Actor, Edition, Event
from gazette.domain.scheduling.kinds import critical_schedule, immediate_schedule
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import LINKS, NOW, a_subscriber, an_event

SCHEDULES = [DAILY, immediate_schedule("post#p1"), critical_schedule("post#p1")]
LOCALES = ["en", "de", "he"]


def at(event: Event, minute: int, **more: Any) -> Event:
    """Return the event with another time, `minute` minutes after 07:03."""
    return replace(event, occurred_at=NOW + timedelta(minutes=minute), **more)


def edition(
    renderer: JinjaRenderer,
    events: Sequence[Event],
    schedule: str = DAILY,
    locale: str = "en",
    arrangement: Arrangement | None = None,
) -> Edition:
    digest = compose(events, max_blocks=20, arrangement=arrangement or Arrangement())
    return renderer.render(digest, replace(a_subscriber(), locale=locale), LINKS, schedule)


def parts(made: Edition) -> tuple[str, str, str]:
    return made.subject, html.unescape(made.html), made.text


def page(made: Edition) -> Any:
    return lxml.html.document_fromstring(made.html)


OLD = Actor("bo", "Robert Old")
NEW = Actor("bo", "Berta New")


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("newest", ["mention", "comment", "like", "x"])
def test_every_part_uses_the_latest_name_of_a_person(
    renderer: JinjaRenderer, newest: str, locale: str, schedule: str
) -> None:
    """Subject, preheader, headline, lines, quotes, initials and the text part."""
    events = [
        at(
            an_event(f"{category}{number}", category=category, entity_id="p1", excerpt="Words"),
            9 if category == newest and number else number,
            actor=NEW if category == newest and number else OLD,
        )
        for category in ("mention", "comment", "like", "x")
        for number in range(2)
    ]
    made = edition(renderer, events, schedule, locale)
    for part in parts(made):
        assert "Robert" not in part
    letters = page(made).xpath("//td[contains(@class, 'letters')]/text()")
    assert {*letters} == {"BN"}
    assert "Berta New" in made.text


def test_amendment_can_change_the_name_of_an_actor(renderer: JinjaRenderer) -> None:
    amended = at(an_event("e1"), 0, actor=NEW, amended_at=NOW + timedelta(hours=2))
    later = at(an_event("e2", category="like"), 60, actor=OLD)
    for part in parts(edition(renderer, [amended, later])):
        assert "Robert" not in part


def test_actors_are_identified_by_id_not_name(
    renderer: JinjaRenderer,
) -> None:
    two = [at(an_event(f"e{each}", category="like"), 0, actor=Actor(each, "Bo")) for each in "ab"]
    assert "Bo and Bo liked this" in edition(renderer, two).text
    one = [
        at(an_event(f"e{number}", category="like"), number, actor=actor)
        for number, actor in enumerate([OLD, NEW])
    ]
    assert "\nBerta New liked “Title of post1”" in edition(renderer, one).text


def test_actor_with_an_invisible_latest_name_is_unnamed(renderer: JinjaRenderer) -> None:
    hidden = at(an_event("e2", category="like"), 1, actor=Actor("bo", "\u200b"))
    made = edition(renderer, [at(an_event("e1"), 0, actor=OLD), hidden])
    assert "Robert" not in "".join(parts(made))
    assert made.subject == "Someone commented on “Title of post1”"


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_actor_has_the_same_avatar_throughout_an_email(
    renderer: JinjaRenderer, schedule: str
) -> None:
    """The last avatar given also applies to later events without one.

    A digest has a face in each block for the reader, and an immediate email in each line.
    """
    events = [
        at(
            an_event(
                f"e{number}", category=category, entity_id=category if schedule == DAILY else "p1"
            ),
            number,
            actor=replace(OLD, avatar=f"https://p.example/{number}.png" if number < 2 else ""),
        )
        for number, category in enumerate(("mention", "message", "reply"))
    ]
    faces = page(edition(renderer, events, schedule)).xpath("//img[@class='avatar']/@src")
    assert faces == ["https://p.example/1.png"] * 3


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("ranking", Ranking)
def test_every_part_uses_the_latest_title_and_link_of_an_entity(
    renderer: JinjaRenderer, ranking: Ranking, schedule: str
) -> None:
    events = [
        at(
            an_event(category, category=category, entity_id=f"p{entity}"),
            minute,
            entity=replace(
                an_event(entity_id=f"p{entity}").entity,
                title=f"{name} title of {entity}",
                url=f"https://example.com/{name}",
            ),
        )
        for category, entity, minute, name in (
            ("mention", 1, 0, "Old"),
            ("comment", 2, 1, "Other"),
            ("like", 1, 2, "New"),
        )
    ]
    made = edition(renderer, events, schedule, arrangement=Arrangement(ranking=ranking))
    for part in parts(made):
        assert "Old" not in part
    assert "New title of 1" in made.text


def child(event_id: str, minute: int, parent: str, title: str) -> Event:
    """Return a comment on a post whose parent is a board."""
    event = an_event(event_id, entity_id=event_id, via=(f"post#{event_id}", f"board#{parent}"))
    return at(event, minute, parent_title=title)


@pytest.mark.parametrize("order", [1, -1])
def test_renamed_parent_has_a_single_section(renderer: JinjaRenderer, order: int) -> None:
    """Events that omit the title of the parent belong to the same section."""
    events = [child("a", 0, "b1", "Old"), child("b", 1, "b1", "New"), child("c", 2, "b1", "")]
    arrangement = Arrangement(sections=Sections.PARENT)
    made = edition(renderer, events[::order], arrangement=arrangement)
    headings = page(made).xpath("//h2[@class='section']")
    assert [each.text_content() for each in headings] == ["New"]
    assert made.text.count("— New —") == 1
    assert made.text.index("— New —") < made.text.index("Title of c")
    for part in parts(made):
        assert "Old" not in part


def test_parent_without_a_title_has_no_section(renderer: JinjaRenderer) -> None:
    """The entity title of an event on the parent itself does not make it a section."""
    board = at(an_event("p", via=("board#b1",)), 3)
    board = replace(board, entity=replace(board.entity, type="board", id="b1"))
    made = edition(
        renderer,
        [child("a", 0, "b1", ""), board],
        arrangement=Arrangement(sections=Sections.PARENT),
    )
    assert not page(made).xpath("//h2[@class='section']")


def test_section_and_block_of_an_entity_share_the_title(
    renderer: JinjaRenderer,
) -> None:
    board = at(an_event("p", via=("board#b1",)), 3)
    board = replace(board, entity=replace(board.entity, type="board", id="b1", title="New"))
    made = edition(
        renderer,
        [child("a", 0, "b1", "Old"), board],
        arrangement=Arrangement(sections=Sections.PARENT),
    )
    assert [each.text_content() for each in page(made).xpath("//h2[@class='section']")] == ["New"]
    for part in parts(made):
        assert "Old" not in part


@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.sampled_from("xyz"), st.integers(0, 3)), max_size=12
    ),
    st.randoms(use_true_random=False),
)
def test_names_do_not_depend_on_the_order_of_events(
    drawn: list[tuple[str, str, int]], random: Random
) -> None:
    events = [
        at(
            child(f"{place % 3}", minute, actor, name),
            minute,
            id=f"e{place}",
            actor=Actor(actor, name),
        )
        for place, (actor, name, minute) in enumerate(drawn)
    ]
    shuffled = list(events)
    random.shuffle(shuffled)
    digest = compose(events, max_blocks=20)
    assert digest == compose(shuffled, max_blocks=20)
    names = {actor for group in digest.groups for actor in group.actors}
    assert len({actor.id for actor in names}) == len(names)
