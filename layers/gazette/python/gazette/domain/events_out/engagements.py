"""Events out about delivered emails, derived from the rows of `engagement` before and after a
change. Pure.
"""

from collections.abc import Iterator
from datetime import datetime

from gazette.domain.events_out.events import EmailEvent, EventType
from gazette.domain.feedback.delivery_events import Engagement, EngagementEvent

_FIRST_OF = {
    EventType.EMAIL_DELIVERED: (
        EngagementEvent.DELIVERED,
        EngagementEvent.COMPLAINED,
        EngagementEvent.OPENED,
        EngagementEvent.CLICKED,
        EngagementEvent.UNSUBSCRIBED,
    ),
    EventType.EMAIL_BOUNCED: (EngagementEvent.BOUNCED,),
    EventType.EMAIL_COMPLAINED: (EngagementEvent.COMPLAINED,),
    EventType.EMAIL_CLICKED: (EngagementEvent.CLICKED,),
}
"""The engagement events whose first occurrence is published, for each type of event out.

A reader who acts on an email has received it, as in the statistics.
"""


def engagement_events(before: Engagement | None, after: Engagement | None) -> Iterator[EmailEvent]:
    """Yield an event for each outcome that an email has for the first time.

    A delivery event that arrives late may set a time back. That is not published again.
    """
    if after is None:
        return
    for type_, events in _FIRST_OF.items():
        at = _time_of(after, events)
        if at and not (before and _time_of(before, events)):
            yield EmailEvent(
                type=type_,
                run=after.key,
                slot=after.slot,
                at=at,
                categories=after.categories,
            )


def _time_of(email: Engagement, events: tuple[EngagementEvent, ...]) -> datetime | None:
    """Return the time of the first event in `events` that was reported, by their order; None if
    none was.
    """
    return next((email.first[event] for event in events if event in email.first), None)
