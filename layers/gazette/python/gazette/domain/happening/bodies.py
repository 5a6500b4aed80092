"""The bodies of a happening, and the one that an email shows. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from gazette.domain.model import DAILY, Event, StoredEvent
from gazette.domain.scheduling.calendar import Recurrence, next_occurrence
from gazette.domain.scheduling.kinds import ScheduleKind, is_critical, is_urgent, kind_of

Bodies = tuple[Event, ...]
"""The bodies of a happening, in the order of their own ids. Each own id occurs once."""


class Wanted(NamedTuple):
    """A body that its reader wants, with the schedule that would send it if it were alone."""

    event: Event
    schedule: str
    recurrence: Recurrence | None = None


class LeftOut(NamedTuple):
    """A body that no email may show, with the reason."""

    event: Event
    seen_at: datetime | None = None
    """The time at which the reader saw the event's entity."""

    withdrawn_at: datetime | None = None
    """The time of the withdrawal that applies to the event."""

    why: str = ""
    """The error of the templates that cannot show the event."""


@dataclass(frozen=True, slots=True)
class Settlement:
    """The content and the schedule of the row of a happening."""

    shown: Event
    """The body that an email shows."""

    others: Bodies
    """The other bodies, which the row also stores."""

    schedule: str
    recurrence: Recurrence | None = None

    is_capped: bool = False
    """True if the row waits for a digest because of the limit of immediate emails (rule 28)."""


def alone(event: Event) -> Event:
    """Return an event that is part of an activity as an event of its own."""
    return replace(event, id=event.own_id, own_id="")


def with_body(bodies: Bodies, event: Event) -> Bodies:
    """Return the bodies with `event`, unless the same body is there and `event` is not newer."""
    same = next((each for each in bodies if each.own_id == event.own_id), None)
    if same and not event.amends(same):
        return bodies
    return _sorted((*without_body(bodies, event.own_id), event))


def without_body(bodies: Bodies, own_id: str) -> Bodies:
    """Return the bodies without the body that has this own id."""
    return tuple(each for each in bodies if each.own_id != own_id)


def settle(candidates: Sequence[Wanted], *, is_capped: bool = False) -> Settlement | None:
    """Return what the row of a happening becomes, or None if its reader wants no body.

    The row shows the strongest body, and waits where the soonest one would. The result does not
    depend on the order of the bodies, nor on the time. `is_capped` is the mark of the row, which
    the schedules of the candidates take into account.
    """
    if not candidates:
        return None
    at = max(each.event.counts_at for each in candidates)
    by_strength = sorted(candidates, key=lambda each: _weakness(each, at))
    strongest = by_strength[0].event
    soonest = min(by_strength, key=lambda each: _lateness(each, at))
    others = without_body(_sorted(each.event for each in candidates), strongest.own_id)
    return Settlement(strongest, others, soonest.schedule, soonest.recurrence, is_capped)


def content_of(row: StoredEvent) -> Settlement:
    """Return the settlement that a row already has."""
    return Settlement(row.event, row.others, row.schedule, is_capped=row.is_capped)


def as_emailed(settlement: Settlement, row: StoredEvent, *, is_retraction: bool) -> Settlement:
    """Return the settlement of a row that was sent, which shows the same body as its email.

    Unwanted bodies remain. Another body is shown if the shown body was retracted.
    """
    bodies = (settlement.shown, *settlement.others)
    ids = {body.own_id for body in bodies}
    if not is_retraction:
        bodies += tuple(body for body in row.bodies if body.own_id not in ids)
    same = next((body for body in bodies if body.own_id == row.event.own_id), settlement.shown)
    return replace(settlement, shown=same, others=without_body(_sorted(bodies), same.own_id))


def showing_another(row: StoredEvent, rest: Bodies, settlement: Settlement | None) -> Settlement:
    """Return the settlement of a row that may have been sent, and whose shown body no email may
    show any more.

    The row shows the strongest of the `rest`, and keeps all bodies, because an email may contain
    them. `settlement` is that of the rest, or None if its reader does not want it any more.
    """
    body = settlement.shown if settlement else rest[0]
    return replace(content_of(row), shown=body, others=without_body(row.bodies, body.own_id))


def _sorted(bodies: Iterable[Event]) -> Bodies:
    return tuple(sorted(bodies, key=lambda each: each.own_id))


def _weakness(body: Wanted, at: datetime) -> tuple[object, ...]:
    """Return the sort key by which the strongest body is first.

    A critical body is always shown. A body that lapses is shown only if no other is wanted, because
    the row lapses with the body that it shows. A body that is addressed to the reader precedes one
    that came through a follow.
    """
    is_followed = bool(body.event.via)
    lapses = body.event.expires_at is not None
    late = _lateness(body, at)
    return not is_critical(body.schedule), lapses, is_followed, late, body.event.own_id


def _lateness(body: Wanted, at: datetime) -> tuple[int, datetime]:
    """Return the sort key by which the schedule that sends soonest is first.

    Weekly and custom digests are compared by their first occurrence after the happening, so that
    the result does not change while the row waits.
    """
    schedule, recurrence = body.schedule, body.recurrence
    if is_critical(schedule):
        return 0, at
    if is_urgent(schedule):
        return 1, at
    if kind_of(schedule) is ScheduleKind.IMMEDIATE:
        return 2, at
    if schedule == DAILY:
        return 3, at
    return (5, at) if recurrence is None else (4, next_occurrence(recurrence, after=at))
