"""Route again what waits, after choices or follows changed, and withdraw what is retracted."""

from collections.abc import Collection, Iterable
from datetime import timedelta

from gazette.domain.delivery.run import BEGINNING, possibly_sent_until, sent_until
from gazette.domain.errors import UnreadableRow
from gazette.domain.identity import latest_run
from gazette.domain.model import Retracted, StoredEvent
from gazette.domain.outcome import Outcome
from gazette.domain.ports.clock import TimeLeft
from gazette.domain.scheduling.kinds import ScheduleKind, Unsent, kind_of
from gazette.domain.stored import readable, require_readable
from gazette.domain.subscribers.frequency import DIGESTS
from gazette.domain.subscribers.subscriber import Erased
from gazette.steps.conflicts import ATTEMPTS, kept_changing
from gazette.steps.context import RoutingContext
from gazette.steps.routing.move import raise_epochs_under
from gazette.steps.routing.target import RoutingInputs, routing_inputs, target_of
from gazette.steps.routing.together import (
    Settling,
    TimeFor,
    extend_together,
    settle_together,
    take_back_together,
)
from gazette.steps.subscribers.schedules import arm
from gazette.steps.time_budget import unlimited

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

    An event that stays lasts longer if its digest now comes later (rule 21). In the end every
    schedule in which an event waits is armed, moved or not (rule 23). `only_arrived`: the
    reader was not known before, so no event is under a schedule yet. Raises NotYet if the choices
    keep changing, or `time_left` is too short for the rest: an event that was settled by then is
    read again, and costs nothing else.
    """
    time = TimeFor(time_left, TO_ANSWER)
    for _ in ATTEMPTS:
        found = list(_waiting_for(user_id, context, only_arrived=only_arrived))
        waiting = list(readable(found))
        all_inputs = routing_inputs([stored.event for stored in waiting], context)
        unwanted, wanted = list[StoredEvent](), list[Settling]()
        for stored, inputs in zip(waiting, all_inputs, strict=True):
            target = target_of(stored.event, inputs, context)
            if isinstance(target, Outcome):
                unwanted.append(stored)
            else:
                wanted.append(Settling(stored, target, inputs.reader))
        take_back_together(unwanted, context=context, time=time)
        extend_together(wanted, context=context, time=time)
        arm(settle_together(wanted, context=context, time=time), context=context)
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


def retract_together(
    user_id: str, event_ids: Collection[str], *, context: RoutingContext, time: TimeFor
) -> None:
    """Withdraw those of these events that are stored, as `retract_event` does one that arrived.

    Those that were withdrawn before cost nothing but the look: the runs of each schedule are told
    once, because whoever withdrew them may have died before that. What goes wrong with one is
    raised once all others are withdrawn.
    """
    if not event_ids:
        return
    found = context.events.get_many(user_id, event_ids)
    told = {each.schedule for each in found.values() if isinstance(each, Retracted)} - {""}
    for event_id, each in found.items():
        if isinstance(each, StoredEvent):
            time.require()
            trace = context.events.retract(user_id, event_id, early=False)
            told |= {trace.schedule} if trace and trace.schedule else set()
    for name in sorted(told):
        time.require()
        raise_epochs_under(name, user_id, context=context)
    require_readable(each for each in found.values() if isinstance(each, UnreadableRow))


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
