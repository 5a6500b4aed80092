"""A real week, day by day: put its messages as events, then let the clock pass."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

from gazette.domain.calendar import SLOT, next_occurrence, slot_of
from gazette.domain.model import LocalHour

from demo import campus
from demo.service import Service

_SETTLE_SECONDS = 2.2
"""A little more than the settle lag of the stage `local`: what was put before is then visible."""

Progress = Callable[[str], None]


def register(service: Service) -> tuple[datetime, datetime]:
    """Register every student. Returns the slots in which that began and ended."""
    began = datetime.now(UTC)
    students = range(1, campus.STUDENTS + 1)
    put = service.put_events(
        "subscriber.changed", (campus.subscriber_changed(student, began) for student in students)
    )
    if put != campus.STUDENTS:
        raise RuntimeError(f"only {put} of {campus.STUDENTS} students were put")
    service.wait_until_drained("ingest")
    return slot_of(began), slot_of(datetime.now(UTC))


def due_slots(since: datetime, until: datetime) -> list[datetime]:
    """The slots in `(since, until]` in which any student's digest is due, in order."""
    return sorted(
        {
            slot_of(due)
            for zone in campus.ZONES
            for due in _occurrences(LocalHour(campus.DIGEST_HOUR, 0, zone), since, until)
        }
    )


def replay(
    service: Service,
    messages: list[campus.Message],
    *,
    registered: tuple[datetime, datetime],
    wait: Callable[[float], None],
    progress: Progress,
) -> int:
    """Put each day's messages, then tick through the 24 hours after it. Returns events put.

    No one waits for a clock: a tick carries the time that it stands for, and the days of the
    replay begin today. The first 24 hours begin at the slot in which the first student was
    registered, so that no occurrence lies before the first tick.
    """
    began, ended = registered
    first_day = began.date()
    put = 0
    since = began
    for day in range(messages[-1].day + 1):
        today = [message for message in messages if message.day == day]
        put += service.put_events(
            "event.created", (campus.event_created(message, first_day) for message in today)
        )
        service.wait_until_drained("ingest")
        wait(_SETTLE_SECONDS)
        until = ended + timedelta(days=day + 1)
        for slot in due_slots(since, until):
            service.tick(slot)
        service.wait_until_drained("shard", "generate")
        since = until
        progress(f"day {day + 1}: {len(today)} messages")
    return put


def _occurrences(wanted: LocalHour, since: datetime, until: datetime) -> Iterator[datetime]:
    due = next_occurrence(wanted, after=since + SLOT - timedelta(microseconds=1))
    while due <= until:
        yield due
        due = next_occurrence(wanted, after=due)
