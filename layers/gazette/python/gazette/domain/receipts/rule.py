"""The rule that determines what became of an event, from its row and its schedule's runs. Pure.

The rule uses the same functions as delivery. `Run.has_shown` states whether an email contains an
event, and an event that may have been sent never leaves its schedule with a storage time that
delivery could confuse with a different event's (protocol.md, rule 9).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from gazette.domain.delivery.run import (
    CERTAINTIES,
    CLOCKS,
    LONGEST_INVOCATION,
    STILL_WRITTEN,
    Certainty,
    Run,
    Status,
    is_given_up,
)
from gazette.domain.model import Retracted, Schedule, StoredEvent
from gazette.domain.receipts.receipt import Because, FoundEvent, State
from gazette.domain.scheduling.kinds import ScheduleKind, Unsent, kind_of
from gazette.domain.subscribers.following import category_frequency
from gazette.domain.subscribers.frequency import Frequencies, Frequency
from gazette.domain.subscribers.subscriber import Reader, Subscriber, was_erased


@dataclass(frozen=True, slots=True)
class Standing:
    """The state of an event and its emails, without the facts that require further reads."""

    state: State
    at: datetime | None = None
    emails: Sequence[tuple[Run, Certainty]] = ()
    """The emails that contain the event or may contain it, oldest first."""

    open_run: Run | None = None
    """The run that is expected to send a waiting event; None if no run has been started."""

    because: Because | None = None


def place_of(found: FoundEvent) -> tuple[str, datetime] | None:
    """Return the schedule and the storage time of an event whose runs decide about the event.

    Return None if no run needs to be read.
    """
    row = found.row
    if isinstance(row, StoredEvent):
        schedule, stored_at = row.schedule, row.stored_at
    elif found.was_stored_at:
        schedule, stored_at = found.was_schedule, found.was_stored_at
    else:
        return None
    return None if kind_of(schedule) is ScheduleKind.UNSENT else (schedule, stored_at)


def standing_of(found: FoundEvent, chain: Sequence[Run], now: datetime) -> Standing:
    """Return what became of an event.

    `chain` contains the runs of the place of the event (`place_of`), newest first. It must reach
    back to the last run that was sent with a window that ends before the event's storage time
    (`Runs.chain`).
    """
    row = found.row
    if isinstance(row, Retracted):
        return _retracted(row.id, found, chain)
    if kind_of(row.schedule) is ScheduleKind.UNSENT:
        return _unsent(row, now)
    emails = [
        (run, _certainty_of(run))
        for run in reversed(chain)
        if run.has_shown(row.event.id, row.stored_at)
    ]
    if state := _emailed(row, emails, chain):
        return Standing(state, _time_of(emails), emails)
    if row.is_over(now):
        return _over(row, now)
    return _waiting(row, chain)


def _emailed(
    row: StoredEvent, emails: Sequence[tuple[Run, Certainty]], chain: Sequence[Run]
) -> State | None:
    """Return the state of an event that an email contains or may contain; None if no email does."""
    certainties = {certainty for _, certainty in emails}
    if certainties & {Certainty.ACCEPTED, Certainty.EVIDENCE}:
        return State.EMAILED
    if Certainty.ASSUMED in certainties:
        return State.ASSUMED_EMAILED
    if is_given_up(row.stored_at, chain):
        return State.GIVEN_UP
    return State.MAY_HAVE_BEEN_EMAILED if certainties else None


def _certainty_of(run: Run) -> Certainty:
    """Return the certainty of a run that has taken an event."""
    if run.status is not Status.SENT:
        return Certainty.UNKNOWN
    return CERTAINTIES.get(run.reason, Certainty.ASSUMED)


def _time_of(emails: Sequence[tuple[Run, Certainty]]) -> datetime | None:
    """Return the time of the first sent email, or else the time of the last claim."""
    sent = [run.sent_at for run, _ in emails if run.sent_at]
    claimed = [run.claimed_at for run, _ in emails if run.claimed_at]
    return min(sent) if sent else max(claimed, default=None)


def _unsent(row: StoredEvent, now: datetime) -> Standing:
    match row.schedule:
        case Unsent.GIVEN_UP:
            return Standing(State.GIVEN_UP, row.stored_at, because=Because.EMAILS_UNKNOWN)
        case Unsent.EXCLUDED if row.withdrawn_at:
            return Standing(State.WITHDRAWN, row.withdrawn_at)
        case Unsent.EXCLUDED if row.seen_at:
            return Standing(State.SEEN, row.seen_at)
        case Unsent.EXCLUDED:
            return Standing(State.EXCLUDED, row.stored_at)
        case Unsent.EXPIRED:
            return _over(row, now)
        case _:
            is_over = row.is_over(now)
            return _over(row, now) if is_over else Standing(State.WAITS_FOR_PROFILE, row.stored_at)


def _over(row: StoredEvent, now: datetime) -> Standing:
    if row.event.has_lapsed(now):
        return Standing(State.LAPSED, row.event.expires_at)
    return Standing(State.EXPIRED, row.lasts_until)


def _waiting(row: StoredEvent, chain: Sequence[Run]) -> Standing:
    """Return the standing of an event that waits. `chain` shows whether its email has been started.

    A run with a fixed window does not send events that were stored after the end of the window.
    """
    coming = (
        run
        for run in reversed(chain)
        if run.is_open and (run.window is None or row.stored_at <= run.window.until)
    )
    open_run = next(coming, None)
    state = State.COLLECTING if open_run and row.is_immediate else State.WAITING
    return Standing(state, row.stored_at, open_run=open_run)


def _retracted(event_id: str, found: FoundEvent, chain: Sequence[Run]) -> Standing:
    because = None
    if not found.was_schedule:
        because = Because.WAS_NOT_STORED
    elif found.was_stored_at is None or found.was_schedule == Unsent.GIVEN_UP:
        because = Because.EMAILS_UNKNOWN
    emails = [
        (run, certainty)
        for run in reversed(chain)
        if (certainty := _certainty_of_retracted(run, event_id, found))
    ]
    return Standing(State.RETRACTED, found.retracted_at, emails, because=because)


def _certainty_of_retracted(run: Run, event_id: str, found: FoundEvent) -> Certainty | None:
    """Return the certainty that a run's email contains an event that was retracted.

    A claim that follows a retraction does not send the event, although the run's window contains
    its storage time. An earlier attempt with an unknown outcome may have sent the event, because a
    run's row describes only the email of its last attempt.
    """
    if found.was_stored_at is None or not run.has_taken(found.was_stored_at):
        return None
    # If the event shares its row, the email may have shown another event of the happening instead.
    is_in = _last_attempt_showed(run, event_id, found.was_stored_at, found)
    if is_in:
        return Certainty.UNKNOWN if found.shares_row else _certainty_of(run)
    is_unclear = is_in is None or bool(run.uncertain - {run.attempt})
    return Certainty.UNKNOWN if is_unclear else None


def _last_attempt_showed(
    run: Run, event_id: str, stored_at: datetime, found: FoundEvent
) -> bool | None:
    """Return True if the run's last attempt contains a retracted event; None if this is unknown.

    The row names recent events, which were read. For other events, the time of the claim decides.
    The claim follows the read of the window, so a claim before the retraction contains the event.
    A run that was created after the retraction does not contain the event, and neither does a claim
    that follows so late that its invocation began after the retraction. If the row of a happening
    got its place after the retraction, no email of the place contains the retracted event.
    """
    retracted_at = found.retracted_at
    if not run.has_shown(event_id, stored_at):
        return False
    if found.shares_row and retracted_at and retracted_at + CLOCKS <= stored_at:
        return False
    if run.names(stored_at):
        return True
    if retracted_at is None or run.claimed_at is None:
        return None
    if run.claimed_at + CLOCKS <= retracted_at:
        return True
    written = retracted_at + STILL_WRITTEN + CLOCKS
    is_later = run.reads_writes_of(retracted_at)
    return False if is_later or run.claimed_at >= written + LONGEST_INVOCATION else None


def next_due(standing: Standing, schedule: Schedule | None, now: datetime) -> datetime | None:
    """Return the time at which the next email that can include a waiting event is due.

    Return None if no email is scheduled. `schedule` is the row of the event's digest.
    """
    if standing.open_run:
        return standing.open_run.due_at
    if schedule is None or schedule.is_withdrawn:
        return None
    return schedule.due_after(now)


def why_not_scheduled(row: StoredEvent, schedule: Schedule | None) -> Because:
    """Return the reason why no email is scheduled for a waiting event."""
    if row.is_immediate:
        return Because.NO_EMAIL_STARTED
    return Because.NOT_STARTED if schedule is None else Because.READER_GETS_NO_EMAIL


def why_not_stored(
    reader: Reader,
    *,
    category: str,
    occurred_at: datetime | None,
    defaults: Frequencies,
    critical: Collection[str],
) -> Because:
    """Return the reason why an event is not stored, as far as the reader's row shows it.

    `category` and `occurred_at` describe the event; they may be empty and None. A critical category
    cannot be muted.
    """
    if reader is not None and not isinstance(reader, Subscriber):
        return Because.ERASED
    if occurred_at is None:
        return Because.NEVER_OR_GONE
    if was_erased(reader, occurred_at):
        return Because.ERASED
    if isinstance(reader, Subscriber) and category and category not in critical:
        often = category_frequency(category, occurred_at, reader.choices, defaults)
        if often is Frequency.NEVER:
            return Because.MUTED
    return Because.NEVER_OR_GONE
