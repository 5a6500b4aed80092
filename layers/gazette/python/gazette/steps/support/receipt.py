"""Answer what became of an event, without a write per event.

Makes no writes. The result contains no addresses and no content of events.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from gazette.domain.delivery.run import Certainty, Run
from gazette.domain.identity import latest_run
from gazette.domain.model import StoredEvent
from gazette.domain.muting.muted import is_muted
from gazette.domain.ports.clock import Clock
from gazette.domain.ports.control import CurrentWithdrawals, HeldCategories
from gazette.domain.ports.ledgers import Runs, RunSequences
from gazette.domain.ports.receipts import EmailOutcomes, EventTraces
from gazette.domain.ports.stores import Follows, Subscribers
from gazette.domain.receipts.bodies import at_pointer, of_body
from gazette.domain.receipts.receipt import (
    Because,
    FoundEvent,
    Receipt,
    ReceiptEmail,
    State,
)
from gazette.domain.receipts.rule import (
    Standing,
    next_due,
    place_of,
    standing_of,
    why_not_scheduled,
    why_not_stored,
)
from gazette.domain.subscribers.frequency import Frequencies
from gazette.domain.subscribers.subscriber import Reader, Subscriber
from gazette.domain.withdrawing.withdrawn import Withdrawn
from gazette.steps.conflicts import ATTEMPTS, kept_changing
from gazette.steps.support.late import is_late, may_be_late

_JUST_NOW = timedelta(minutes=2)
"""The age of a claim at which the event may have moved between the reads of event and runs. It
allows for clocks that differ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptContext:
    """The dependencies of receipts."""

    events: EventTraces
    runs: Runs
    engagements: EmailOutcomes
    schedules: RunSequences
    subscribers: Subscribers
    follows: Follows
    held_categories: HeldCategories
    withdrawals: CurrentWithdrawals
    clock: Clock
    retention: timedelta
    """The minimum retention of events."""

    defaults: Frequencies
    critical: Collection[str]
    sunset: timedelta | None
    """The period of inactivity after which a reader becomes dormant; None if there is none."""


def receipt(
    user_id: str,
    event_id: str,
    *,
    category: str = "",
    occurred_at: datetime | None = None,
    context: ReceiptContext,
) -> Receipt:
    """Return what became of an event of a reader.

    Costs two to five calls: the event, the runs of its schedule since the event was stored (one
    call for each 16 runs), and either the delivery events of its emails, or the reader, the
    schedule and the category holds. A late event, or one over
    the limit of immediate emails, that reached the reader through a follow costs one more, for the
    follow. An event that is not stored costs two calls, for the event and the reader. An event that
    is part of an activity costs one more, for the row that it shares.

    `category` and `occurred_at` describe an event that is not stored. With both, a mute is
    recognised as the reason. Raises UnreadableRow if a row cannot be read, and NotYet if the event
    kept changing.
    """
    now = context.clock()
    known_since = now - context.retention
    event, chain = _read(user_id, event_id, now, context)
    if event is None:
        return _not_stored(user_id, event_id, known_since, category, occurred_at, context)
    standing = standing_of(event, chain, now)
    place = place_of(event)
    answer = Receipt(
        user_id,
        event_id,
        standing.state,
        known_since,
        at=standing.at,
        emails=_emails(standing.emails, context.engagements),
        schedule=place[0] if place else "",
        category=event.event.category if event.event else "",
        because=standing.because,
        why=event.why if standing.state in {State.EXCLUDED, State.GIVEN_UP} else "",
        shown_as=event.shown_as,
    )
    if isinstance(event.row, StoredEvent) and answer.state in {State.WAITING, State.COLLECTING}:
        return _of_waiting(answer, event.row, standing, now, context)
    return answer


def chain_of(user_id: str, event: FoundEvent, *, runs: Runs) -> Sequence[Run]:
    """Return the runs that decide about an event, newest first; empty if there are none."""
    place = place_of(event)
    if place is None:
        return ()
    schedule, stored_at = place
    return runs.chain(latest_run(user_id, schedule), holding=stored_at)


def _read(
    user_id: str, event_id: str, now: datetime, context: ReceiptContext
) -> tuple[FoundEvent | None, Sequence[Run]]:
    """Read an event, and then the runs of its schedule.

    If a run was claimed just now, the event may have left the schedule before the claim and after
    it was read here. It is then read again, until it has not changed.
    """
    event = _found(user_id, event_id, context)
    for _ in ATTEMPTS:
        if event is None:
            return None, ()
        chain = chain_of(user_id, event, runs=context.runs)
        if not any(run.claimed_at and run.claimed_at + _JUST_NOW >= now for run in chain):
            return event, chain
        again = _found(user_id, event_id, context)
        if again == event:
            return event, chain
        event = again
    raise kept_changing(f"Event {event_id!r}")


def _found(user_id: str, event_id: str, context: ReceiptContext) -> FoundEvent | None:
    """Read an event, or its part of the row that it shares."""
    at_id = context.events.find(user_id, event_id)
    if at_id is None or isinstance(at_id.row, StoredEvent) or not at_id.row.part_of:
        return of_body(at_id) if at_id else None
    return at_pointer(at_id, context.events.find(user_id, at_id.row.part_of))


def _emails(
    emails: Sequence[tuple[Run, Certainty]], engagements: EmailOutcomes
) -> tuple[ReceiptEmail, ...]:
    """Return the emails with their delivery events. Makes no call if there is no email."""
    reported = engagements.of_runs([run for run, _ in emails]) if emails else {}
    return tuple(
        ReceiptEmail(run, certainty, reported[run.key].first if run.key in reported else {})
        for run, certainty in emails
    )


def _of_waiting(
    answer: Receipt, row: StoredEvent, standing: Standing, now: datetime, context: ReceiptContext
) -> Receipt:
    """Return the receipt of a waiting event with the due time of its next email.

    The schedule is not read if the email has been started, or if the event is withdrawn or muted.
    """
    if Withdrawn(context.withdrawals(), now).at(row.event):
        return replace(answer, because=Because.WITHDRAWN)
    reader = context.subscribers.get(row.event.user_id)
    if isinstance(reader, Subscriber) and is_muted(row.event, reader.mutes, context.critical):
        return replace(answer, because=Because.ENTITY_MUTED)
    schedule = None
    if standing.open_run is None and not row.is_immediate:
        schedule = context.schedules.get(row.event.user_id, row.schedule)
    due = next_due(standing, schedule, now)
    return replace(
        answer,
        next_digest=due,
        is_held=row.event.category in context.held_categories(),
        because=_why_it_waits(row, reader, now, context)
        if due
        else why_not_scheduled(row, schedule),
    )


def _why_it_waits(
    row: StoredEvent, reader: Reader, now: datetime, context: ReceiptContext
) -> Because | None:
    """Return the reason why an event waits for a digest, if its frequency does not state it."""
    event = row.event
    if not isinstance(reader, Subscriber) or not may_be_late(row, now, context.critical):
        return None
    keys = [(entity, event.user_id) for entity in event.via]
    stored = context.follows.get_many(keys) if keys else {}
    follows = tuple(map(stored.get, keys))
    late = is_late(row, reader, follows, defaults=context.defaults, sunset=context.sunset)
    if not late:
        return None
    return Because.OVER_LIMIT if row.is_capped else Because.LATE


def _not_stored(
    user_id: str,
    event_id: str,
    known_since: datetime,
    category: str,
    occurred_at: datetime | None,
    context: ReceiptContext,
) -> Receipt:
    reader = context.subscribers.get(user_id)
    because = why_not_stored(
        reader,
        category=category,
        occurred_at=occurred_at,
        defaults=context.defaults,
        critical=context.critical,
    )
    at = reader.erased_at if reader and because is Because.ERASED else None
    return Receipt(user_id, event_id, State.NOT_STORED, known_since, at=at, because=because)
