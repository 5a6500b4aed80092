"""Events out about runs that ended, derived from the rows of `runs` before and after a change.
Pure.
"""

from collections.abc import Iterator
from datetime import datetime

from gazette.domain.delivery.run import CERTAINTIES, Reason, Run, Status
from gazette.domain.events_out.events import EmailEvent, EventType
from gazette.domain.scheduling.calendar import slot_of
from gazette.domain.stored import is_known

_TYPES = {
    Status.SENT: EventType.EMAIL_SENT,
    Status.SKIPPED: EventType.EMAIL_SKIPPED,
    Status.FAILED: EventType.EMAIL_FAILED,
}
"""The event for each status that is published.

A cancelled run is not published: an operator cancelled it, or its events go into another email.
"""

PUBLISHED = tuple(_TYPES)
"""The statuses that are published."""

QUIET = frozenset({Reason.NOTHING_WAITED, Reason.NOTHING_NEW, Reason.EMPTY, Reason.SUPERSEDED})
"""The reasons for which a skipped run is not published, because there was nothing to send."""


def run_events(before: Run | None, after: Run | None, at: datetime) -> Iterator[EmailEvent]:
    """Yield the event of a run that ended at `at`, if any.

    The function is total. A run with an unknown status is not published. A failed or
    skipped run may still be published as sent, because evidence changes any status (rule 8).
    """
    if after is None or (type_ := _TYPES.get(after.status)) is None:
        return
    if before and before.status is after.status:
        return
    if after.status is Status.SKIPPED and after.reason in QUIET:
        return
    is_sent = after.status is Status.SENT
    yield EmailEvent(
        type=type_,
        run=after.key,
        slot=slot_of(after.due_at),
        at=(after.sent_at if is_sent else None) or at,
        categories=after.categories,
        events=after.events if is_sent else None,
        certainty=CERTAINTIES.get(after.reason) if is_sent else None,
        reason=after.reason.value if not is_sent and is_known(after.reason) else "",
    )
