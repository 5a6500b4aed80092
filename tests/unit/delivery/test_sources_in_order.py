"""What of a digest comes first, where items of a content source are among its events."""

from datetime import timedelta

from gazette.domain.content.items import EVENTS, RECOMMENDATIONS
from gazette.domain.delivery.arrangement import Arrangement, Ranking
from gazette.domain.delivery.compose import Digest, compose
from gazette.domain.model import Event
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.builders import NOW, an_event

BOTH = (EVENTS, RECOMMENDATIONS)
HOUR = timedelta(hours=1)


def an_item(name: str, score: float | None = None, *, age: int = 0) -> Event:
    return an_event(
        f"recommendations:{name}",
        category="recommendation",
        entity_id=name,
        source=RECOMMENDATIONS,
        score=score,
        occurred_at=NOW - age * HOUR,
    )


def names(digest: Digest) -> list[str]:
    return [block.latest.entity.id for block in digest.blocks]


EVENT = an_event("e", entity_id="event", category="like")
ITEMS = [an_item("worse", 0.2), an_item("best", 0.9), an_item("unscored")]


def test_content_sources_are_shown_in_configured_order() -> None:
    by_score = ["best", "worse", "unscored"]
    assert names(compose([EVENT, *ITEMS], max_blocks=9, sources=BOTH)) == ["event", *by_score]
    assert names(compose([EVENT, *ITEMS], max_blocks=9, sources=BOTH[::-1])) == [*by_score, "event"]


def test_items_follow_events_without_configured_order() -> None:
    assert names(compose([*ITEMS, EVENT], max_blocks=9))[0] == "event"
    assert names(compose([*ITEMS, EVENT], max_blocks=9, sources=(EVENTS,)))[0] == "event"


def test_unscored_items_are_ordered_newest_first() -> None:
    items = [an_item("old", age=5), an_item("new"), an_item("older", age=9)]
    assert names(compose(items, max_blocks=9, sources=BOTH)) == ["new", "old", "older"]


@given(st.lists(st.floats(-5, 5) | st.none(), max_size=8), st.sampled_from(list(Ranking)))
@settings(max_examples=75, deadline=None)
def test_items_are_ordered_by_score_under_any_ranking(
    scores: list[float | None], ranking: Ranking
) -> None:
    items = [an_item(f"i{number}", score) for number, score in enumerate(scores)]
    digest = compose(
        [*items, EVENT], max_blocks=20, sources=BOTH, arrangement=Arrangement(ranking=ranking)
    )
    shown = [block.latest.score for block in digest.blocks[1:]]
    low = float("-inf")
    assert shown == sorted(scores, key=lambda each: low if each is None else each, reverse=True)


def test_digest_without_items_is_arranged_as_usual() -> None:
    events = [an_event(f"e{number}", entity_id=f"p{number % 4}") for number in range(9)]
    assert compose(events, max_blocks=9, sources=BOTH) == compose(events, max_blocks=9)
