"""Start immediate runs. Each run sends the events of one entity while it collects."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from gazette.domain.delivery.run import Reason, Run, settled_until
from gazette.domain.delivery.signals import Stop
from gazette.domain.identity import latest_run
from gazette.domain.model import RunKey, StoredEvent
from gazette.domain.ports.queues import LONGEST_DELAY, QueuedRun
from gazette.domain.scheduling.chain import PAGE, head_for
from gazette.domain.scheduling.growing import LOOK_AHEAD, wait_after
from gazette.domain.stored import is_known
from gazette.steps.context import RoutingContext
from gazette.steps.runs import changed


def start_immediates(
    all_stored: Iterable[StoredEvent], *, context: RoutingContext
) -> Sequence[Run]:
    """Ensure that immediate runs send these events, and return the queued runs. Safe to repeat.

    An existing run is queued too, because its message must not be lost if a crash occurs after the
    row is stored (rule 16). The events of a thread share the thread's reads, and all runs are
    queued together.
    """
    threads: dict[tuple[str, str], list[StoredEvent]] = {}
    for stored in all_stored:
        threads.setdefault((stored.event.user_id, stored.schedule), []).append(stored)
    runs: dict[RunKey, Run] = {}
    for (user_id, schedule), events in threads.items():
        chain = list(context.runs.chain(latest_run(user_id, schedule)))
        for stored in sorted(events, key=lambda each: each.stored_at):
            run = _run_for(stored, chain, context=context)
            if run and run not in chain:
                others = [each for each in chain if each.key != run.key]
                chain = sorted([run, *others], key=lambda each: each.key.sequence, reverse=True)
            if run and not run.status.is_final:
                runs[run.key] = run
    _queue(runs.values(), context)
    return list(runs.values())


def _run_for(stored: StoredEvent, chain: Sequence[Run], *, context: RoutingContext) -> Run | None:
    """Return the run that sends the event. Start the run if necessary.

    Returns None if the event was sent or given up. The run whose sequence is the event's second may
    have ended before the event was stored, or was due too early to include it. Then another run is
    started, unless the event has already had a run.
    """
    user_id, schedule = stored.event.user_id, stored.schedule
    if stored.stored_at <= settled_until(chain):
        return None
    run = collecting(chain, stored.stored_at) or _collect_again(chain, stored.stored_at, context)
    if run is None:
        run = _of_its_second(stored, chain, context)
        if run is None:
            run = start_next_collecting(user_id, schedule, chain, context=context)
        elif run.due_at < stored.stored_at or run.reason in _NOT_ITS_END:
            if any(_was_for(each, stored) for each in chain):
                return None
            run = start_next_collecting(user_id, schedule, [run, *chain], context=context)
    return run


def _of_its_second(
    stored: StoredEvent, chain: Sequence[Run], context: RoutingContext
) -> Run | None:
    """Return the immediate run that starts in the event's second. Create it if it would be the
    newest.

    Returns None if only newer runs exist. A run is never created before a newer run, because a
    worker that has read the chain may be about to store a head (rule 3).
    """
    new = _new(stored.event.user_id, stored.schedule, stored.stored_at, chain, context)
    if not chain or chain[0].key.sequence < new.key.sequence:
        return context.runs.create(replace(new, head=head_for(chain, context.clock())))
    return next((run for run in chain if run.key == new.key), None)


_NOT_ITS_END = {Reason.EMPTY, Reason.SUPERSEDED}
"""The reasons that show that a run ended before the event was stored."""


def _was_for(run: Run, stored: StoredEvent) -> bool:
    """Return True if `run` should have sent the event, but failed or was skipped."""
    return run.due_at >= stored.stored_at and run.reason not in _NOT_ITS_END


def start_next_collecting(
    user_id: str, schedule: str, chain: Sequence[Run], *, context: RoutingContext
) -> Run:
    """Start a run after the newest run of `chain`. If too many runs are waiting, reuse the newest
    run.

    The run collects from now on, and includes events that are already waiting. Returns the stored
    run, which may have been started by another worker.
    """
    now = context.clock()
    if again := _collect_again(chain, now, context):
        return again
    run = _new(user_id, schedule, now, chain, context)
    behind = max([run.key.sequence, *(each.key.sequence + 1 for each in chain)])
    key = replace(run.key, sequence=behind)
    return context.runs.create(replace(run, key=key, head=head_for(chain, now)))


def _collect_again(chain: Sequence[Run], at: datetime, context: RoutingContext) -> Run | None:
    """Let the newest run of a thread include an event stored at `at`, if too many runs are waiting.

    While a stream is stopped, every collapse window would otherwise start another run, and every
    event would read all of them. Older runs keep their places in the queue, so no run is delayed.
    Returns None if few runs are waiting, if a claim has fixed the newest run's window, or if the
    newest run has changed.

    The epoch of the run is raised. So a worker that has already read the window fails at its claim,
    reads again and waits until the run has collected everything (rule 16).
    """
    if not _is_full(chain):
        return None
    newest = chain[0]
    now = max(at, context.clock())
    new = _new(newest.key.user_id, newest.key.schedule, now, chain, context, behind=chain[1:])
    until = max(newest.due_at, new.due_at)
    check_at = _check_at(until, context)
    again = replace(
        changed(newest, Stop()),
        due_at=until,
        check_at=check_at if check_at < until else max(newest.check_at, check_at),
        head=head_for(chain[1:], context.clock()) or newest.head,
    )
    return again if context.runs.swap(newest, again) == again else None


def _is_full(chain: Sequence[Run]) -> bool:
    """Return True if an event that no run collects joins the newest run of the chain."""
    waiting = [run for run in chain if run.is_unclaimed and not run.attempt]
    return len(waiting) >= _WAITING and waiting[0] == chain[0]


_WAITING = 8
"""The maximum number of a thread's runs that wait for their first claim. Simultaneous starts may
exceed the limit.

The limit is less than move._FEW, so that events can leave the thread.
"""


def queue_run(run: Run, *, context: RoutingContext) -> None:
    """Queue a run, unless the sweep queues it.

    The message becomes visible when all events of the run can be read.
    """
    _queue([run], context)


def _queue(runs: Iterable[Run], context: RoutingContext) -> None:
    """Queue runs, except those that the sweep queues shortly before they are due (rule 13)."""
    messages = [
        QueuedRun(run.key, delay=min(_delay_until(run.due_at, context), LONGEST_DELAY))
        for run in runs
        if not run.is_queued_by_sweep
    ]
    if messages:
        context.generate_queue.send(messages)


def _delay_until(due_at: datetime, context: RoutingContext) -> timedelta:
    """Return the time until all events of a run can be read."""
    return max(due_at + context.limits.hold - context.clock(), timedelta(0))


def _check_at(due_at: datetime, context: RoutingContext) -> datetime:
    """Return the time of the sweep's first check of a run.

    A run that collects for longer than a message can be delayed has no message. The sweep finds
    such a run before it is due, and queues it.
    """
    if _delay_until(due_at, context) > LONGEST_DELAY:
        return due_at + context.limits.hold - LOOK_AHEAD
    return due_at + context.limits.hold + context.limits.check_after


def _new(
    user_id: str,
    schedule: str,
    at: datetime,
    chain: Sequence[Run],
    context: RoutingContext,
    *,
    behind: Sequence[Run] | None = None,
) -> Run:
    """Return a run that starts to collect at `at`. It waits after the runs of `behind`, which are
    those of the chain by default.
    """
    collapse = context.settings_for(user_id).collapse or context.limits.collapse
    if _is_stopped(chain):
        collapse = max(collapse, LONGEST_DELAY - context.limits.hold - _MARGIN)
    wait = wait_after(schedule, chain if behind is None else behind, at)
    due_at = max(at + collapse, wait.until)
    return Run(
        key=RunKey(user_id, schedule, int(at.timestamp())),
        due_at=due_at,
        check_at=_check_at(due_at, context),
        created_at=context.clock(),
        step=wait.step,
    )


_MARGIN = timedelta(minutes=1)
"""A margin for slow clocks, because no message can be hidden longer than LONGEST_DELAY."""


def _is_stopped(chain: Sequence[Run]) -> bool:
    """Return True if sending appears to be stopped, because all recently ended runs were
    superseded.

    Then the next run collects for a quarter of an hour, because no run can be sent now. Until the
    next run ends, any earlier run can still be sent.
    """
    last = chain[:PAGE]
    is_long = len(last) == PAGE or any(run.head for run in last)
    has_ended = [run for run in last if run.status.is_final]
    superseded = all(run.reason is Reason.SUPERSEDED for run in has_ended)
    return is_long and bool(has_ended) and superseded


def needs_run(chain: Sequence[Run], at: datetime) -> bool:
    """Return True if an event that is stored at `at` starts another run."""
    return collecting(chain, at) is None and not _is_full(chain)


def collecting(chain: Sequence[Run], at: datetime) -> Run | None:
    """Return the oldest run that includes an event stored at `at`, or None.

    Ended runs and runs with an unknown status do not include new events.
    """
    taking = [
        run
        for run in chain
        if at <= run.due_at and not run.status.is_final and is_known(run.status)
    ]
    return taking[-1] if taking else None
