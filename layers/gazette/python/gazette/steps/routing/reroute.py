"""Route again what waits, after choices or follows changed, and withdraw what is retracted."""

from collections.abc import Iterable, Sequence
from datetime import timedelta

from gazette.domain.delivery.run import BEGINNING, sent_until
from gazette.domain.errors import UnreadableRow
from gazette.domain.identity import latest_run
from gazette.domain.model import StoredEvent
from gazette.domain.outcome import Outcome
from gazette.domain.ports.clock import TimeLeft
from gazette.domain.scheduling.kinds import Unsent
from gazette.domain.stored import readable, require_readable
from gazette.domain.subscribers.frequency import DIGESTS
from gazette.domain.subscribers.subscriber import Erased, Subscriber
from gazette.steps.conflicts import ATTEMPTS, kept_changing
from gazette.steps.context import RoutingContext
from gazette.steps.routing.move import extend, move, raise_epochs_under, take_back
from gazette.steps.routing.route import WaitsIn, settle
from gazette.steps.routing.target import RoutingInputs, Target, routing_inputs, target_of
from gazette.steps.subscribers.schedules import arm
from gazette.steps.time_budget import require_time, unlimited

TO_ANSWER = timedelta(seconds=8)
"""Time to reserve while a reader waits for a page: for one more change, and the answer."""


def reroute(
    user_id: str,
    *,
    context: RoutingContext,
    only_arrived: bool = False,
    time_left: TimeLeft = unlimited,
) -> None:
    """Route a reader's waiting events again, after choices or follows changed. Safe to repeat.

    So they come when they are wanted, and last until then; that none is sent as it was wanted
    before, `route_again` sees to (rule 15). An event that stays lasts longer if its digest now
    comes later (rule 21). In the end every schedule in which an event waits is armed, moved or not
    (rule 23). `only_arrived`: the reader was not known before, so no event is under a schedule yet.
    Raises NotYet if the choices keep changing, or `time_left` is too short for the rest.
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
            waits_in += settle(stored, target, inputs, context)
        arm(dict(waits_in), context=context)
        again = routing_inputs([stored.event for stored in waiting], context)
        if all(map(RoutingInputs.decides_like, all_inputs, again)):
            require_readable(found)
            return
    raise kept_changing(f"What {user_id} chose or follows")


def route_again(
    waiting: Sequence[StoredEvent], time_left: TimeLeft, *, context: RoutingContext
) -> bool:
    """Bring events of one run where their reader wants them now, before the run sends them.

    Returns whether any has left. What they wait in is armed before they move, because after a crash
    nobody looks for them in this run again. Safe to repeat. Raises NotYet if the choices keep
    changing, or `time_left` is too short for the rest: what has moved has moved.
    """
    has_left = False
    for _ in ATTEMPTS:
        all_inputs = routing_inputs([stored.event for stored in waiting], context)
        elsewhere = [
            (stored, target, inputs)
            for stored, inputs in zip(waiting, all_inputs, strict=True)
            if stored.schedule != _schedule_of(target := target_of(stored.event, inputs, context))
        ]
        waits_in = {
            (inputs.reader.user_id, target.schedule): inputs.reader
            for _, target, inputs in elsewhere
            if isinstance(target, Target)
            and target.schedule in DIGESTS
            and isinstance(inputs.reader, Subscriber)
        }
        arm(waits_in, context=context)
        for stored, target, inputs in elsewhere:
            require_time(time_left, least=TO_ANSWER)
            if isinstance(target, Outcome):
                has_left |= take_back(stored, context=context)
                continue
            moved = move(stored, target, context=context)
            has_left |= moved is None or moved.schedule != stored.schedule
            if moved and moved.schedule == target.schedule:
                settle(moved, target, inputs, context)
        arm(waits_in, context=context)
        if not elsewhere:
            return has_left
        again = routing_inputs([stored.event for stored in waiting], context)
        if all(map(RoutingInputs.decides_like, all_inputs, again)):
            return has_left
        user_ids = [(stored.event.user_id, stored.event.id) for stored in waiting]
        found = (context.events.get(*each) for each in user_ids)
        waiting = [stored for stored in found if isinstance(stored, StoredEvent)]
    raise kept_changing("What the reader of a run chose or follows")


def _schedule_of(target: Target | Outcome) -> str | None:
    return target.schedule if isinstance(target, Target) else None


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


def _waiting_for(
    user_id: str, context: RoutingContext, *, only_arrived: bool
) -> Iterable[StoredEvent | UnreadableRow]:
    """The events of a reader that wait for their profile or for a digest.

    This includes events of a digest that has no schedule row, because its writer may have died, and
    events that a digest may have sent: they stay with its run, and may have to last for the next.
    What is in a thread is routed again by its run (`route_again`): nobody looks for threads, of
    which a reader has as many as there were entities.
    """
    yield from context.events.stored_under(user_id, Unsent.WAITING, after=BEGINNING)
    if only_arrived:
        return
    for name in DIGESTS:
        until = sent_until(context.runs.chain(latest_run(user_id, name)))
        yield from context.events.stored_under(user_id, name, after=until)
