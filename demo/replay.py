"""The replay of real days, which publishes each day's messages as events and then advances the
clock.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import date, datetime, timedelta
from itertools import islice

from gazette.domain.scheduling.calendar import (
    Recurrence,
    last_instant_of_slot,
    next_occurrence,
    slot_of,
)

from demo import campus, invented
from demo.invented import AT_ONCE, Happened
from demo.service import Service

SETTLE_SECONDS = 2.2
"""A time slightly longer than the settle lag of the stage `local`, after which published events are
visible.
"""

_ROOM = timedelta(minutes=3)
"""The time that registration and publishing the first day's events may take on a slow machine."""

Progress = Callable[[str], None]


def time_to_begin(now: datetime) -> datetime:
    """Return the first instant, not before `now`, after which no digest is due for three minutes.

    The demo sets the clock of the functions to this instant, and does not wait for it.

    A digest due during these minutes would contain only part of the first day's events. Its reader
    would get two mixed emails instead of one email for each day.
    """
    recurrences = (Recurrence(campus.DIGEST_HOUR, 0, zone) for zone in campus.ZONES)
    begin = now
    for due in sorted(next_occurrence(each, after=now) for each in recurrences):
        if due - begin <= _ROOM:
            begin = due + timedelta(seconds=1)
    return begin


def register(
    service: Service, students: Collection[int], week: Sequence[campus.Message]
) -> tuple[datetime, datetime]:
    """Register the students and the further reader, and let pairs of students follow entities.

    Publish everything at once, because the order of arrival does not matter. Return the slots in
    which the registration began and ended.
    """
    began = service.clock()
    follows = [
        invented.follow_created(int(student), conversation, first_day(began))
        for conversation in sorted(campus.mutual(week))
        for student in conversation.split("-")
    ]
    count = service.put(
        "subscriber.changed", (campus.subscriber_changed(student, began) for student in students)
    )
    count += service.put("subscriber.changed", [invented.wants_at_once(began)])
    count += service.put("follow.created", follows)
    if count != len(students) + 1 + len(follows):
        raise RuntimeError(f"only {count} readers and follows were published")
    service.wait_until_drained("ingest")
    return slot_of(began), slot_of(service.clock())


def first_day(began: datetime) -> date:
    """Return the day before `began`, so that all events of that day are past when their digest is
    due.
    """
    return began.date() - timedelta(days=1)


def last_slot(day: int, registered: tuple[datetime, datetime]) -> datetime:
    """Return the slot in which the last digests of the replay's `day` are due.

    This is the latest occurrence number `day` after the last registration, across all time zones.
    """
    _, ended = registered
    recurrences = (Recurrence(campus.DIGEST_HOUR, 0, zone) for zone in campus.ZONES)
    return slot_of(
        max(next(islice(_occurrences(each, after=ended), day, None)) for each in recurrences)
    )


def replay(
    service: Service,
    events: Sequence[Happened],
    *,
    registered: tuple[datetime, datetime],
    progress: Progress,
) -> int:
    """Publish each day's events, then advance the clock until every student's digest is due.

    Return the number of events. The replay starts yesterday. It does not wait for the days to pass,
    nor for the settle lag, because the clocks of the functions are set ahead by more than that.

    The events of the further reader happen when they are published, because an event that is more
    than a day old goes to the digest.
    """
    first = first_day(registered[0])
    count = 0
    for day in range(events[-1].message.day + 1):
        today = [each for each in events if each.message.day == day]
        at_once = {"occurred_at": service.clock().isoformat()}
        for detail_type, is_followed in (("activity.created", True), ("event.created", False)):
            count += service.put(
                detail_type,
                (
                    each.detail(first) | (at_once if each.message.target == AT_ONCE else {})
                    for each in today
                    if each.is_followed is is_followed
                ),
            )
        service.wait_until_drained("ingest", "followers")
        service.wait_until_drained("immediate")
        let_pass(service, last_slot(day, registered))
        progress(f"day {day + 1}: {len(today)} events")
    return count


def time_to_go(so_far: float, messages: Sequence[campus.Message]) -> float:
    """Estimate the remaining seconds of the week from the first day's share of messages."""
    share = sum(message.day == 0 for message in messages) / len(messages)
    return so_far / share - so_far


def let_pass(service: Service, until: datetime) -> None:
    """Set the clock to `until`, run one tick for all slots until then, and wait until the digests
    are sent.
    """
    service.set_clock(until)
    service.tick(until)
    service.wait_until_drained("shard", "generate", "immediate")


def _occurrences(recurrence: Recurrence, *, after: datetime) -> Iterator[datetime]:
    due = next_occurrence(recurrence, after=last_instant_of_slot(after))
    while True:
        yield due
        due = next_occurrence(recurrence, after=due)
