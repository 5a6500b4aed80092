"""Tell whether a reader's next digest has the notice that the digests end soon."""

from datetime import date, timedelta

from gazette.domain.ports.clock import Clock
from gazette.domain.ports.ledgers import Schedules
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.subscriber import Subscriber


def next_notice(
    reader: Subscriber,
    digest: Frequency,
    *,
    schedules: Schedules,
    sunset: timedelta | None,
    clock: Clock,
) -> date | None:
    """Return the date that the notice in the reader's next digest names; None without a notice.

    Makes no writes. Costs one read of the schedule.
    """
    schedule = schedules.get(reader.user_id, digest.value)
    if schedule is None or schedule.is_withdrawn:
        return None
    return reader.digests_end_on(digest, schedule.due_after(clock()), sunset)
