"""Deliver one run. Only this module sends email to readers."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import groupby

from gazette.domain.delivery.pace import Permit
from gazette.domain.delivery.retries import pause_after
from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.delivery.signals import (
    Accepted,
    Cancel,
    Claim,
    NotAttempted,
    RefusedForNow,
    SendOutcome,
    Signal,
    Skip,
    Stop,
    Uncertain,
)
from gazette.domain.errors import NotYet, Overtaken, Unavailable, UnreadableRow
from gazette.domain.happening.bodies import LeftOut
from gazette.domain.identity import address_hash, run_id
from gazette.domain.model import Mail, RunKey, StoredEvent
from gazette.domain.ports.clock import TimeLeft
from gazette.domain.ports.ledgers import Batches
from gazette.domain.ports.stores import EVENTS_AT_ONCE
from gazette.domain.scheduling.holding import quiet_until
from gazette.domain.scheduling.limits import COMMIT_MARGIN
from gazette.domain.subscribers.subscriber import Reader, Subscriber
from gazette.steps.conflicts import ATTEMPTS, kept_changing
from gazette.steps.delivery.context import DeliveryContext
from gazette.steps.delivery.edition import Rendered, address, edit, variant_for
from gazette.steps.delivery.pacing import record_outcome, wait_for_permit
from gazette.steps.delivery.predecessors import chain_of, settle
from gazette.steps.delivery.prepare import Prepared, prepare
from gazette.steps.delivery.types import Delivery, Ending, EventCounts, WaitingFor
from gazette.steps.delivery.windows import why_removed
from gazette.steps.runs import Change, apply, changed, make_claim, store

_SOON = timedelta(minutes=1)

_A_ROUND = timedelta(seconds=20)
"""An upper bound for the time to read a long window, render it and exclude events."""


@dataclass(slots=True)
class _Tries:
    """The state that all tries of one message share: a permit, and counts of events that were not
    sent.
    """

    permit: Permit | None = None
    unsent: EventCounts = field(default_factory=EventCounts)

    def counted(self, delivery: Delivery) -> Delivery:
        permit_unused = self.permit is not None and delivery.outcome is None
        return replace(delivery, unsent=self.unsent, permit_unused=permit_unused)


def deliver(key: RunKey, time_left: TimeLeft, *, context: DeliveryContext) -> Delivery | None:
    """Deliver a run, and return the result. Returns None if the run does not exist.

    If the run must wait, the result contains the time of the next try.

    Events are read, grouped, ranked and rendered first. Then the run is claimed, sent and
    committed, so that the claim lasts only as long as the provider call. If the run changes before
    the claim, or the reader changes before the call, everything is read again. `time_left` returns
    the remaining time of this invocation. Raises NotYet if the message must be retried, because too
    little time is left or the run kept changing.
    """
    tries = _Tries()
    for _ in ATTEMPTS:
        try:
            delivery = _attempt(key, tries, context, time_left)
        except Overtaken:
            continue
        return tries.counted(delivery) if delivery else None
    raise kept_changing(f"Run {run_id(key)}")


def _attempt(
    key: RunKey, tries: _Tries, context: DeliveryContext, time_left: TimeLeft
) -> Delivery | None:
    """Render the email, claim the run, send the email, and commit the outcome.

    Raises Overtaken if a row has changed since the read.
    """
    email = _render(key, tries, context, time_left)
    if email is None:
        return None
    if isinstance(email, Ending):
        return _end(email, tries, context)
    prepared, rendered = email
    claimed = _claim(prepared, rendered, tries, context, time_left)
    if isinstance(claimed, Ending):
        return _end(claimed, tries, context)
    run, permit = claimed
    mail = address(run, rendered.edition, prepared.subscriber, rendered.links, context.headers)
    return _send(run, mail, prepared.subscriber, permit, context, time_left)


def _claim(
    prepared: Prepared,
    rendered: Rendered,
    tries: _Tries,
    context: DeliveryContext,
    time_left: TimeLeft,
) -> tuple[Run, Permit] | Ending:
    """Take a permit, and claim the run. Returns an Ending if the run is not sent now.

    Raises Overtaken if a row has changed since the read.
    """
    key, due = prepared.run.key, prepared.due
    run, removed = _remove(prepared.run, due.over, due.may_have_been_sent, tries, context)
    if removed < len(due.over):
        raise Overtaken("Events were removed since the window was read.")
    spare = time_left() - context.limits.send_timeout - COMMIT_MARGIN
    if spare < timedelta(0):
        raise NotYet(f"Too little time is left of this invocation to send run {run_id(key)}.")
    permit = tries.permit or wait_for_permit(run, pacing=context.pacing, spare=spare)
    if isinstance(permit, Ending):
        return permit
    tries.permit = permit
    if is_cancelled(run, context.batches):
        return Ending(Delivery(apply(run, Cancel(Reason.BATCH_CANCELLED), runs=context.runs)))
    if due.has_lapsed(context.clock()):
        raise Overtaken("An event has lapsed since the window was read.")
    if due.to_defer:
        run = _defer(run, due.to_defer, tries, context)
    at = context.clock()
    reader = prepared.subscriber
    hours = reader.quiet_hours_in_force(context.quiet_hours)
    if hours and quiet_until(run, due.categories, reader, hours, at):
        raise Overtaken("The reader's quiet hours began since the window was read.")
    if _is_outdated(prepared, rendered, context):
        raise Overtaken(
            "An operator changed version, experiment, holds or withdrawals since the email was "
            "rendered."
        )
    deadline = at + time_left() + context.limits.clock_skew
    claim = Claim(
        prepared.window,
        deadline,
        context.draw_nonce(),
        variant=rendered.variant,
        locale=prepared.subscriber.locale,
        categories=rendered.edition.categories,
        newest=due.newest,
        events=len(due.sent),
        left_out=due.left_out,
        without=prepared.without,
        templates=rendered.templates,
        templates_gone=rendered.chosen.missing_version,
        at=at,
    )
    claimed = make_claim(run, claim, prepared.carried, runs=context.runs)
    if claimed is None:
        raise Overtaken(f"Run {run_id(key)} has changed since it was read.")
    return claimed, permit


def _render(
    key: RunKey, tries: _Tries, context: DeliveryContext, time_left: TimeLeft
) -> tuple[Prepared, Rendered] | Ending | None:
    """Prepare the run and render its email.

    If events were excluded, the window is read again without them. If too little time is left in
    this invocation, the next message continues.
    """
    while isinstance(prepared := _prepare(key, context, time_left), Prepared):
        rendered = edit(prepared, context=context.editing)
        if isinstance(rendered, Rendered):
            return prepared, rendered
        run, excluded = rendered
        tries.unsent.excluded += excluded
        if time_left() < _A_ROUND + context.limits.send_timeout + COMMIT_MARGIN:
            return Ending(Delivery(run, context.clock(), WaitingFor.REMOVAL))
    return prepared


def _is_outdated(prepared: Prepared, rendered: Rendered, context: DeliveryContext) -> bool:
    """Return True if the template version, experiment, category holds or withdrawals have changed
    since rendering.

    Waiting for a permit takes time, and a process may be suspended at any point and continue much
    later. Operators' decisions are cached for a minute, so this check rarely needs a call.
    """
    run, due = prepared.run, prepared.due
    if rendered.variant != variant_for(run.key.user_id, context.editing):
        return True
    if run.pinned_to is None:
        chosen = context.editing.templates(run)
        if chosen.templates.number != rendered.chosen.templates.number:
            return True
    if context.decisions().withdrawals != due.withdrawals:
        return True
    return not due.categories.isdisjoint(context.held_categories())


def _prepare(
    key: RunKey, context: DeliveryContext, time_left: TimeLeft
) -> Prepared | Ending | None:
    """Read the run and earlier runs, store the decisions about these runs, and read the events.

    Raises Overtaken if some events belonged to other schedules and were moved (rule 15).
    """
    chain = chain_of(key, runs=context.runs)
    if chain is None:
        return None
    settled = settle(chain, now=context.clock(), limits=context.limits)
    if isinstance(settled, Ending):
        return settled
    store(settled.changes, runs=context.runs)
    prepared = prepare(settled, context=context)
    outdated = prepared.outdated if isinstance(prepared, Prepared) else None
    if outdated and context.route_again(key, outdated, time_left):
        raise Overtaken("Events left the window because the choices of their reader changed.")
    return prepared


def _end(ending: Ending, tries: _Tries, context: DeliveryContext) -> Delivery:
    """Store the end of a run. Raises Overtaken if the run or an event has changed since the read.

    Events are removed before the end is stored. If a service amends such an event in between, no
    other run would send the event.
    """
    if ending.partly_over:
        _leave_out_bodies(ending.partly_over, tries, context)
        return ending.delivery
    run = ending.delivery.run
    if ending.fetch and context.content:
        context.content.ask(ending.fetch)
    if ending.starts:
        run = context.runs.create(run)
    before = next((before for before, after in ending.changes if after is run), run)
    unclaimed, removed = _remove(before, ending.over, ending.may_have_been_sent, tries, context)
    is_continued = ending.delivery.waiting_for is WaitingFor.REMOVAL and removed > 0
    if removed < len(ending.over) and not is_continued:
        raise Overtaken("Events were removed or changed since the window was read.")
    store([_since(each, before, unclaimed) for each in ending.changes], runs=context.runs)
    run = unclaimed if run is before else _with_raised_epoch(run, before, unclaimed)
    return replace(ending.delivery, run=run)


def _since(change: Change, before: Run, unclaimed: Run) -> Change:
    """Return the change of a run whose epoch was raised when its events were removed.

    `unclaimed` is the run with the new epoch.
    """
    if change[0] is not before:
        return change
    return unclaimed, _with_raised_epoch(change[1], before, unclaimed)


def _with_raised_epoch(run: Run, before: Run, unclaimed: Run) -> Run:
    return replace(run, epoch=run.epoch + unclaimed.epoch - before.epoch)


def _remove(
    run: Run,
    over: Sequence[StoredEvent],
    may_have_been_sent: Collection[str],
    tries: _Tries,
    context: DeliveryContext,
) -> tuple[Run, int]:
    """Remove expired, lapsed, withdrawn and seen events from the schedule of `run`, and count them
    (rules 21, 26 and 27).

    Events that may have been sent are given up. Otherwise, an amendment could extend such an
    event's lifetime, and the number of emails that contained the event would be unknown (rule 9).
    Returns the new run, and the number of events that this call removed. Other workers may have
    removed the remaining events.
    """
    seen = [stored for stored in over if stored.seen_at]
    run, removed = _leave_out(run, seen, may_have_been_sent, tries, context)
    deferred = context.editing.deferred_events
    withdrawn = [stored for stored in over if stored.withdrawn_at]
    withdraw = partial(deferred.withdraw, for_good=may_have_been_sent)
    run, number = _take_out(run, withdrawn, withdraw, tries, context)
    over = [stored for stored in over if not (stored.seen_at or stored.withdrawn_at)]
    expire = partial(deferred.expire, for_good=may_have_been_sent)
    run, rest = _take_out(run, over, expire, tries, context)
    return run, removed + number + rest


def _take_out(
    run: Run,
    over: Sequence[StoredEvent],
    remove: Callable[[Sequence[StoredEvent], Run], Run | None],
    tries: _Tries,
    context: DeliveryContext,
) -> tuple[Run, int]:
    """Remove events with `remove`, in transactions, and count them.

    Returns the new run, and the number of events that this call removed.
    """
    removed = 0
    for first in range(0, len(over), EVENTS_AT_ONCE):
        together, before = over[first : first + EVENTS_AT_ONCE], removed
        alone = ([each] for each in together)
        for some in (together, *(alone if len(together) > 1 else ())):
            changing = replace(run, removed=why_removed(run, some, context.clock()))
            after = remove(some, changing)
            if after is None:
                continue
            run, removed = after, removed + len(some)
            _count(some, tries.unsent, context.clock())
            if some is together:
                break
        if removed == before:
            break  # most likely the run has changed
    return run, removed


def _count(removed: Sequence[StoredEvent], unsent: EventCounts, now: datetime) -> None:
    """Count removed events as seen, withdrawn, lapsed or expired."""
    for stored in removed:
        if stored.seen_at:
            unsent.seen += 1
        elif stored.withdrawn_at:
            unsent.withdrawn += 1
        elif stored.event.has_lapsed(now):
            unsent.lapsed += 1
        else:
            unsent.expired += 1


def _leave_out(
    run: Run,
    seen: Sequence[StoredEvent],
    may_have_been_sent: Collection[str],
    tries: _Tries,
    context: DeliveryContext,
) -> tuple[Run, int]:
    """Leave out the events that the reader has seen (rule 26).

    The run's epoch is raised first, so that a worker that read the events before the reader saw
    them does not claim the run. A worker that reads the run later also reads the marks. A
    transaction is not required, because the time of a mark only increases. Returns the new run, and
    the number of events that this call left out. Raises Overtaken if the run has changed.
    """
    if not seen:
        return run, 0
    stopped = changed(run, Stop())
    if stopped != run:
        stopped = replace(stopped, removed=why_removed(run, seen, context.clock()))
        store([(run, stopped)], runs=context.runs)
    leave_out = context.editing.deferred_events.leave_out
    number = sum(
        leave_out(stored, for_good=stored.event.id in may_have_been_sent) for stored in seen
    )
    tries.unsent.seen += number
    return stopped, number


def _leave_out_bodies(
    bodies: Sequence[StoredEvent], tries: _Tries, context: DeliveryContext
) -> None:
    """Remove bodies that no email may show from the rows of their happenings, and count them.

    Raises Overtaken if no row was changed.
    """
    has_changed = False
    for _, each in groupby(bodies, key=lambda body: body.event.id):
        of_row = list(each)
        left_out = [LeftOut(body.event, body.seen_at, body.withdrawn_at) for body in of_row]
        if context.editing.leave_out_bodies(left_out):
            has_changed = True
            _count(of_row, tries.unsent, context.clock())
    if not has_changed:
        raise Overtaken("The rows of happenings have changed since the window was read.")


def _defer(run: Run, event_ids: Sequence[str], tries: _Tries, context: DeliveryContext) -> Run:
    """Defer the events whose categories are on hold (rule 19).

    Raises Overtaken if the run or an event has changed.
    """
    after = context.editing.deferred_events.defer(event_ids, run)
    if after is None:
        raise Overtaken(f"Run {run_id(run.key)} has changed since it was read.")
    tries.unsent.deferred += len(event_ids)
    return after


def _send(
    run: Run,
    mail: Mail,
    prepared_for: Subscriber,
    permit: Permit,
    context: DeliveryContext,
    time_left: TimeLeft,
) -> Delivery:
    """Send the email of a claimed run, and commit the outcome.

    The reader and the suppression are read after the claim. A function that stops a reader's email
    or stores a choice therefore does not need to find the reader's runs (rule 11). If the provider
    must not be called, the claim is released. Raises Overtaken if the reader has changed since the
    email was prepared, and NotYet if time ran out.
    """
    limits = context.limits
    reader, is_suppressed = _last_look(run, prepared_for, context)
    if not _is_as_prepared(reader, prepared_for):
        apply(run, NotAttempted(run.attempt), runs=context.runs)
        raise Overtaken(
            f"The reader of run {run_id(run.key)} has changed since the email was prepared."
        )
    if is_suppressed:
        unsent = apply(run, NotAttempted(run.attempt), runs=context.runs)
        return Delivery(apply(unsent, Skip(Reason.SUPPRESSED), runs=context.runs))
    if (
        time_left() < limits.send_timeout + COMMIT_MARGIN
        or run.deadline is None
        or context.clock() + limits.send_timeout > run.deadline
    ):
        apply(run, NotAttempted(run.attempt), runs=context.runs)
        raise NotYet(f"The invocation ran out of time before run {run_id(run.key)} was sent.")
    outcome = context.mailers.of(run.key.schedule).send(mail, run.attempt)
    accepted_at = context.clock() if isinstance(outcome, Accepted) else None
    try:
        stored = apply(run, _dated(outcome, run, accepted_at, context), runs=context.runs)
    finally:
        record_outcome(outcome, run, permit, pacing=context.pacing)
    again_at, waiting_for = _again(stored, context.clock())
    return Delivery(stored, again_at, waiting_for, outcome, accepted_at=accepted_at)


def _last_look(run: Run, prepared_for: Subscriber, context: DeliveryContext) -> tuple[Reader, bool]:
    """Return the current reader, and True if the address is suppressed.

    Releases the claim if an error occurs.
    """
    key, address_of_email = run.key, address_hash(prepared_for.email)
    try:
        return context.last_look(key.user_id, address_of_email, critical=key.is_critical)
    except (Unavailable, UnreadableRow):
        apply(run, NotAttempted(run.attempt), runs=context.runs)
        raise


def _is_as_prepared(reader: Reader, prepared_for: Subscriber) -> bool:
    return isinstance(reader, Subscriber) and reader.is_sent_like(prepared_for)


def is_cancelled(run: Run, batches: Batches) -> bool:
    """Return True if the run's batch is cancelled, which also cancels the run (rule 11)."""
    return run.slot is not None and batches.get(run.slot).cancelled_at is not None


def _dated(
    outcome: SendOutcome, run: Run, accepted_at: datetime | None, context: DeliveryContext
) -> Signal:
    """Return the outcome of an attempt with its time, and the time of the next attempt or check."""
    match outcome:
        case Accepted():
            return replace(outcome, at=accepted_at)
        case RefusedForNow():
            pause = pause_after(run.refusals + 1, random=context.random())
            return replace(outcome, retry_at=context.clock() + pause)
        case Uncertain() if run.deadline:
            return replace(outcome, check_at=run.deadline + context.limits.evidence_grace)
        case _:
            return outcome


def _again(run: Run, now: datetime) -> tuple[datetime | None, WaitingFor | None]:
    """Return the time and reason of the run's next try, or None if the run is not retried."""
    if run.status is not Status.RETRYING:
        return None, None
    if run.retry_at:
        return run.retry_at, WaitingFor.PAUSE_OVER
    return now + _SOON, WaitingFor.SENDING_RESUMED
