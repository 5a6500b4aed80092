"""Route many events of one reader in few calls, for example after a late follow."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gazette.domain.errors import UnreadableRow
from gazette.domain.model import Event, Retracted, StoredEvent
from gazette.domain.outcome import Outcome
from gazette.domain.ports.stores import MOST_IN_A_TRANSACTION, EventToStore
from gazette.domain.scheduling.kinds import ScheduleKind, is_critical, kind_of
from gazette.domain.stored import require_readable
from gazette.domain.subscribers.following import Follow
from gazette.steps.conflicts import ATTEMPTS, kept_changing
from gazette.steps.context import RoutingContext
from gazette.steps.routing.happening import is_of_happening
from gazette.steps.routing.late_writes import restamp_together
from gazette.steps.routing.limit import Tokens, target_by_mark
from gazette.steps.routing.move import raise_epochs_under
from gazette.steps.routing.route import route
from gazette.steps.routing.target import RoutingInputs, Target, routing_inputs, target_of
from gazette.steps.routing.together import (
    FEW,
    Placement,
    TimeFor,
    extend_together,
    in_parts,
    place_together,
    take_back_together,
)
from gazette.steps.subscribers.schedules import arm

Found = StoredEvent | Retracted | UnreadableRow | None


def catch_up(
    user_id: str,
    events: Sequence[Event],
    *,
    known: Mapping[tuple[str, str], Follow],
    context: RoutingContext,
    time: TimeFor,
) -> None:
    """Route events of one reader in few calls, with the same result as `route`. Safe to repeat.

    Stored rows are read first. New events are stored together. Stored events that are unwanted or
    belong to another schedule are removed or moved together. Only events that differ from their
    stored versions are routed one by one. Raises the errors of `route`, and NotYet if too little
    time is left; events that were already stored cost almost no calls when the message is retried.
    """
    if len(events) <= FEW:
        route(events, context=context, known=known)
        return
    all_inputs = routing_inputs(events, context, known)
    unreadable: list[UnreadableRow] = []
    for _ in ATTEMPTS:
        work = _Work(user_id, context, time, unreadable)
        work.do(events, all_inputs)
        again = routing_inputs(events, context)
        changed = [
            number
            for number, inputs in enumerate(again)
            if not all_inputs[number].decides_like(inputs)
        ]
        if not changed:
            require_readable(unreadable)
            return
        events = [events[number] for number in changed]
        all_inputs = [again[number] for number in changed]
    raise kept_changing(f"The choices or follows of {user_id}")


@dataclass(slots=True)
class _Work:
    """A pass over one reader's events, sorted by the action that each event needs."""

    user_id: str
    context: RoutingContext
    time: TimeFor
    unreadable: list[UnreadableRow]
    """Unreadable rows. Their events are retried later."""
    new: dict[str, tuple[Event, Target, RoutingInputs]] = field(default_factory=dict)
    """Events whose ids are not stored yet."""
    in_place: dict[str, tuple[Target | None, RoutingInputs]] = field(default_factory=dict)
    """Stored events by id.

    An event without a target has a later stored version, whose own message routes it.
    """
    stored: dict[str, StoredEvent] = field(default_factory=dict)
    """The stored rows of the events in `in_place`."""
    unwanted: dict[str, tuple[StoredEvent, Event]] = field(default_factory=dict)
    """Stored events that the reader does not want."""
    others: list[Event] = field(default_factory=list)
    """Events that differ from their stored versions and are routed one by one."""
    amended_under: set[str] = field(default_factory=set)
    """Schedules whose runs may have read an event before it was amended."""
    tokens: Tokens = field(init=False)
    """The tokens of this pass. An event that is stored at the second try takes none."""

    def __post_init__(self) -> None:
        """Begin without tokens."""
        self.tokens = Tokens(self.context)

    def do(self, events: Sequence[Event], all_inputs: Sequence[RoutingInputs]) -> None:
        """Move each event to its target."""
        rows = self.context.events.get_many(self.user_id, {event.id for event in events})
        for event, inputs in zip(events, all_inputs, strict=True):
            self._sort(event, inputs, rows.get(event.id))
        self._take_back()
        self._store()
        for name in sorted(self.amended_under):
            self.time.require()
            raise_epochs_under(name, self.user_id, context=self.context)
        self._restamp()
        self._settle()
        for some in in_parts(self.others, MOST_IN_A_TRANSACTION):
            self.time.require()
            route(some, context=self.context, tokens=self.tokens)

    def _sort(self, event: Event, inputs: RoutingInputs, found: Found) -> None:
        target = target_of(event, inputs, self.context)
        if isinstance(found, UnreadableRow):
            self.unreadable.append(found)
        elif isinstance(found, StoredEvent | Retracted) and is_of_happening(found):
            self.others.append(event)
        elif event.id in self.new or event.id in self.in_place or target is Outcome.ERASED:
            # Two activities have the same id, or the event's follows are deleted too.
            self.others.append(event)
        elif isinstance(found, Retracted):
            return
        elif found is None:
            if isinstance(target, Target):
                self.new[event.id] = event, target, inputs
        elif isinstance(target, Outcome):
            if found.event == event or event.amends(found.event):
                self.unwanted[event.id] = found, event
        elif event.amends(found.event):
            self.others.append(event)
        else:
            is_same = found.event == event
            self.stored[event.id] = found
            if found.is_capped:
                target = target_by_mark(found, target, inputs, self.context)
            self.in_place[event.id] = target if is_same else None, inputs
            if is_same and event.amended_at:
                self.amended_under.add(found.schedule)

    def _take_back(self) -> None:
        """Remove unwanted events. Sent events are kept and amended (rule 11)."""
        all_stored = [stored for stored, _ in self.unwanted.values()]
        for stored in take_back_together(all_stored, context=self.context, time=self.time):
            _, event = self.unwanted[stored.event.id]
            if is_critical(stored.schedule) and event.category not in self.context.critical:
                continue
            if event != stored.event:
                self.others.append(event)
            elif event.amended_at:
                self.amended_under.add(stored.schedule)

    def _store(self) -> None:
        for some in in_parts(list(self.new.values()), MOST_IN_A_TRANSACTION):
            self.time.require()
            some = [
                (
                    event,
                    self.tokens.target_of_new(event, target, inputs.reader, is_new=True),
                    inputs,
                )
                for event, target, inputs in some
            ]
            new = [
                EventToStore(event, target.schedule, target.recurrence, target.is_capped)
                for event, target, _ in some
            ]
            newly_stored = self.context.events.store_together(new)
            if newly_stored is None:
                self.others += [event for event, _, _ in some]
                continue
            self.stored |= {stored.event.id: stored for stored in newly_stored}
            self.in_place |= {event.id: (target, inputs) for event, target, inputs in some}

    def _restamp(self) -> None:
        """Give late events a new storage time if a window missed them (rule 14)."""
        now, bound = self.context.clock(), self.context.limits.write_bound
        late = [
            stored
            for stored in self.stored.values()
            if now - stored.stored_at > bound
            and kind_of(stored.schedule) is not ScheduleKind.UNSENT
        ]
        for some in in_parts(late, MOST_IN_A_TRANSACTION):
            self.time.require()
            current = restamp_together(some, context=self.context)
            for stored in some:
                del self.stored[stored.event.id]
            self.stored |= {stored.event.id: stored for stored in current}

    def _settle(self) -> None:
        placements = [
            Placement(stored, target, inputs.reader)
            for event_id, stored in self.stored.items()
            for target, inputs in [self.in_place[event_id]]
            if target
        ]
        extend_together(placements, context=self.context, time=self.time)
        waits_in = place_together(placements, context=self.context, time=self.time)
        arm(waits_in, context=self.context)
