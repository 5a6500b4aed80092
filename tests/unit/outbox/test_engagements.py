"""The events out of delivered emails, compared with the statistics."""

from collections import Counter
from datetime import timedelta

from gazette.domain.events_out.engagements import engagement_events
from gazette.domain.events_out.events import EventType
from gazette.domain.feedback.delivery_events import Engagement, EngagementEvent
from gazette.domain.feedback.experiment import DEFAULT_VARIANT
from hypothesis import given
from hypothesis import strategies as st

from gazette_support.domain.statistics import Measure, measures_of
from tests.builders import KEY, NOW

MEASURES = {
    EventType.EMAIL_DELIVERED: Measure.DELIVERED,
    EventType.EMAIL_BOUNCED: Measure.BOUNCED,
    EventType.EMAIL_COMPLAINED: Measure.COMPLAINED,
    EventType.EMAIL_CLICKED: Measure.CLICKED,
}


def engagement(*events: EngagementEvent, minutes: int = 0) -> Engagement:
    at = NOW + timedelta(minutes=minutes)
    return Engagement(
        KEY, NOW, "en", DEFAULT_VARIANT, ("comment",), dict.fromkeys(events, at), templates=1
    )


@given(events=st.lists(st.sampled_from(EngagementEvent), min_size=1))
def test_published_events_are_the_measures_of_the_statistics(
    events: list[EngagementEvent],
) -> None:
    """Whatever the order in which delivery events arrive."""
    before, published = None, Counter[EventType]()
    for number in range(len(events)):
        after = engagement(*events[: number + 1])
        published.update(event.type for event in engagement_events(before, after))
        before = after
    measures = measures_of(engagement(*events))
    assert published == {type_: 1 for type_, each in MEASURES.items() if each in measures}


def test_earlier_time_is_not_published_again() -> None:
    late = engagement(EngagementEvent.DELIVERED, minutes=9)
    assert not [*engagement_events(late, engagement(EngagementEvent.DELIVERED))]


def test_time_is_that_of_the_delivery_event() -> None:
    clicked = engagement(EngagementEvent.CLICKED, minutes=3)
    delivered, click = engagement_events(None, clicked)
    assert (delivered.type, click.type) == (EventType.EMAIL_DELIVERED, EventType.EMAIL_CLICKED)
    assert delivered.at == click.at == NOW + timedelta(minutes=3)
    assert [delivered.id, click.id] == ["ann-daily-1:delivered", "ann-daily-1:clicked"]


def test_deleted_row_is_not_published() -> None:
    assert not [*engagement_events(engagement(EngagementEvent.CLICKED), None)]
