"""Category holds: hold back the events of a held category until it is released."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from gazette.domain.delivery.run import Reason, Run, name_of, newest_of, possibly_sent_until
from gazette.domain.delivery.signals import Skip
from gazette.domain.model import Event, StoredEvent, Window
from gazette.steps.delivery.predecessors import Predecessors
from gazette.steps.delivery.types import Delivery, DeliveryContext, WaitingFor
from gazette.steps.runs import apply

_BETWEEN = (timedelta(seconds=600), timedelta(seconds=900))
"""How long a held immediate run waits: 900 s is the longest delay of an SQS message."""


@dataclass(frozen=True, slots=True)
class Due:
    """The events of a window: those to send, those held back by a hold, and those expired.

    `newest`, `left_out`: as in Run. `may_have_been_sent`: the ids of the events in `sent` that an
    earlier attempt may have sent.
    """

    sent: Sequence[Event]
    held: Sequence[Event] = ()
    expired: Sequence[StoredEvent] = ()
    newest: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    may_have_been_sent: frozenset[str] = frozenset()


def events_due(run: Run, older: Predecessors, window: Window, *, context: DeliveryContext) -> Due:
    """Read the window of a run (rule 19).

    An event that may have gone out is not held back: it would be sent again if evidence arrives
    for the email that had it. It stays with its run, or with the run that carries that one. An
    event in the window of such a run that was not in its email was written late; its writer stamps
    it anew (rule 14). If this attempt showed it, a delivery event could not tell which of the two
    attempts had it.
    """
    on_hold, now = context.held_categories(), context.clock()
    unknown = [
        each
        for each in (run, *(carried for carried, _ in older.carried))
        if each.may_have_been_sent
    ]
    until = possibly_sent_until(unknown)
    sent: list[StoredEvent] = []
    held: list[Event] = []
    expired: list[StoredEvent] = []
    left_out: list[str] = []
    for stored in context.events.read(run.key.user_id, run.key.schedule, window):
        if stored.has_expired(now):
            expired.append(stored)
        elif any(each.has_passed_over(stored.event.id, stored.stored_at) for each in unknown):
            left_out.append(name_of(stored.event.id))
        elif stored.event.category in on_hold and stored.stored_at > until:
            held.append(stored.event)
        else:
            sent.append(stored)
    return Due(
        [each.event for each in sent],
        held,
        expired,
        newest_of(sent, window),
        tuple(sorted(left_out)),
        frozenset(each.event.id for each in sent if each.stored_at <= until),
    )


def count_expired(expired: Sequence[StoredEvent], *, context: DeliveryContext) -> int:
    """Remove expired events from their schedule; return how many this call removed (rule 21)."""
    return sum(map(context.editing.deferred_events.expire, expired))


def without_held(run: Run, due: Due, *, excluded: int, context: DeliveryContext) -> Delivery | None:
    """Return what becomes of a run with held events; None if its other events are sent.

    An immediate run waits as a whole, because no later run would include the held events. A
    digest of held events only is skipped: it closes no window, so the next digest has them all.
    """
    if not due.held:
        return None
    if run.key.is_immediate:
        soonest, latest = _BETWEEN
        pause = soonest + (latest - soonest) * context.random()
        return Delivery(run, context.clock() + pause, WaitingFor.SENDING_RESUMED, excluded=excluded)
    if due.sent:
        return None
    return Delivery(apply(run, Skip(Reason.CATEGORY_HELD), runs=context.runs), excluded=excluded)
