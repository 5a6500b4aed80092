"""Hold immediate emails in a reader's quiet hours (rule 28)."""

from dataclasses import replace
from datetime import datetime

from gazette.domain.delivery.run import Reason, Run
from gazette.domain.delivery.signals import Stop
from gazette.domain.links import NEW_LINK
from gazette.domain.scheduling.calendar import zone_of
from gazette.domain.scheduling.growing import LOOK_AHEAD
from gazette.domain.scheduling.limits import SettlingLimits
from gazette.domain.scheduling.quiet import QuietHours, quiet_hours_in_force, spread_after
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.steps.delivery.windows import WindowEvents
from gazette.steps.runs import changed


def held_until(
    run: Run, due: WindowEvents, reader: Subscriber, *, default: QuietHours | None, now: datetime
) -> datetime | None:
    """Return the time until which an immediate run is held; None if it may be sent at `now`.

    Critical emails are never held, nor is the link to the preference page for which a reader has
    just asked, nor an email that may have been sent before.
    """
    if not run.key.is_immediate or run.key.is_critical or run.uncertain:
        return None
    if NEW_LINK in due.categories:
        return None
    hours = quiet_hours_in_force(reader.quiet_hours, default)
    until = hours.until(now, zone_of(reader.time_zone)) if hours else None
    return spread_after(until, reader.user_id) if until else None


def collecting_until(run: Run, until: datetime, limits: SettlingLimits) -> Run:
    """Return an unclaimed run that collects events until `until`. The sweep then queues it.

    A worker that has read the run before the change fails at its claim, because its epoch is
    raised. The run has no message, because no message can be delayed for so long.
    """
    check_at = until + limits.hold - LOOK_AHEAD
    return replace(changed(run, Stop()), due_at=until, check_at=check_at)


def held(run: Run, until: datetime, limits: SettlingLimits) -> Run:
    """Return an unclaimed run that waits for the end of the reader's quiet hours."""
    return replace(collecting_until(run, until, limits), reason=Reason.QUIET_HOURS)
