"""Route events: store each under the schedule that its reader wants it in, or drop it.

The result depends only on what is stored, never on the order of arrival: events, choices and
follows may arrive in any order, and whoever writes one of them reads the others afterwards.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from itertools import islice
from types import MappingProxyType

from gazette.domain.delivery.run import BEGINNING, possibly_sent_until, sent_until
from gazette.domain.errors import UnreadableRow
from gazette.domain.identity import latest_run
from gazette.domain.model import Event, Retracted, StoredEvent
from gazette.domain.outcome import Outcome
from gazette.domain.ports.clock import TimeLeft
from gazette.domain.ports.ledgers import ScheduleKey
from gazette.domain.scheduling.kinds import ScheduleKind, Unsent, kind_of
from gazette.domain.stored import readable, require_readable
from gazette.domain.subscribers.following import Follow
from gazette.domain.subscribers.frequency import DIGESTS
from gazette.domain.subscribers.subscriber import Erased, Subscriber
from gazette.steps.conflicts import ATTEMPTS, kept_changing
from gazette.steps.context import RoutingContext
from gazette.steps.routing.follows import forget_follow, forgotten_until
from gazette.steps.routing.immediate import start_immediate
from gazette.steps.routing.late_writes import restamp_if_passed_over
from gazette.steps.routing.move import extend, move, raise_epochs_under, take_back
from gazette.steps.routing.target import RoutingInputs, Target, routing_inputs, target_of
from gazette.steps.subscribers.schedules import arm
from gazette.steps.time_budget import require_time, unlimited

_AT_ONCE = 100

WaitsIn = tuple[ScheduleKey, Subscriber]
"""A schedule in which an event waits, and its reader as read before."""

TO_ANSWER = timedelta(seconds=8)
"""Time to reserve while a reader waits for a page: for one more change, and the answer."""


def route(
    events: Iterable[Event],
    *,
    context: RoutingContext,
    known: Mapping[tuple[str, str], Follow] = MappingProxyType({}),
) -> list[Outcome]:
    """Route each event, whether it is new, known or amended. Safe to repeat.

    Profile and follows are read before and after the write: a concurrent change has either seen the
    event, or is seen here (rule 15). `known`: follows that were just read, by (entity key, user
    id). Raises NotYet if something keeps changing, and UnreadableRow if a row of some reader cannot
    be read, after the events of all other readers are routed.
    """
    remaining = iter(events)
    outcomes: list[Outcome] = []
    unreadable: list[UnreadableRow] = []
    while some := list(islice(remaining, _AT_ONCE)):
        try:
            outcomes += _route_some(some, known, context)
        except UnreadableRow as row:
            unreadable.append(row)
            _route_each(some, known, context)
    require_readable(unreadable)
    return outcomes


def reroute(
    user_id: str,
    *,
    context: RoutingContext,
    only_arrived: bool = False,
    time_left: TimeLeft = unlimited,
) -> None:
    """Route a reader's waiting events again, after choices or follows changed. Safe to repeat.

    An event that stays lasts longer if its digest now comes later (rule 21). In the end every
    schedule in which an event waits is armed, moved or not (rule 23). `only_arrived`: the
    reader was not known before, so no event is under a schedule yet. Raises NotYet if the choices
    keep changing, or `time_left` is too short for the rest.
    """
    for _ in ATTEMPTS:
        found = list(_waiting_for(user_id, context, only_arrived=only_arrived))
        waiting, waits_in = list(readable(found)), list[WaitsIn]()
        all_inputs = routing_inputs([stored.event for stored in waiting], context)
        for stored, inputs in zip(waiting, all_inputs, strict=True):
            require_time(time_left, least=TO_ANSWER)
            target = target_of(stored.event, inputs, context)
            if isinstance(target, Outcome):
                take_back(stored, context=context)
                continue
            if stored.schedule == target.schedule:
                extend(stored, target.recurrence, context=context)
            waits_in += _settle(stored, target, inputs, context)
        arm(dict(waits_in), context=context)
        again = routing_inputs([stored.event for stored in waiting], context)
        if all(map(RoutingInputs.decides_like, all_inputs, again)):
            require_readable(found)
            return
    raise kept_changing(f"What {user_id} chose or follows")


def retract_event(
    user_id: str, event_id: str, *, context: RoutingContext, early: bool = True
) -> Outcome:
    """Withdraw an event for good: no email that is claimed from now on shows it (rule 11).

    `early`: even if it has not arrived, so that it is refused when it does. For an erased reader
    nothing is stored.
    """
    if early and isinstance(context.subscribers.get(user_id), Erased):
        return Outcome.ERASED
    trace = context.events.retract(user_id, event_id, early=early)
    if trace and trace.schedule:
        raise_epochs_under(trace.schedule, user_id, context=context)
    return Outcome.RETRACTED


def _route_each(
    events: Iterable[Event], known: Mapping[tuple[str, str], Follow], context: RoutingContext
) -> None:
    """Route one by one: of rows that are read together, nobody can tell which is unreadable."""
    for event in events:
        with suppress(UnreadableRow):
            _route_some([event], known, context)


def _route_some(
    events: Sequence[Event], known: Mapping[tuple[str, str], Follow], context: RoutingContext
) -> list[Outcome]:
    outcomes = [Outcome.DUPLICATE] * len(events)
    all_inputs = routing_inputs(events, context, known)
    unsettled = list(range(len(events)))
    for _ in ATTEMPTS:
        waits_in: list[WaitsIn] = []
        for number in unsettled:
            outcome, found = _route_one(events[number], all_inputs[number], context)
            waits_in += found
            if outcome is not Outcome.DUPLICATE:
                outcomes[number] = outcome
        arm(dict(waits_in), context=context)
        again = routing_inputs(events, context)
        unsettled = [
            number for number in unsettled if not all_inputs[number].decides_like(again[number])
        ]
        if not unsettled:
            return outcomes
        all_inputs = again
    raise kept_changing("What some reader chose or follows")


def _route_one(
    event: Event, inputs: RoutingInputs, context: RoutingContext
) -> tuple[Outcome, list[WaitsIn]]:
    """Route one event; one that is older than its stored version changes nothing.

    Returns also in which schedule it waits, if in any.
    """
    target = target_of(event, inputs, context)
    if isinstance(target, Outcome):
        found = context.events.get(event.user_id, event.id)
        if isinstance(found, StoredEvent) and (found.event == event or event.amends(found.event)):
            take_back(found, context=context)
        if target is Outcome.ERASED:
            _forget_follows(event, inputs, context)
        return target, []
    stored, found = context.events.store(event, target.schedule, target.recurrence)
    for _ in ATTEMPTS:
        if not isinstance(found, StoredEvent) or not event.amends(found.event):
            break
        if context.events.amend(found, event):
            raise_epochs_under(found.schedule, event.user_id, context=context)
            there = _restamp_if_late(replace(found, event=event), context=context)
            return Outcome.AMENDED, _settle(there, target, inputs, context)
        _, found = context.events.store(event, target.schedule, target.recurrence)
    if isinstance(found, Retracted):
        return Outcome.RETRACTED, []
    if found.event == event and event.amended_at and not stored:
        raise_epochs_under(found.schedule, event.user_id, context=context)
    there = _restamp_if_late(found, context=context)
    outcome = Outcome.STORED if stored else Outcome.DUPLICATE
    if there and there.event != event:
        return outcome, []
    return outcome, _settle(there, target, inputs, context)


def _restamp_if_late(stored: StoredEvent, *, context: RoutingContext) -> StoredEvent | None:
    """Look for a window that passed over the event, if its write may have been late (rule 14).

    Within the write bound no window closes over it, nor where no run reads it. Returns the event as
    stored now, or None if it was removed.
    """
    may_be_late = context.clock() - stored.stored_at > context.write_bound
    if may_be_late and kind_of(stored.schedule) is not ScheduleKind.UNSENT:
        return restamp_if_passed_over(stored, context=context)
    return stored


def _forget_follows(event: Event, inputs: RoutingInputs, context: RoutingContext) -> None:
    """Delete the follows through which an event came to an erased reader.

    The erasure finds follows by an index that may not have had these yet.
    """
    if inputs.reader:
        until = forgotten_until(inputs.reader)
        for entity in event.via:
            forget_follow(entity, event.user_id, until, context=context)


def _settle(
    stored: StoredEvent | None, target: Target, inputs: RoutingInputs, context: RoutingContext
) -> list[WaitsIn]:
    """Bring a stored event under `target`, and make sure that an immediate run will send it.

    Returns in which schedule it waits, if in any: the caller arms that, also where nothing moved,
    because whoever stored or moved it may have died before that.
    """
    if stored is None:
        return []
    is_there = stored.schedule == target.schedule
    settled = stored if is_there else move(stored, target, context=context)
    if settled is None:
        return []
    if settled.is_immediate:
        start_immediate(settled, context=context)
    if settled.schedule in DIGESTS and isinstance(inputs.reader, Subscriber):
        return [((inputs.reader.user_id, settled.schedule), inputs.reader)]
    return []


def _waiting_for(
    user_id: str, context: RoutingContext, *, only_arrived: bool
) -> Iterable[StoredEvent | UnreadableRow]:
    """All events of a reader that are not known to have been sent, under whatever schedule.

    This includes events of a digest that has no schedule row, because its writer may have died, and
    events that a digest may have sent: they stay with its run, and may have to last for the next.
    """
    yield from context.events.stored_under(user_id, Unsent.WAITING, after=BEGINNING)
    if only_arrived:
        return
    at_once = {
        run.key.schedule for run in readable(context.runs.of_user(user_id)) if run.key.is_immediate
    }
    for name in (*DIGESTS, *sorted(at_once)):
        chain = context.runs.chain(latest_run(user_id, name))
        until = (
            possibly_sent_until(chain)
            if kind_of(name) is ScheduleKind.IMMEDIATE
            else sent_until(chain)
        )
        yield from context.events.stored_under(user_id, name, after=until)
