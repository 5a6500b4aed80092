"""Sent emails rendered again, on fakes: what they were made of, and what two sides make of it."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import pytest
from gazette.domain.delivery.arrangement import Arrangement, Ranking, Sections
from gazette.domain.delivery.compose import Digest
from gazette.domain.delivery.run import Status
from gazette.domain.errors import RenderingFailed
from gazette.domain.feedback.experiment import Variant
from gazette.domain.model import Edition, Event
from gazette.domain.ports.rendering import Links
from gazette.domain.subscribers.subscriber import Subscriber

from gazette_support.domain.replay import Rendition, SentEmail
from gazette_support.steps.replay import Side, render_again
from tests.builders import NOW, a_claimed_run, a_subscriber, an_event
from tests.fakes import FakeLinks, FakeRenderer

RELEVANCE = Arrangement(
    ranking=Ranking.RELEVANCE,
    weights={"like": 1.0, "comment": 1.4},
    sections=Sections.NONE,
    full_blocks=3,
)
NEW_LIKE = an_event("e1", category="like", entity_id="new", occurred_at=NOW)
OLD_COMMENT = an_event("e2", entity_id="old", occurred_at=NOW - timedelta(days=2))


@dataclass
class Renderer(FakeRenderer):
    """Shows `most` blocks, and none with an event of a category in `cannot`."""

    most: int = 100
    cannot: tuple[str, ...] = ()

    def render(
        self,
        digest: Digest,
        subscriber: Subscriber,
        links: Links,
        schedule: str,
        *,
        variation: int = 1,
        due_at: datetime | None = None,
        is_first: bool = False,
    ) -> Edition:
        if "*" in self.cannot or not {*digest.categories}.isdisjoint(self.cannot):
            raise RenderingFailed("no stars")
        made = super().render(
            digest, subscriber, links, schedule, variation=variation, due_at=due_at
        )
        return replace(made, blocks=min(self.most, len(digest.blocks)))


def an_email(*events: Event, variation: int = 1) -> SentEmail:
    run = a_claimed_run(status=Status.SENT, sent_at=NOW, variant=Variant(variation, "ranking"))
    return SentEmail(run, a_subscriber(), events or (NEW_LIKE, OLD_COMMENT))


def rendered(
    email: SentEmail, renderer: Renderer, variation: int | None = None, max_blocks: int = 20
) -> Rendition:
    side = Side(
        renderer=renderer, max_blocks=max_blocks, arrangement=RELEVANCE, variation=variation
    )
    return render_again(email, side, link_maker=FakeLinks())


def titles(rendition: Rendition) -> list[str]:
    return [block.title.removeprefix("Title of ") for block in rendition.blocks]


def test_replayed_events_have_their_age_at_sending() -> None:
    """Weeks later, both are equally old, and the comment would matter more."""
    assert titles(rendered(an_email(), Renderer())) == ["new", "old"]
    later = replace(RELEVANCE, weights={"like": 1.0, "comment": 1.7})
    side = Side(renderer=Renderer(), max_blocks=20, arrangement=later)
    assert titles(render_again(an_email(), side, link_maker=FakeLinks())) == ["old", "new"]


@pytest.mark.parametrize(
    ("of_run", "of_side", "order"),
    [
        (1, None, ["first", "second"]),
        (2, None, ["second", "first"]),
        (1, 2, ["second", "first"]),
        (2, 1, ["first", "second"]),
    ],
)
def test_replay_uses_the_ranking_of_the_rendered_variation(
    of_run: int, of_side: int | None, order: list[str]
) -> None:
    """The second variation of the fake shows what is latest first."""
    first = an_event("e1", entity_id="first", occurred_at=NOW - timedelta(hours=1))
    second = an_event("e2", category="like", entity_id="second", occurred_at=NOW)
    email = an_email(first, second, variation=of_run)
    assert titles(rendered(email, Renderer(), of_side)) == order


def test_unrenderable_event_is_excluded_and_the_rest_shown() -> None:
    found = rendered(an_email(), Renderer(cannot=("like",)))
    assert titles(found) == ["old"]
    assert found.excluded == ((NEW_LIKE, "no stars"),)
    assert (found.failed, found.edition is None) == ("", False)


def test_email_without_renderable_events_is_skipped() -> None:
    found = rendered(an_email(), Renderer(cannot=("like", "comment")))
    assert (found.edition, found.failed) == (None, "")
    assert {event.id for event, _ in found.excluded} == {"e1", "e2"}


def test_templates_that_render_no_event_fail_without_exclusions() -> None:
    found = rendered(an_email(), Renderer(cannot=("*",)))
    assert (found.edition, found.failed, found.excluded) == (None, "no stars", ())


@pytest.mark.parametrize(
    ("max_blocks", "most", "shown", "left_out", "cut"),
    [(20, 20, 2, 0, 0), (1, 20, 1, 1, 0), (20, 1, 1, 1, 1), (1, 0, 0, 2, 1)],
)
def test_omitted_blocks_and_blocks_cut_for_size_are_distinguished(
    max_blocks: int, most: int, shown: int, left_out: int, cut: int
) -> None:
    found = rendered(an_email(), Renderer(most=most), max_blocks=max_blocks)
    assert (len(found.blocks), found.left_out, found.cut) == (shown, left_out, cut)
