"""Write the row of a happening: its bodies, its place and its runs (decision 156)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from gazette.domain.delivery.run import BEGINNING, sent_until
from gazette.domain.happening.bodies import (
    Bodies,
    LeftOut,
    Settlement,
    Wanted,
    as_emailed,
    content_of,
    settle,
    showing_another,
)
from gazette.domain.happening.marks import is_in_none_of
from gazette.domain.happening.rewriting import Pointing, Rewrite
from gazette.domain.identity import latest_run
from gazette.domain.model import Event, Retracted, StoredEvent
from gazette.domain.ports.stores import Guard
from gazette.domain.scheduling.kinds import ScheduleKind, Unsent, is_critical, kind_of
from gazette.domain.scheduling.lifetime import longer_life
from gazette.domain.subscribers.frequency import DIGESTS
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.steps.context import RoutingContext
from gazette.steps.routing.immediate import start_immediates
from gazette.steps.routing.limit import Tokens
from gazette.steps.routing.move import (
    guard_to_arrive,
    guard_to_leave,
    raise_epochs_under,
    stays_unsent,
)
from gazette.steps.routing.target import RoutingInputs, Target, routing_inputs, target_of
from gazette.steps.subscribers.schedules import arm

Row = StoredEvent | Retracted | None

Inputs = Mapping[str, RoutingInputs]
"""The routing inputs of the bodies of a row, by own id."""


def inputs_of(bodies: Bodies, context: RoutingContext) -> Inputs:
    """Return the routing inputs of the bodies."""
    all_inputs = routing_inputs(bodies, context) if bodies else []
    return {body.own_id: inputs for body, inputs in zip(bodies, all_inputs, strict=True)}


def rewrite(
    row: Row,
    bodies: Bodies,
    inputs: Inputs,
    event: Event,
    pointing: Pointing | None,
    tokens: Tokens,
    *,
    retracted: str | None = None,
    left_out: Sequence[LeftOut] | None = None,
    is_repeatable: bool = True,
) -> tuple[bool, StoredEvent | None]:
    """Write the row with the wanted ones of `bodies`, according to `inputs`.

    A row that was or may have been sent does not move. A row that moves to an immediate email takes
    a token, or gets the mark of the limit (rule 28). Returns True and the row as it is stored now,
    or False if it has changed since it was read.
    """
    context, bodies = tokens.context, _not_seen(row, bodies)
    change = Rewrite(
        user_id=event.user_id,
        event_id=event.id,
        before=row,
        after=_settled(bodies, inputs, context, is_capped=_is_capped(row)),
        retracted=retracted,
        pointing=pointing,
        left_out=left_out,
    )
    planned, guard = _leaving(change, bodies, context)
    if planned.moves and (after := planned.after) and not tokens.allow(after.shown, after.schedule):
        capped = replace(change, after=_settled(bodies, inputs, context, is_capped=True))
        planned, guard = _leaving(capped, bodies, context)
    if planned.after is None and not planned.moves and retracted is None:
        return True, row if isinstance(row, StoredEvent) else None
    if planned.after and planned.moves and not _is_new(row):
        if not is_repeatable:
            # If this worker dies after the write, no other code finds the row.
            _arm_digest(event.user_id, planned.after.schedule, context)
        guard += guard_to_arrive(event.user_id, planned.after.schedule, context)
    return _write(planned, context, guard=guard, is_repeatable=is_repeatable)


def _leaving(change: Rewrite, bodies: Bodies, context: RoutingContext) -> tuple[Rewrite, Guard]:
    """Return the change, which moves the row if necessary and possible.

    Also returns a guard that prevents the runs of the former place from sending the row.
    """
    row, settlement = change.before, change.after
    if change.left_out is not None and isinstance(row, StoredEvent):
        return _leaving_out(change, row, bodies, context)
    if row is None or (isinstance(row, Retracted) and _is_in_no_email(row, change, context)):
        return replace(change, moves=True), Guard()
    if settlement and isinstance(row, StoredEvent) and _stays(row, settlement, context):
        return _in_place(change, context), Guard()
    stored_at = row.stored_at or BEGINNING
    until, guard = guard_to_leave(change.user_id, row.schedule, stored_at, context=context)
    if stored_at <= until:
        return _in_place(change, context), Guard()
    return replace(change, moves=True), guard


def _is_new(row: Row) -> bool:
    """Return True if no row was stored before, so that no run may have read it."""
    return row is None or (isinstance(row, Retracted) and row.is_early)


def _leaving_out(
    change: Rewrite, row: StoredEvent, rest: Bodies, context: RoutingContext
) -> tuple[Rewrite, Guard]:
    """Return the change of a row some of whose bodies no email may show.

    Runs that have read the row cannot be claimed after the change, even if the row does not move. A
    row that may have been sent keeps its bodies, because an email may contain them, and shows
    another one. A row that was sent does not change.
    """
    until, guard = guard_to_leave(change.user_id, row.schedule, row.stored_at, context=context)
    if row.stored_at <= until:
        chain = context.runs.chain(latest_run(change.user_id, row.schedule), holding=row.stored_at)
        was_sent = row.stored_at <= sent_until(chain) or row.schedule == Unsent.GIVEN_UP
        after = content_of(row) if was_sent else showing_another(row, rest, change.after)
        return replace(change, after=after, left_out=None), Guard()
    stays = change.after is not None and Target(change.after.schedule).keeps(row.schedule)
    return replace(change, moves=not stays), guard


def _is_in_no_email(mark: Retracted, change: Rewrite, context: RoutingContext) -> bool:
    """Return True if no email contains the row that became a marker, or no row was stored."""
    if mark.is_in_no_email or mark.is_early:
        return True
    chain = context.runs.chain(latest_run(change.user_id, mark.schedule), holding=mark.stored_at)
    return is_in_none_of(mark, chain)


def _in_place(change: Rewrite, context: RoutingContext) -> Rewrite:
    """Return the change of a row that stays in its place.

    A row that was sent keeps its bodies, except a retracted one, and continues to show what its
    email showed. So receipts and the web view of the email remain true.
    """
    row, settlement = change.before, change.after
    if not isinstance(row, StoredEvent) or settlement is None:
        return change
    if is_critical(row.schedule) and settlement.shown.category not in context.critical:
        # Unsubscribing does not stop this email, so it may get only critical content.
        return replace(change, after=None if change.retracted is not None else content_of(row))
    as_sent = as_emailed(settlement, row, is_retraction=change.retracted is not None)
    if as_sent == settlement or kind_of(row.schedule) is ScheduleKind.UNSENT:
        return change
    chain = context.runs.chain(latest_run(change.user_id, row.schedule), holding=row.stored_at)
    return replace(change, after=as_sent) if row.stored_at <= sent_until(chain) else change


def _is_capped(row: Row) -> bool:
    return isinstance(row, StoredEvent) and row.is_capped


def _not_seen(row: Row, bodies: Bodies) -> Bodies:
    """Return the bodies without those for which a row was left out because its reader saw them.

    If the reader saw all of them, the row stays as it is.
    """
    if not isinstance(row, StoredEvent) or row.schedule != Unsent.EXCLUDED or not row.seen_at:
        return bodies
    return tuple(body for body in bodies if body.counts_at > row.seen_at) or bodies


def _settled(
    bodies: Bodies, inputs: Inputs, context: RoutingContext, *, is_capped: bool
) -> Settlement | None:
    targets = [
        (body, target_of(body, inputs[body.own_id], context, is_capped=is_capped))
        for body in bodies
    ]
    candidates = [
        Wanted(body, target.schedule, target.recurrence)
        for body, target in targets
        if isinstance(target, Target)
    ]
    return settle(candidates, is_capped=is_capped)


def _stays(row: StoredEvent, settlement: Settlement, context: RoutingContext) -> bool:
    """Return True if the row is in the place of the settlement, or must not be sent again."""
    if Target(settlement.schedule).keeps(row.schedule):
        return True
    return stays_unsent(replace(row, event=settlement.shown), context)


def _write(
    change: Rewrite,
    context: RoutingContext,
    *,
    guard: Guard,
    is_repeatable: bool,
) -> tuple[bool, StoredEvent | None]:
    """Write the row. If no guard did so in the same transaction, raise the epochs of its runs.

    With `is_repeatable`, the epochs are raised even if the row is already as intended, because the
    worker that wrote it may have died before it raised them.
    """
    before = change.before
    if change.writes_row or change.pointing:
        is_written, stored = context.events.rewrite(change, guard)
    else:
        is_written, stored = True, before if isinstance(before, StoredEvent) else None
    is_unguarded = before is not None and bool(before.schedule) and guard.is_alone
    if is_written and before and is_unguarded and (change.writes_row or is_repeatable):
        raise_epochs_under(before.schedule, change.user_id, context=context)
    return is_written, stored


def await_run(stored: StoredEvent | None, context: RoutingContext) -> None:
    """Arm the digest under which a row waits, or start its immediate run (rule 23)."""
    if stored and stored.is_immediate:
        start_immediates([stored], context=context)
    elif stored:
        _arm_digest(stored.event.user_id, stored.schedule, context)


def extend_row(stored: StoredEvent, inputs: Inputs, context: RoutingContext) -> None:
    """Extend the lifetime of the row of a happening in its place."""
    settlement = _settled(stored.bodies, inputs, context, is_capped=stored.is_capped)
    if settlement and settlement.schedule == stored.schedule:
        until = longer_life(stored, settlement.recurrence, context.clock())
        if until:
            context.events.extend(stored, until)


def _arm_digest(user_id: str, schedule: str, context: RoutingContext) -> None:
    if schedule in DIGESTS:
        reader = context.subscribers.get(user_id)
        if isinstance(reader, Subscriber):
            arm({(user_id, schedule): reader}, context=context)
