"""Prepare a run for its claim: decide which events it sends, and whether it is sent.

Makes no writes. `deliver` stores the decisions; a forecast does not store them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from gazette.domain.delivery.run import (
    EACH_READ,
    MOST_NEWEST,
    OUTDATED_FOR,
    STILL_WRITTEN,
    Reason,
    Run,
    receives,
    why_not_sent,
)
from gazette.domain.delivery.signals import GiveUp, Signal, Skip
from gazette.domain.errors import Overtaken
from gazette.domain.model import DAILY, Window
from gazette.domain.ports.stores import EVENTS_AT_ONCE
from gazette.domain.scheduling.calendar import next_occurrence
from gazette.domain.scheduling.holding import quiet_until, waiting_in_quiet_hours
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.domain.window.seen import NOTHING_SEEN, Seen, concerning
from gazette.domain.window.worth import reaches
from gazette.steps.delivery.context import PrepareContext
from gazette.steps.delivery.predecessors import Settled, left_to_a_later_run, window_of
from gazette.steps.delivery.types import Delivery, Ending, WaitingFor
from gazette.steps.delivery.windows import WindowEvents, read_window, why_removed
from gazette.steps.runs import Change, Changes

_WHILE_HELD = (timedelta(seconds=600), timedelta(seconds=900))
"""The minimum and maximum delay of an immediate run whose events are on hold. SQS allows at most
900 seconds.
"""

MOST_DEFERRED = 2_000 * EVENTS_AT_ONCE
"""The maximum number of events that one message defers.

Deferring cannot stop halfway, because the next message's window would contain the deferred events
again.
"""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A run with the content to send. The claim fails if the run has changed since it was read."""

    run: Run
    carried: Sequence[Change]
    """Changes that mark runs as carried by this run, which are stored with its claim."""

    window: Window
    subscriber: Subscriber
    due: WindowEvents
    without: tuple[str, ...] = ()
    """The content sources whose items are missing and that the email does not wait for."""

    outdated: Window | None = None
    """The part of the window whose events were stored before the reader's last choice or follow.

    These events may belong to other schedules, so they are routed again before the claim (rule 15).
    None if there are no such events.
    """


def prepare(settled: Settled, *, context: PrepareContext) -> Prepared | Ending:
    """Read the reader and the events of the run's window, and decide which events to send.

    The run was read before the reader's status, so that a stop in between makes the claim fail
    (rule 11).
    """
    run, changes = settled.run, Changes()
    without = _without(run, context)
    if isinstance(without, Ending):
        return without
    window = window_of(run, settled.since, until=context.clock() - context.limits.settle_lag)
    due = _events_due(settled, window, context)
    if len(due.newest) > MOST_NEWEST:
        read = _read_when_written(settled, window, due, context)
        if isinstance(read, datetime):
            return Ending(Delivery(run, read, WaitingFor.COLLECTED))
        window, due = read
    if ending := _nothing_to_send(settled, due, without, changes, context):
        return ending
    subscriber = context.subscribers.get(run.key.user_id)
    if not receives(subscriber, run.key):
        return _ended(run, Skip(why_not_sent(subscriber)), changes)
    if not context.allowed.allow(subscriber.email):
        return _ended(run, Skip(Reason.NOT_ALLOWED), changes)
    if due.partly_over:
        return _divided(run, due, context)
    hours = subscriber.quiet_hours_in_force(context.quiet_hours)
    if hours and (until := quiet_until(run, due.categories, subscriber, hours, context.clock())):
        return _waiting_in_quiet_hours(settled, until, due, changes, context)
    if seen := _seen(run, due, subscriber, context):
        due = _without_seen(settled, window, due, seen, context)
        if ending := _nothing_to_send(settled, due, without, changes, context):
            return ending
        if due.partly_over:
            return _divided(run, due, context)
    if ending := _only_held(run, due, changes, context):
        return ending
    if _waits_for_more(settled, window, due, subscriber, context):
        return _ended(run, Skip(Reason.WAITS_FOR_MORE), changes, due)
    outdated = _outdated(window, due, subscriber.routes_since)
    return Prepared(run, settled.carried, window, subscriber, due, without, outdated)


def _waiting_in_quiet_hours(
    settled: Settled,
    until: datetime,
    due: WindowEvents,
    changes: Changes,
    context: PrepareContext,
) -> Ending:
    """Return the ending of a run that waits for the end of quiet hours (rule 29).

    The window of a run that was claimed before is fixed, so it cannot collect the events of the
    night. A later run supersedes such a run, and waits when it is delivered.
    """
    run = settled.run
    if run.attempt:
        return left_to_a_later_run(run, settled.newest, changes, context.clock())
    after = waiting_in_quiet_hours(run, until, hold=context.limits.hold)
    waiting = changes.replace(run, after)
    ending = Ending(
        Delivery(waiting, until, WaitingFor.QUIET_HOURS, queued_by_sweep=True), changes.decided
    )
    return replace(ending, over=due.over, may_have_been_sent=due.may_have_been_sent)


def _divided(run: Run, due: WindowEvents, context: PrepareContext) -> Ending:
    """Return the ending of a run that first removes bodies from the rows of happenings (rule 30).

    The reader gets email. Otherwise, the other bodies of these rows would be removed as unwanted.
    """
    waiting = Delivery(run, context.clock(), WaitingFor.REMOVAL)
    return Ending(waiting, partly_over=due.partly_over)


def _nothing_to_send(
    settled: Settled,
    due: WindowEvents,
    without: tuple[str, ...],
    changes: Changes,
    context: PrepareContext,
) -> Ending | None:
    """Return the ending of a run without events to send now, or None if the run has such events."""
    run = settled.run
    if due.more_are_over:
        waiting = Delivery(run, context.clock(), WaitingFor.REMOVAL)
        return Ending(waiting, over=due.over, may_have_been_sent=due.may_have_been_sent)
    if due.sent or due.to_defer or due.partly_over:
        return None
    for each, _ in settled.carried:
        changes.apply(each, GiveUp())
    why = why_removed(run, due.over, context.clock()) or _why_empty(run, without)
    return _ended(run, Skip(why), changes, due)


def _seen(run: Run, due: WindowEvents, subscriber: Subscriber, context: PrepareContext) -> Seen:
    """Return the marks of the things that the reader has seen, as far as events are left out.

    The marks are read after the events. An event that is read later is therefore compared with all
    marks that were acknowledged before the run was read (rule 26). Only readers whose service
    reports what they have seen cost a read.
    """
    if run.key.is_critical or not subscriber.may_have_seen(context.clock()):
        return {}
    return concerning(due.sent, context.seen.of(subscriber.user_id, due.sent.things.keys()))


def _without_seen(
    settled: Settled, window: Window, due: WindowEvents, seen: Seen, context: PrepareContext
) -> WindowEvents:
    """Read the window again, and leave out the events that the reader has seen."""
    events = _events_due(settled, window, context, seen)
    if due.newest == EACH_READ:
        return replace(events, newest=EACH_READ)
    if len(events.newest) > MOST_NEWEST:
        raise Overtaken("Many events were stored since the window was read.")
    return events


def _outdated(window: Window, due: WindowEvents, routes_since: datetime | None) -> Window | None:
    """Return the part of the window whose events predate the last change of choices or follow it
    closely.

    Returns None if no event in that part can belong to a different schedule.
    """
    if routes_since is None or due.movable_from is None:
        return None
    until = min(window.until, routes_since + OUTDATED_FOR)
    return Window(window.since, until) if due.movable_from <= until else None


def _without(run: Run, context: PrepareContext) -> Ending | tuple[str, ...]:
    """Return the sources that the run is sent without, or an Ending if the run waits for items.

    A run whose window was fixed by a claim does not wait.
    """
    if context.content is None or not run.sources or run.window is not None:
        return run.without
    return context.content.check(run, context.clock(), context.limits)


def _read_when_written(
    settled: Settled, window: Window, due: WindowEvents, context: PrepareContext
) -> tuple[Window, WindowEvents] | datetime:
    """Return a window to which no more events can be written, and the events of the window.

    If all events of the run are older than two minutes, the window ends two minutes ago, so it does
    not need to list the names of its last events. If it is too early to read a window with a fixed
    end, the result is the time at which the window can be read.
    """
    run, lag = settled.run, context.limits.settle_lag
    written_at = window.until + STILL_WRITTEN + lag
    if run.window is not None:
        is_written = context.clock() >= written_at
        return (window, replace(due, newest=EACH_READ)) if is_written else written_at
    collects_until = max(each.due_at for each in (run, *(before for before, _ in settled.changes)))
    carried = (each.window.until for each, _ in settled.carried if each.window)
    earlier = Window(window.since, window.until - STILL_WRITTEN)
    if earlier.until >= max(collects_until, window.since, *carried):
        events = _events_due(settled, earlier, context)
        if events.sent:
            return earlier, replace(events, newest=EACH_READ)
    return max(written_at, collects_until + STILL_WRITTEN + lag)


def _events_due(
    settled: Settled, window: Window, context: PrepareContext, seen: Seen = NOTHING_SEEN
) -> WindowEvents:
    """Read a window of the run, taking into account which attempts may have sent its events."""
    attempts = (settled.run, *(carried for carried, _ in settled.carried))
    return read_window(
        settled.run.key,
        window,
        events=context.events,
        unknown=[each for each in attempts if each.may_have_been_sent],
        on_hold=context.held_categories(),
        now=context.clock(),
        seen=seen,
        withdrawals=context.decisions().withdrawals,
    )


def _why_empty(run: Run, without: tuple[str, ...]) -> Reason:
    """Return the reason why a run has no events to send, if none were removed."""
    if without:
        return Reason.NO_CONTENT
    return Reason.NOTHING_NEW if run.sources else Reason.EMPTY


def _only_held(
    run: Run, due: WindowEvents, changes: Changes, context: PrepareContext
) -> Ending | None:
    """Return the ending of a run whose events are on hold, or None if the run has other events to
    send.

    An immediate run waits as a whole, because no later run would include the held events. A digest
    with only held events is skipped without closing a window, so the next digest includes all of
    them. A digest with more held events than can be deferred is also skipped, unless some of its
    events may have been sent.
    """
    if not due.to_defer:
        return None
    if run.key.is_immediate:
        again_at = context.clock() + _pause_on_hold(context.random())
        waiting = Delivery(run, again_at, WaitingFor.SENDING_RESUMED)
        return Ending(waiting, over=due.over, may_have_been_sent=due.may_have_been_sent)
    are_too_many = len(due.to_defer) > MOST_DEFERRED and not due.may_have_been_sent
    if due.sent and not are_too_many:
        return None
    return _ended(run, Skip(Reason.CATEGORY_HELD), changes, due)


def _waits_for_more(
    settled: Settled,
    window: Window,
    due: WindowEvents,
    subscriber: Subscriber,
    context: PrepareContext,
) -> bool:
    """Return True if a digest is skipped because its events score too low together (rule 25).

    The digest closes no window, so the next digest includes all of its events. Only a daily digest
    is skipped, and only if none of its events was claimed before. The digest is sent if its oldest
    event has waited long enough, or if an event would be over before the next digest is sent. The
    age counts from the time of the event, because a deferral renews the storage time.
    """
    worth, run = context.worth, settled.run
    if worth is None or run.key.schedule != DAILY or settled.was_claimed:
        return False
    if due.oldest_at is None or window.until - due.oldest_at >= worth.longest_wait:
        return False
    after = max(run.due_at, context.clock())
    next_due_at = next_occurrence(subscriber.recurrence(Frequency.DAILY), after=after)
    if due.over_at and due.over_at <= next_due_at + context.limits.max_lateness:
        return False
    return not reaches(due.sent, worth, until=window.until)


def _pause_on_hold(random: float) -> timedelta:
    """Return the delay after which an immediate run re-checks the category holds."""
    soonest, latest = _WHILE_HELD
    return soonest + (latest - soonest) * random


def _ended(run: Run, signal: Signal, changes: Changes, due: WindowEvents | None = None) -> Ending:
    ended = Ending(Delivery(changes.apply(run, signal)), changes.decided)
    if due is None:
        return ended
    return replace(ended, over=due.over, may_have_been_sent=due.may_have_been_sent)
