"""The collecting time of immediate runs, which grows while emails about an entity are frequent.

The first event about an entity is sent at once, which means after the collapse window. The next
email follows ten minutes after the first one, and each further email an hour after the one before
(rule 16). Pure.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from gazette.domain.delivery.run import Run
from gazette.domain.model import Event
from gazette.domain.scheduling.kinds import collecting_grows

WAITS = (timedelta(minutes=10), timedelta(hours=1))
"""The minimum times between emails about an entity: before the second email, and before each
further email."""

QUIET = timedelta(hours=1)
"""The time without an email after which the next email is sent at once again.

It must be at least the longest wait. Otherwise, events at regular intervals that are longer than
QUIET would each be sent at once.
"""

LOOK_AHEAD = timedelta(minutes=10)
"""The time before the end of a long wait at which the sweep may queue the run.

The sweep runs every five minutes, so the run is sent on time even if one sweep is missing. The time
must be less than LONGEST_DELAY, and longer than `SettlingLimits.hold`.
"""

LAPSES_SOON = max(WAITS) + timedelta(minutes=15)
"""The remaining time of an event until it lapses, below which the event is urgent.

A run waits for at most an hour. The margin allows for `hold`, for waiting for a permit, and for a
late sweep.
"""


@dataclass(frozen=True, slots=True)
class Wait:
    """The position of a run among the recent emails about its entity."""

    step: int
    """The number of emails in quick succession before the run, up to the number of WAITS."""

    until: datetime
    """The earliest end of collecting."""


def wait_after(schedule: str, chain: Sequence[Run], at: datetime) -> Wait:
    """Return the wait of a run that starts to collect at `at`, after the runs of `chain`.

    The wait depends on the latest email that ended before `at`. Emails that ended later do not
    count, because a message can be delivered again days later. Two workers that store events at the
    same time and do not see each other's run compute the same end.
    """
    if not collecting_grows(schedule):
        return Wait(0, at)
    ends = [(end, run.step) for run in chain if (end := _end_of_email(run)) and end < at]
    if not ends:
        return Wait(0, at)
    end, step = max(ends)
    if at - end > QUIET:
        return Wait(0, at)
    return Wait(min(step + 1, len(WAITS)), end + WAITS[min(step, len(WAITS) - 1)])


def _end_of_email(run: Run) -> datetime | None:
    """Return the time up to which the email of a run collects events.

    Returns None if the email was not sent and will not be sent.
    """
    is_counted = run.closes_a_window or run.may_have_been_sent or not run.status.is_final
    if not is_counted:
        return None
    return run.window.until if run.window else run.due_at


def lapses_soon(event: Event, now: datetime) -> bool:
    """Return True if the event could lapse before the end of a long wait."""
    return event.expires_at is not None and event.expires_at - now < LAPSES_SOON
