"""What is not sent because its category is on hold, and waits: none of it is lost."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from gazette.domain.delivery.run import Reason, Run, may_have_gone_until, name_of, newest_of
from gazette.domain.delivery.signals import Skip
from gazette.domain.model import Event, Placed, Window
from gazette.steps.delivery.predecessors import Preceding
from gazette.steps.delivery.types import Delivery, DeliveryContext, WaitingFor
from gazette.steps.runs import apply

_BETWEEN = (timedelta(seconds=600), timedelta(seconds=900))
"""How long an immediate run waits until it looks again: as long as SQS hides a message at most."""


@dataclass(frozen=True, slots=True)
class Due:
    """The events of a window: what is sent, what is held back because of a hold, and what has
    expired. `newest`, `left_out`: as in Run; `may_have_gone`: the ids of those in
    `sent` that may have gone out already.
    """

    sent: Sequence[Event]
    held: Sequence[Event] = ()
    expired: Sequence[Placed] = ()
    newest: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    may_have_gone: frozenset[str] = frozenset()


def events_due(run: Run, older: Preceding, window: Window, *, by: DeliveryContext) -> Due:
    """Read the window of a run (rule 19).

    What may have gone out already is not held back: it would come once more when evidence shows
    that it has. It stays with its run, or with the one that carries that. What lies in the window
    of such a run and was not in its email is left to whoever wrote it late, and stamps it anew
    (rule 14). If this attempt showed it, nobody could tell by a delivery event in which of the two
    it was.
    """
    on_hold, now = by.held_categories(), by.clock()
    unknown = [
        each for each in (run, *(carried for carried, _ in older.carried)) if each.may_have_gone
    ]
    until = may_have_gone_until(unknown)
    sent: list[Placed] = []
    held: list[Event] = []
    expired: list[Placed] = []
    left_out: list[str] = []
    for placed in by.events.read(run.key.user_id, run.key.schedule, window):
        if placed.has_expired(now):
            expired.append(placed)
        elif any(each.has_passed_over(placed.event.id, placed.stored_at) for each in unknown):
            left_out.append(name_of(placed.event.id))
        elif placed.event.category in on_hold and placed.stored_at > until:
            held.append(placed.event)
        else:
            sent.append(placed)
    return Due(
        [each.event for each in sent],
        held,
        expired,
        newest_of(sent, window),
        tuple(sorted(left_out)),
        frozenset(each.event.id for each in sent if each.stored_at <= until),
    )


def count_expired(expired: Sequence[Placed], *, by: DeliveryContext) -> int:
    """Take what has expired out of its schedule; how many of them nobody else has (rule 21)."""
    return sum(map(by.desk.deferred_events.expire, expired))


def without_held(run: Run, due: Due, *, excluded: int, by: DeliveryContext) -> Delivery | None:
    """What becomes of a run with events that are held back; None where the others are sent.

    An immediate run waits as a whole, because no next one would take along what it leaves. A
    digest with nothing else ends: it closes no window, so everything comes with the next.
    """
    if not due.held:
        return None
    if run.key.is_immediate:
        soonest, latest = _BETWEEN
        pause = soonest + (latest - soonest) * by.random()
        return Delivery(run, by.clock() + pause, WaitingFor.SENDING_RESUMED, excluded=excluded)
    if due.sent:
        return None
    return Delivery(apply(run, Skip(Reason.CATEGORY_HELD), runs=by.runs), excluded=excluded)
