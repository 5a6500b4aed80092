"""Route waiting events again after changes of choices or follows, and withdraw retracted events."""

from collections.abc import Collection, Iterable, Sequence
from datetime import timedelta
from itertools import islice, takewhile

from gazette.domain.delivery.run import BEGINNING, sent_until
from gazette.domain.errors import UnreadableRow
from gazette.domain.identity import latest_run
from gazette.domain.model import Retracted, RunKey, StoredEvent, Window
from gazette.domain.outcome import Outcome
from gazette.domain.ports.clock import TimeLeft
from gazette.domain.ports.ledgers import ScheduleKey
from gazette.domain.scheduling.kinds import Unsent
from gazette.domain.stored import readable, require_readable
from gazette.domain.subscribers.frequency import DIGESTS
from gazette.domain.subscribers.subscriber import Erased, Subscriber
from gazette.steps.conflicts import ATTEMPTS, kept_changing
from gazette.steps.context import RoutingContext
from gazette.steps.routing.happening import remove_body, resettle
from gazette.steps.routing.move import raise_epochs_under
from gazette.steps.routing.target import RoutingInputs, routing_inputs, target_of
from gazette.steps.routing.together import (
    Placement,
    TimeFor,
    extend_together,
    place_together,
    take_back_together,
)
from gazette.steps.subscribers.schedules import arm
from gazette.steps.time_budget import unlimited

TO_ANSWER = timedelta(seconds=8)
"""The time to reserve for one more change and the response, while a reader waits for a page."""

_AT_ONCE = 500
"""The maximum number of a run's events that are routed again together."""


def reroute(
    user_id: str,
    *,
    context: RoutingContext,
    only_arrived: bool = False,
    time_left: TimeLeft = unlimited,
) -> None:
    """Route a reader's waiting events again after choices or follows changed. Safe to repeat.

    Each event is moved to the schedule that the reader now wants, and stored until that schedule
    sends it. `route_again` ensures that no event is sent according to an outdated choice (rule 15).
    If the digest of an event is now due later, the event's lifetime is extended (rule 21). At the
    end, every schedule with a waiting event is armed, whether or not the event moved (rule 23).
    `only_arrived` means that the reader was unknown before, so no event is under a schedule yet.
    Raises NotYet if the choices keep changing, or `time_left` is too short for the rest. Events
    that were already routed are then only read again.
    """
    time = TimeFor(time_left, TO_ANSWER)
    for _ in ATTEMPTS:
        rows = list(_waiting_for(user_id, context, only_arrived=only_arrived))
        waiting, happenings = _apart(readable(rows))
        for stored in happenings:
            time.require()
            resettle(stored, context=context)
        all_inputs = routing_inputs([stored.event for stored in waiting], context)
        unwanted, deliverable = _sorted(waiting, all_inputs, context)
        take_back_together(unwanted, context=context, time=time)
        extend_together(deliverable, context=context, time=time)
        arm(place_together(deliverable, context=context, time=time), context=context)
        again = routing_inputs([stored.event for stored in waiting], context)
        if all(map(RoutingInputs.decides_like, all_inputs, again)):
            require_readable(rows)
            return
    raise kept_changing(f"The choices or follows of {user_id}")


def route_again(
    key: RunKey, window: Window, time_left: TimeLeft, *, context: RoutingContext
) -> bool:
    """Move a run's waiting events to the schedules that the reader now wants, before the run sends
    them.

    `window` is the range of the events' storage times. Returns True if any event left the run. Safe
    to repeat. Raises NotYet if the choices keep changing, or `time_left` is too short for the rest;
    events that were already moved stay moved.
    """
    time = TimeFor(time_left, TO_ANSWER)
    stored_since = context.events.stored_under(key.user_id, key.schedule, after=window.since)
    waiting = takewhile(lambda stored: stored.stored_at <= window.until, readable(stored_since))
    has_left = False
    while some := list(islice(waiting, _AT_ONCE)):
        has_left |= _route_some_again(key, some, context=context, time=time)
    return has_left


def _route_some_again(
    key: RunKey, some: Sequence[StoredEvent], *, context: RoutingContext, time: TimeFor
) -> bool:
    """Move a part of a run's waiting events to the schedules that the reader now wants.

    The new schedules are armed before the events move, because no other code would find the events
    after a crash.
    """
    now, has_left = context.clock(), False
    waiting, happenings = _apart(stored for stored in some if not stored.is_over(now))
    for stored in happenings:
        time.require()
        has_left |= resettle(stored, context=context)
    for _ in ATTEMPTS:
        all_inputs = routing_inputs([stored.event for stored in waiting], context)
        unwanted, deliverable = _sorted(waiting, all_inputs, context)
        elsewhere = [each for each in deliverable if not each.target.keeps(each.stored.schedule)]
        if not unwanted and not elsewhere:
            return has_left
        arm(_digests_of(elsewhere), context=context)
        take_back_together(unwanted, context=context, time=time)
        arm(place_together(elsewhere, context=context, time=time), context=context)
        rows = context.events.get_many(key.user_id, {stored.event.id for stored in waiting})
        stay = [each for each in rows.values() if isinstance(each, StoredEvent)]
        has_left |= len(stay) < len(waiting) or any(each.schedule != key.schedule for each in stay)
        again = routing_inputs([stored.event for stored in waiting], context)
        if all(map(RoutingInputs.decides_like, all_inputs, again)):
            return has_left
        waiting = stay
    raise kept_changing("The choices or follows of the reader of a run")


def _apart(
    all_stored: Iterable[StoredEvent],
) -> tuple[list[StoredEvent], list[StoredEvent]]:
    """Return the rows with one event, and the rows whose bodies are routed together."""
    waiting, happenings = list[StoredEvent](), list[StoredEvent]()
    for stored in all_stored:
        (waiting if stored.is_plain else happenings).append(stored)
    return waiting, happenings


def _digests_of(placements: Iterable[Placement]) -> dict[ScheduleKey, Subscriber]:
    """Return the digest schedules to which these events are moved, with their readers."""
    return {
        (each.reader.user_id, each.target.schedule): each.reader
        for each in placements
        if each.target.schedule in DIGESTS and isinstance(each.reader, Subscriber)
    }


def _sorted(
    waiting: Sequence[StoredEvent], all_inputs: Sequence[RoutingInputs], context: RoutingContext
) -> tuple[list[StoredEvent], list[Placement]]:
    """Return the events that their readers do not want, and the remaining events with their
    targets.
    """
    unwanted, deliverable = list[StoredEvent](), list[Placement]()
    for stored, inputs in zip(waiting, all_inputs, strict=True):
        target = target_of(stored.event, inputs, context, is_capped=stored.is_capped)
        if isinstance(target, Outcome):
            unwanted.append(stored)
        else:
            deliverable.append(Placement(stored, target, inputs.reader))
    return unwanted, deliverable


def retract_event(
    user_id: str, event_id: str, *, context: RoutingContext, early: bool = True
) -> Outcome:
    """Withdraw an event permanently. No email that is claimed from now on shows it (rule 11).

    With `early`, the event is withdrawn even if it has not arrived, and is rejected on arrival. No
    row is stored for an erased reader.
    """
    if early and isinstance(context.subscribers.get(user_id), Erased):
        return Outcome.ERASED
    trace = context.events.retract(user_id, event_id, early=early)
    name = _withdraw_body(user_id, trace, context)
    if name:
        raise_epochs_under(name, user_id, context=context)
    return Outcome.RETRACTED


def _withdraw_body(
    user_id: str, trace: Retracted | StoredEvent | None, context: RoutingContext
) -> str:
    """Return the schedule whose runs may have read a retracted event, or an empty text.

    If the event is a body of a happening, only its body is removed from the row.
    """
    if isinstance(trace, StoredEvent):
        remove_body(user_id, trace.event.id, "", context=context)
        return ""
    if trace and trace.part_of:
        remove_body(user_id, trace.part_of, trace.id, context=context)
        return ""
    return trace.schedule if trace else ""


def retract_together(
    user_id: str, event_ids: Collection[str], *, context: RoutingContext, time: TimeFor
) -> None:
    """Withdraw events, like `retract_event`. Events that are not stored are ignored.

    An event that was already withdrawn costs only a read. The epochs of each schedule's runs are
    raised once, because the worker that withdrew an event may have crashed before raising them. If
    one event causes an error, the error is raised after all other events are withdrawn.
    """
    if not event_ids:
        return
    rows = context.events.get_many(user_id, event_ids)
    schedules = {each.schedule for each in rows.values() if isinstance(each, Retracted)} - {""}
    for event_id, each in rows.items():
        if isinstance(each, StoredEvent):
            time.require()
            trace = context.events.retract(user_id, event_id, early=False)
            schedules |= {_withdraw_body(user_id, trace, context)} - {""}
    for name in sorted(schedules):
        time.require()
        raise_epochs_under(name, user_id, context=context)
    require_readable(each for each in rows.values() if isinstance(each, UnreadableRow))


def _waiting_for(
    user_id: str, context: RoutingContext, *, only_arrived: bool
) -> Iterable[StoredEvent | UnreadableRow]:
    """Yield a reader's events that wait for the profile or for a digest.

    This includes events of a digest without a schedule row, because the writer may have crashed. It
    also includes events that a digest may have sent, which stay with the digest's run but may have
    to be stored until the next run. Events of threads are routed again by their run
    (`route_again`), because a reader may have as many threads as entities.
    """
    yield from context.events.stored_under(user_id, Unsent.WAITING, after=BEGINNING)
    if only_arrived:
        return
    for name in DIGESTS:
        until = sent_until(context.runs.chain(latest_run(user_id, name)))
        yield from context.events.stored_under(user_id, name, after=until)
