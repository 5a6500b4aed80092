"""Category holds: hold back the events of a held category until it is released."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from gazette.domain.delivery.run import Run, name_of, newest_of, possibly_sent_until
from gazette.domain.model import Event, StoredEvent, Window
from gazette.steps.delivery.context import PrepareContext
from gazette.steps.delivery.predecessors import Predecessors

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


def events_due(run: Run, older: Predecessors, window: Window, *, context: PrepareContext) -> Due:
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


def pause_on_hold(random: float) -> timedelta:
    """Return how long an immediate run waits until it looks at the holds again."""
    soonest, latest = _BETWEEN
    return soonest + (latest - soonest) * random
