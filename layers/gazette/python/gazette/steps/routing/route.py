"""Route events: store each event under the schedule that its reader wants, or drop it.

The result depends only on the stored rows, not on the order of arrival. Events, choices and follows
may arrive in any order, because a process that writes one of them reads the others afterwards.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from gazette.domain.model import Event, Retracted, StoredEvent
from gazette.domain.outcome import Outcome
from gazette.domain.ports.clock import TimeLeft
from gazette.domain.ports.ledgers import ScheduleKey
from gazette.domain.scheduling.kinds import ScheduleKind, is_critical, kind_of
from gazette.domain.stored import is_of_one_row
from gazette.domain.subscribers.following import Follow
from gazette.domain.subscribers.frequency import DIGESTS
from gazette.domain.subscribers.subscriber import Reader, Subscriber
from gazette.steps.conflicts import ATTEMPTS, kept_changing
from gazette.steps.context import RoutingContext
from gazette.steps.routing.follows import forget_follow, forgotten_until
from gazette.steps.routing.immediate import start_immediates
from gazette.steps.routing.late_writes import restamp_if_passed_over
from gazette.steps.routing.move import move, raise_epochs_under, stays_unsent, take_back
from gazette.steps.routing.target import RoutingInputs, Target, routing_inputs, target_of
from gazette.steps.subscribers.schedules import arm
from gazette.steps.time_budget import LONGEST, PIECE, require_time, unlimited

_AT_ONCE = 100

RoutedEvent = tuple[StoredEvent, Reader]
"""An event that was routed, and its reader as read before."""

Routed = list[Outcome] | Exception
"""The outcomes of the events in a list, or the error that requires a retry."""


def route(
    events: Iterable[Event],
    *,
    context: RoutingContext,
    known: Mapping[tuple[str, str], Follow] = MappingProxyType({}),
) -> list[Outcome]:
    """Route events, whether they are new, known or amended. Safe to repeat.

    Profile and follows are read before and after the write, so that a concurrent change has either
    seen the event or is seen here (rule 15). `known` contains follows that were just read, by
    (entity key, user id). Raises NotYet if a row keeps changing. Raises UnreadableRow if a row of
    some reader cannot be read, after routing the events of all other readers.
    """
    (routed,) = route_lists([list(events)], context=context, known=known)
    if isinstance(routed, Exception):
        raise routed
    return routed


def route_lists(
    lists: Sequence[Sequence[Event]],
    *,
    context: RoutingContext,
    known: Mapping[tuple[str, str], Follow] = MappingProxyType({}),
    time_left: TimeLeft = unlimited,
) -> list[Routed]:
    """Route the events of several lists in order, like `route`. Each list has its own result.

    Groups of a hundred events from any lists share the reads and the check of the schedules. If a
    list has an error, some of its events may already have been routed; events of other lists are
    not affected. A list that cannot begin or end within `time_left` gets NotYet.
    """
    together = _Together(lists, context, known, time_left)
    for start in range(0, len(together.events), _AT_ONCE):
        together.route(range(start, min(start + _AT_ONCE, len(together.events))))
    return together.routed()


class _Together:
    """A worker that routes the events of several lists together, and records the error of each
    list.
    """

    def __init__(
        self,
        lists: Sequence[Sequence[Event]],
        context: RoutingContext,
        known: Mapping[tuple[str, str], Follow],
        time_left: TimeLeft,
    ) -> None:
        self.events = [event for events in lists for event in events]
        self._list_of = [number for number, events in enumerate(lists) for _ in events]
        self._outcomes = [Outcome.DUPLICATE] * len(self.events)
        self._errors: dict[int, Exception] = {}
        self._begun: set[int] = set()
        self._lists, self._context, self._known = lists, context, known
        self._time_left = time_left

    def routed(self) -> list[Routed]:
        """Return the error of each list, or the outcomes of the events in the list."""
        outcomes = iter(self._outcomes)
        all_routed: list[Routed] = []
        for number, events in enumerate(self._lists):
            of_list = [next(outcomes) for _ in events]
            all_routed.append(self._errors.get(number, of_list))
        return all_routed

    def route(self, unsettled: Sequence[int]) -> None:
        """Route the events with these numbers. If a routing input changes in between, route them
        again.
        """
        all_inputs = self._read(unsettled, self._known)
        for _ in ATTEMPTS:
            settled = self._place(all_inputs)
            self._arm(settled)
            self._start(settled)
            again = self._read(all_inputs)
            unsettled = [
                number
                for number, inputs in again.items()
                if not all_inputs[number].decides_like(inputs)
            ]
            if not unsettled:
                return
            all_inputs = {number: again[number] for number in unsettled}
        for number in unsettled:
            self._fail(number, kept_changing("The choices or follows of some reader"))

    def _read(
        self,
        numbers: Iterable[int],
        known: Mapping[tuple[str, str], Follow] = MappingProxyType({}),
    ) -> dict[int, RoutingInputs]:
        all_inputs: dict[int, RoutingInputs] = {}

        def read(some: Sequence[int]) -> None:
            events = [self.events[number] for number in some]
            inputs = routing_inputs(events, self._context, known)
            all_inputs.update(zip(some, inputs, strict=True))

        self._at_once(numbers, read)
        return all_inputs

    def _place(self, all_inputs: Mapping[int, RoutingInputs]) -> dict[int, RoutedEvent]:
        """Store each event under its target. Return the events that are now waiting."""
        settled: dict[int, RoutedEvent] = {}

        def place(some: Sequence[int]) -> None:
            (number,) = some
            is_begun = self._list_of[number] in self._begun
            require_time(self._time_left, least=PIECE if is_begun else LONGEST)
            self._begun.add(self._list_of[number])
            event, inputs = self.events[number], all_inputs[number]
            outcome, placed = _route_one(event, inputs, self._context)
            settled.update((number, each) for each in placed)
            if outcome is not Outcome.DUPLICATE:
                self._outcomes[number] = outcome

        for number in all_inputs:
            self._at_once([number], place)
        return settled

    def _arm(self, settled: Mapping[int, RoutedEvent]) -> None:
        def arm_some(some: Sequence[int]) -> None:
            arm(waits_in(settled[number] for number in some), context=self._context)

        self._at_once([number for number in settled if waits_in([settled[number]])], arm_some)

    def _start(self, settled: Mapping[int, RoutedEvent]) -> None:
        def start_some(some: Sequence[int]) -> None:
            start_immediates((settled[number][0] for number in some), context=self._context)

        immediate = [number for number, (stored, _) in settled.items() if stored.is_immediate]
        self._at_once(immediate, start_some)

    def _at_once(self, numbers: Iterable[int], act: Callable[[Sequence[int]], None]) -> None:
        """Process the events of all lists together.

        If that fails, process the events of each list separately. The error of a joint read does
        not show which row is unreadable, so the events of one list are then processed one by one.
        """
        numbers_left = [number for number in numbers if self._goes_on(number)]
        if not numbers_left:
            return
        try:
            act(numbers_left)
        except Exception as err:  # noqa: BLE001 -- the error affects only one list
            parts = self._apart(numbers_left, one_by_one=is_of_one_row(err))
            if len(parts) == 1:
                self._fail(numbers_left[0], err)
                return
            for part in parts:
                self._at_once(part, act)

    def _apart(self, numbers: Sequence[int], *, one_by_one: bool) -> list[list[int]]:
        lists: dict[int, list[int]] = {}
        for number in numbers:
            lists.setdefault(self._list_of[number], []).append(number)
        if len(lists) == 1 and one_by_one:
            return [[number] for number in numbers]
        return list(lists.values())

    def _fail(self, number: int, err: Exception) -> None:
        if self._goes_on(number):
            self._errors[self._list_of[number]] = err

    def _goes_on(self, number: int) -> bool:
        """Return True if no error prevents routing the remaining events of this event's list.

        An error in a single row does not affect the remaining events.
        """
        err = self._errors.get(self._list_of[number])
        return err is None or is_of_one_row(err)


def _route_one(
    event: Event, inputs: RoutingInputs, context: RoutingContext
) -> tuple[Outcome, list[RoutedEvent]]:
    """Route one event. An event that is older than its stored version has no effect.

    Also returns the schedule under which the event waits, if any.
    """
    target = target_of(event, inputs, context)
    if isinstance(target, Outcome):
        _withdraw(event, is_erased=target is Outcome.ERASED, context=context)
        if target is Outcome.ERASED:
            _forget_follows(event, inputs, context)
        return target, []
    stored, existing = context.events.store(event, target.schedule, target.recurrence)
    for _ in ATTEMPTS:
        if not isinstance(existing, StoredEvent) or not event.amends(existing.event):
            break
        current = _out_of_what_is_critical(existing, target, context)
        if current is None:
            break
        existing = current
        if context.events.amend(existing, event):
            raise_epochs_under(existing.schedule, event.user_id, context=context)
            current = _restamp_if_late(replace(existing, event=event), context=context)
            return Outcome.AMENDED, place_stored(current, target, inputs, context)
        _, existing = context.events.store(event, target.schedule, target.recurrence)
    if isinstance(existing, Retracted):
        return Outcome.RETRACTED, []
    if existing.event == event and event.amended_at and not stored:
        raise_epochs_under(existing.schedule, event.user_id, context=context)
    current = _restamp_if_late(existing, context=context)
    outcome = Outcome.STORED if stored else Outcome.DUPLICATE
    if current and current.event != event:
        return outcome, []
    return outcome, place_stored(current, target, inputs, context)


def _withdraw(event: Event, *, is_erased: bool, context: RoutingContext) -> None:
    """Remove the stored row of an event that its reader does not want, unless the row is newer.

    An event that was or may have been sent stays with its run, which may be sent again. The event
    is then amended, unless non-critical content would enter an email that unsubscribing does not
    stop. No row of an erased reader is written.
    """
    current = context.events.get(event.user_id, event.id)
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
    found: StoredEvent, target: Target, context: RoutingContext
) -> StoredEvent | None:
    """Move a critical event before an amendment makes it non-critical.

    If the event were amended first, it would be sent to a reader who unsubscribes before it is
    moved. Returns the event as stored now, or None if it was removed. Also returns None if the
    event was or may have been sent as critical, so that it stays.
    """
    if not is_critical(found.schedule) or is_critical(target.schedule):
        return found
    moved = move(found, target, context=context)
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


def place_stored(
    stored: StoredEvent | None, target: Target, inputs: RoutingInputs, context: RoutingContext
) -> list[RoutedEvent]:
    """Move a stored event to `target`.

    Return an empty list if the event was removed or stays unsent. The caller arms the schedule or
    starts the immediate run even if the event did not move, because the process that stored or
    moved the event may have failed before doing so.
    """
    if stored is None or stays_unsent(stored, context):
        return []
    is_in_place = stored.schedule == target.schedule
    settled = stored if is_in_place else move(stored, target, context=context)
    return [(settled, inputs.reader)] if settled else []


def waits_in(all_settled: Iterable[RoutedEvent]) -> dict[ScheduleKey, Subscriber]:
    """Return the digest schedules under which these events wait, with their readers."""
    return {
        (reader.user_id, stored.schedule): reader
        for stored, reader in all_settled
        if stored.schedule in DIGESTS and isinstance(reader, Subscriber)
    }
