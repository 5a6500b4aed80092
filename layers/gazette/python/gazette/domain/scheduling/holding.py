"""Immediate runs that wait for hours, such as for the end of a reader's quiet hours (rule 29).

Pure.
"""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime, timedelta

from gazette.domain.delivery.run import Reason, Run
from gazette.domain.links import NEW_LINK
from gazette.domain.scheduling.calendar import zone_of
from gazette.domain.scheduling.growing import LOOK_AHEAD
from gazette.domain.scheduling.quiet import QuietHours, spread_after
from gazette.domain.subscribers.subscriber import Subscriber


def quiet_until(
    run: Run,
    categories: Collection[str],
    reader: Subscriber,
    hours: QuietHours,
    now: datetime,
) -> datetime | None:
    """Return the time until which a run waits, because its reader has quiet hours at `now`.

    Returns None if the run may be sent. `categories` are those of its events, and `hours` the quiet
    hours in force for the reader. Digests and critical emails never wait, nor does the link to the
    preference page for which the reader has just asked. An email that may have been sent before
    does not wait either, because its policy decides when it is tried again.
    """
    if NEW_LINK in categories:
        return None
    if not run.key.is_immediate or run.key.is_critical or run.uncertain:
        return None
    until = hours.until(now, zone_of(reader.time_zone))
    return spread_after(until, reader.user_id) if until else None


def collecting_until(run: Run, until: datetime, *, hold: timedelta) -> Run:
    """Return an unclaimed run that collects events until `until`. The sweep then queues the run.

    `hold` is the time after which all of its events can be read. The epoch of the run is raised, so
    that a worker that read the run before fails at its claim.
    """
    check_at = until + hold - LOOK_AHEAD
    return replace(run, due_at=until, check_at=check_at, epoch=run.epoch + 1)


def waiting_in_quiet_hours(run: Run, until: datetime, *, hold: timedelta) -> Run:
    """Return an unclaimed run that waits for the end of the reader's quiet hours."""
    return replace(collecting_until(run, until, hold=hold), reason=Reason.QUIET_HOURS)
