"""Route events: store each event under the schedule that its reader wants, or drop it.

The result depends only on the stored rows, not on the order of arrival. Events, choices and follows
may arrive in any order, because a process that writes one of them reads the others afterwards. The
only exception is the limit of immediate emails, which the first events use up (rule 28).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from types import MappingProxyType

from gazette.domain.happening.bodies import alone
from gazette.domain.model import Event, Retracted, StoredEvent
from gazette.domain.outcome import Outcome
from gazette.domain.ports.clock import TimeLeft
from gazette.domain.scheduling.kinds import ScheduleKind, is_critical, kind_of
from gazette.domain.scheduling.lifetime import longer_life
from gazette.domain.stored import is_of_one_row
from gazette.domain.subscribers.following import Follow
from gazette.domain.subscribers.frequency import DIGESTS
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.steps.conflicts import ATTEMPTS, kept_changing
from gazette.steps.context import RoutingContext
from gazette.steps.routing.follows import forget_follow, forgotten_until
from gazette.steps.routing.happening import (
    is_of_happening,
    join,
    part_of,
    stands_alone,
)
from gazette.steps.routing.immediate import start_immediates
from gazette.steps.routing.late_writes import restamp_if_passed_over
from gazette.steps.routing.limit import Tokens, target_by_mark
from gazette.steps.routing.move import raise_epochs_under, stays_unsent, take_back
from gazette.steps.routing.target import RoutingInputs, Target, routing_inputs, target_of
from gazette.steps.subscribers.schedules import arm
from gazette.steps.time_budget import LONGEST, PIECE, require_time, unlimited

_AT_ONCE = 100

Routed = list[Outcome] | Exception
"""The outcomes of the events in a list, or the error that requires a retry."""


def route(
    events: Iterable[Event],
    *,
    context: RoutingContext,
    known: Mapping[tuple[str, str], Follow] = MappingProxyType({}),
    tokens: Tokens | None = None,
) -> list[Outcome]:
    """Route events, whether they are new, known or amended. Safe to repeat.

    Profile and follows are read before and after the write, so that a concurrent change has either
    seen the event or is seen here (rule 15). `known` contains follows that were just read, by
    (entity key, user id), and `tokens` those that the caller has taken for the events. Raises
    NotYet if a row keeps changing. Raises UnreadableRow if a row of some reader cannot be read,
    after routing the events of all other readers.
    """
    (routed,) = route_lists([list(events)], context=context, known=known, tokens=tokens)
    if isinstance(routed, Exception):
        raise routed
    return routed


def route_lists(
    lists: Sequence[Sequence[Event]],
    *,
    context: RoutingContext,
    known: Mapping[tuple[str, str], Follow] = MappingProxyType({}),
    time_left: TimeLeft = unlimited,
    tokens: Tokens | None = None,
) -> list[Routed]:
    """Route the events of several lists in order, like `route`. Each list has its own result.

    Groups of a hundred events from any lists share the reads and the check of the schedules. If a
    list has an error, some of its events may already have been routed; events of other lists are
    not affected. A list that cannot begin or end within `time_left` gets NotYet.
    """
    states = [_List() for _ in lists]
    entries = [
        _Entry(event, state)
        for state, events in zip(states, lists, strict=True)
        for event in events
    ]
    for start in range(0, len(entries), _AT_ONCE):
        some = entries[start : start + _AT_ONCE]
        _route_some(some, context, known, time_left, tokens or Tokens(context))
    return [
        state.error or [entry.outcome for entry in entries if entry.list is state]
        for state in states
    ]


@dataclass(slots=True, eq=False)
class _List:
    """The progress of one list of events."""

    is_begun: bool = False
    """True if some events of the list may already have been routed."""

    error: Exception | None = None
    """The error that requires a retry."""

    @property
    def goes_on(self) -> bool:
        """True if no error prevents routing the remaining events of the list.

        An error in a single row does not affect the remaining events.
        """
        return self.error is None or is_of_one_row(self.error)


@dataclass(slots=True, eq=False)
class _Entry:
    """An event of a list, and its outcome so far."""

    event: Event
    list: _List
    outcome: Outcome = Outcome.DUPLICATE


def _route_some(
    entries: Iterable[_Entry],
    context: RoutingContext,
    known: Mapping[tuple[str, str], Follow],
    time_left: TimeLeft,
    tokens: Tokens,
) -> None:
    """Route these events. If a routing input changes in between, route them again."""
    all_inputs = _read(entries, context, known)
    for _ in ATTEMPTS:
        waiting = _place(all_inputs, context, time_left, tokens)
        _arm(waiting, all_inputs, context)
        _start(waiting, context)
        again = _read(all_inputs, context)
        all_inputs = {
            entry: inputs
            for entry, inputs in again.items()
            if not all_inputs[entry].decides_like(inputs)
        }
        if not all_inputs:
            return
    for entry in all_inputs:
        if entry.list.goes_on:
            entry.list.error = kept_changing("The choices or follows of some reader")


def _read(
    entries: Iterable[_Entry],
    context: RoutingContext,
    known: Mapping[tuple[str, str], Follow] = MappingProxyType({}),
) -> dict[_Entry, RoutingInputs]:
    all_inputs: dict[_Entry, RoutingInputs] = {}

    def read(some: Sequence[_Entry]) -> None:
        inputs = routing_inputs([entry.event for entry in some], context, known)
        all_inputs.update(zip(some, inputs, strict=True))

    _at_once(entries, read)
    return all_inputs


def _place(
    all_inputs: Mapping[_Entry, RoutingInputs],
    context: RoutingContext,
    time_left: TimeLeft,
    tokens: Tokens,
) -> dict[_Entry, StoredEvent]:
    """Store each event under its target. Return the events that are now waiting."""
    waiting: dict[_Entry, StoredEvent] = {}

    def place(some: Sequence[_Entry]) -> None:
        (entry,) = some
        require_time(time_left, least=PIECE if entry.list.is_begun else LONGEST)
        entry.list.is_begun = True
        outcome, placed = _route_one(entry.event, all_inputs[entry], tokens, context)
        if placed:
            waiting[entry] = placed
        if outcome is not Outcome.DUPLICATE:
            entry.outcome = outcome

    for entry in all_inputs:
        _at_once([entry], place)
    return waiting


def _arm(
    waiting: Mapping[_Entry, StoredEvent],
    all_inputs: Mapping[_Entry, RoutingInputs],
    context: RoutingContext,
) -> None:
    """Arm the digest schedules under which the events wait."""
    readers = {
        entry: reader
        for entry, stored in waiting.items()
        if stored.schedule in DIGESTS and isinstance(reader := all_inputs[entry].reader, Subscriber)
    }

    def arm_some(some: Sequence[_Entry]) -> None:
        waits_in = {
            (entry.event.user_id, waiting[entry].schedule): readers[entry] for entry in some
        }
        arm(waits_in, context=context)

    _at_once(readers, arm_some)


def _start(waiting: Mapping[_Entry, StoredEvent], context: RoutingContext) -> None:
    """Start the immediate runs of the events."""

    def start_some(some: Sequence[_Entry]) -> None:
        start_immediates((waiting[entry] for entry in some), context=context)

    _at_once([entry for entry, stored in waiting.items() if stored.is_immediate], start_some)


def _at_once(entries: Iterable[_Entry], act: Callable[[Sequence[_Entry]], None]) -> None:
    """Process the events of all lists together. Record the errors in the lists.

    If that fails, process the events of each list separately. The error of a joint read does not
    show which row is unreadable, so the events of one list are then processed one by one.
    """
    remaining = [entry for entry in entries if entry.list.goes_on]
    if not remaining:
        return
    try:
        act(remaining)
    except Exception as err:  # noqa: BLE001 -- the error affects only one list
        parts = [list(some) for _, some in groupby(remaining, key=lambda entry: entry.list)]
        if len(parts) == 1 and is_of_one_row(err):
            parts = [[entry] for entry in remaining]
        if len(parts) == 1:
            remaining[0].list.error = err
            return
        for part in parts:
            _at_once(part, act)


def _route_one(
    event: Event, inputs: RoutingInputs, tokens: Tokens, context: RoutingContext
) -> tuple[Outcome, StoredEvent | None]:
    """Route one event. An event that is older than its stored version has no effect.

    Also returns the event as it now waits, or None if it does not wait.
    """
    if event.own_id:
        if not stands_alone(event, context) and (joined := _join(event, tokens)):
            return joined
        event = alone(event)
    target = target_of(event, inputs, context)
    if isinstance(target, Outcome):
        _withdraw(event, tokens, is_erased=target is Outcome.ERASED)
        if target is Outcome.ERASED:
            _forget_follows(event, inputs, context)
        return target, None
    is_limited = context.immediate_limit is not None
    first = tokens.target_of_new(event, target, inputs.reader) if is_limited else target
    stored, existing = _store(event, first, context)
    if not stored and (body := _body_of(event, existing)) and (joined := _join(body, tokens)):
        return joined
    for _ in ATTEMPTS:
        if not isinstance(existing, StoredEvent) or not event.amends(existing.event):
            break
        current = _out_of_what_is_critical(existing, target, inputs, tokens)
        if current is None:
            break
        existing = current
        if context.events.amend(existing, event):
            raise_epochs_under(existing.schedule, event.user_id, context=context)
            current = _restamp_if_late(replace(existing, event=event), context=context)
            return Outcome.AMENDED, _place_stored(current, target, inputs, tokens)
        _, existing = _store(event, first, context)
    if isinstance(existing, Retracted):
        return Outcome.RETRACTED, None
    if existing.event == event and event.amended_at and not stored:
        raise_epochs_under(existing.schedule, event.user_id, context=context)
    current = _restamp_if_late(existing, context=context)
    outcome = Outcome.STORED if stored else Outcome.DUPLICATE
    if current and current.event != event:
        return outcome, None
    return outcome, _place_stored(current, target, inputs, tokens)


def _store(
    event: Event, target: Target, context: RoutingContext
) -> tuple[bool, StoredEvent | Retracted]:
    return context.events.store(
        event, target.schedule, target.recurrence, is_capped=target.is_capped
    )


def _join(event: Event, tokens: Tokens) -> tuple[Outcome, StoredEvent | None] | None:
    """Store an event as a body of a happening, or return None if it must be routed alone."""
    joined, context = join(event, tokens), tokens.context
    if joined is None:
        return None
    outcome, stored = joined
    if stored is None:
        return joined
    current = _restamp_if_late(stored, context=context)
    is_unsent = current is None or stays_unsent(current, context)
    return outcome, None if is_unsent else current


def _body_of(event: Event, existing: StoredEvent | Retracted) -> Event | None:
    """Return the event as a body of the happening whose row or pointer is at its id, if any."""
    is_pointer = not isinstance(existing, Retracted) or existing.is_pointer
    if existing.part_of and is_pointer:
        return part_of(event, existing)
    return event if is_of_happening(existing) else None


def _withdraw(event: Event, tokens: Tokens, *, is_erased: bool) -> None:
    """Remove the stored row of an event that its reader does not want, unless the row is newer.

    An event that was or may have been sent stays with its run, which may be sent again. The event
    is then amended, unless non-critical content would enter an email that unsubscribing does not
    stop. No row of an erased reader is written.
    """
    context = tokens.context
    current = context.events.get(event.user_id, event.id)
    if current and (body := _body_of(event, current)):
        _join(body, tokens)
        return
    for _ in ATTEMPTS:
        if not isinstance(current, StoredEvent):
            return
        is_amended = event.amends(current.event)
        if current.event != event and not is_amended:
            return
        if take_back(current, context=context) or is_erased:
            return
        if is_critical(current.schedule) and event.category not in context.critical:
            return
        if not is_amended or context.events.amend(current, event):
            # The process that amended the event may have failed before it raised the epochs.
            if event.amended_at:
                raise_epochs_under(current.schedule, event.user_id, context=context)
            return
        current = context.events.get(event.user_id, event.id)
    raise kept_changing(f"Event {event.id} of {event.user_id}")


def _out_of_what_is_critical(
    found: StoredEvent, target: Target, inputs: RoutingInputs, tokens: Tokens
) -> StoredEvent | None:
    """Move a critical event before an amendment makes it non-critical.

    If the event were amended first, it would be sent to a reader who unsubscribes before it is
    moved. Returns the event as stored now, or None if it was removed. Also returns None if the
    event was or may have been sent as critical, so that it stays.
    """
    if not is_critical(found.schedule) or is_critical(target.schedule):
        return found
    moved = tokens.place(found, target, inputs.reader)
    return moved if moved and not is_critical(moved.schedule) else None


def _restamp_if_late(stored: StoredEvent, *, context: RoutingContext) -> StoredEvent | None:
    """Give the event a new storage time if it was written late and a window missed it (rule 14).

    If the write took less than the write bound, no window has missed the event. Returns the event
    as stored now, or None if it was removed.
    """
    may_be_late = context.clock() - stored.stored_at > context.limits.write_bound
    if may_be_late and kind_of(stored.schedule) is not ScheduleKind.UNSENT:
        return restamp_if_passed_over(stored, context=context)
    return stored


def _forget_follows(event: Event, inputs: RoutingInputs, context: RoutingContext) -> None:
    """Delete the follows through which an event was sent to an erased reader.

    The erasure finds follows through an index that may not have contained these follows yet.
    """
    if inputs.reader:
        until = forgotten_until(inputs.reader)
        for entity in event.via:
            forget_follow(entity, event.user_id, until, context=context)


def _place_stored(
    stored: StoredEvent | None, target: Target, inputs: RoutingInputs, tokens: Tokens
) -> StoredEvent | None:
    """Move a stored event to `target`, or to the digest if the limit requires it.

    Return None if the event was removed or stays unsent. The caller arms the schedule or starts the
    immediate run even if the event did not move, because the process that stored or moved the event
    may have failed before doing so.
    """
    if stored is None:
        return None
    if stored.is_capped:
        target = target_by_mark(stored, target, inputs, tokens.context)
    if target.keeps_new_version(stored.schedule):
        now, recurrence = tokens.context.clock(), target.recurrence
        is_in_place = stored.schedule == target.schedule
        if is_in_place and (until := longer_life(stored, recurrence, now)):
            tokens.context.events.extend(stored, until)
        return stored
    if stays_unsent(stored, tokens.context):
        return None
    return tokens.place(stored, target, inputs.reader)
