"""A real week, day by day: put what its messages became as events, then let the clock pass."""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import islice

from gazette.domain.scheduling.calendar import (
    Recurrence,
    last_instant_of_slot,
    next_occurrence,
    slot_of,
)

from demo import campus, invented
from demo.invented import Happened
from demo.service import Service

SETTLE_SECONDS = 2.2
"""A little more than the settle lag of the stage `local`: what was put before is then visible."""

_ROOM = timedelta(minutes=3)
"""How long the readers and the events of the first day may take to be there, on a slow machine."""

Progress = Callable[[str], None]


def time_to_begin(now: datetime) -> datetime:
    """The first instant from `now` on after which no digest is due for three minutes.

    One that was due in between would have some of the first day's events, and the next one the
    others: two emails of two days, where one of each is expected.
    """
    wanted = (Recurrence(campus.DIGEST_HOUR, 0, zone) for zone in campus.ZONES)
    begin = now
    for due in sorted(next_occurrence(each, after=now) for each in wanted):
        if due - begin <= _ROOM:
            begin = due + timedelta(seconds=1)
    return begin


def register(service: Service, week: list[campus.Message]) -> tuple[datetime, datetime]:
    """Register every student, and let those who wrote to each other follow what they share.

    And one more reader. All of it is put at once: which of it arrives first does not matter.
    Returns the slots in which that began and ended.
    """
    began = datetime.now(UTC)
    students = range(1, campus.STUDENTS + 1)
    follows = [
        invented.follow_created(int(student), conversation, first_day(began))
        for conversation in sorted(campus.mutual(week))
        for student in conversation.split("-")
    ]
    put = service.put(
        "subscriber.changed", (campus.subscriber_changed(student, began) for student in students)
    )
    put += service.put("subscriber.changed", [invented.wants_at_once(began)])
    put += service.put("follow.created", follows)
    if put != campus.STUDENTS + 1 + len(follows):
        raise RuntimeError(f"only {put} readers and follows were put")
    service.wait_until_drained("ingest")
    return slot_of(began), slot_of(datetime.now(UTC))


def first_day(began: datetime) -> date:
    """The day before: whatever happens is over when the digest that tells of it is due."""
    return began.date() - timedelta(days=1)


def last_slot(day: int, registered: tuple[datetime, datetime]) -> datetime:
    """The slot in which the last digests of the replay's `day` are due.

    Of each zone's next occurrence but `day` after the last student was registered the latest.
    """
    _, ended = registered
    wanted = (Recurrence(campus.DIGEST_HOUR, 0, zone) for zone in campus.ZONES)
    return slot_of(max(next(islice(_occurrences(each, after=ended), day, None)) for each in wanted))


def replay(
    service: Service,
    events: Sequence[Happened],
    *,
    registered: tuple[datetime, datetime],
    wait: Callable[[float], None],
    progress: Progress,
) -> int:
    """Put each day's events, then let the time come at which every student was due once.

    Returns events put. The days of the replay begin yesterday. Nobody waits for them: the clocks of
    the functions are set ahead.
    """
    first = first_day(registered[0])
    put = 0
    for day in range(events[-1].message.day + 1):
        today = [each for each in events if each.message.day == day]
        for detail_type, is_followed in (("activity.created", True), ("event.created", False)):
            put += service.put(
                detail_type,
                (each.detail(first) for each in today if each.is_followed is is_followed),
            )
        service.wait_until_drained("ingest", "followers")
        wait(SETTLE_SECONDS)
        service.wait_until_drained("immediate")
        let_pass(service, last_slot(day, registered))
        progress(f"day {day + 1}: {len(today)} events")
    return put


def time_to_go(so_far: float, messages: Sequence[campus.Message]) -> float:
    """Seconds until the week is over, if the first day took `so_far`: by its share of messages."""
    share = sum(message.day == 0 for message in messages) / len(messages)
    return so_far / share - so_far


def let_pass(service: Service, until: datetime) -> None:
    """Let it be `until`, strike once for all slots until then, and let the digests go out."""
    service.set_clock(until)
    service.tick(until)
    service.wait_until_drained("shard", "generate", "immediate")


def _occurrences(wanted: Recurrence, *, after: datetime) -> Iterator[datetime]:
    due = next_occurrence(wanted, after=last_instant_of_slot(after))
    while True:
        yield due
        due = next_occurrence(wanted, after=due)
